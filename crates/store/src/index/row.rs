//! What the index answers with.

use alloy_primitives::{Address, B256};
use domain::Wei;

use super::ContractEvent;

/// How far the index is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexHead {
    /// The last block.
    pub number: u64,
    /// Its hash.
    pub hash: B256,
    /// Its timestamp, in seconds.
    pub timestamp: u64,
}

/// A block in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockRow {
    /// The height.
    pub number: u64,
    /// The on-chain hash.
    pub hash: B256,
    /// The hash of the block before.
    pub parent_hash: B256,
    /// Seconds since 1970.
    pub timestamp: u64,
    /// The header's coinbase: whoever built the block.
    pub proposer: Address,
    /// The round in which it was sealed.
    pub round: u32,
    /// How many transactions it has.
    pub transaction_count: u32,
    /// Gas its transactions used.
    pub gas_used: u64,
    /// Gas they might have used.
    pub gas_limit: u64,
    /// Bytes of its encoding.
    pub size: u64,
}

/// A transaction in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransactionRow {
    /// The block it is in.
    pub block_number: u64,
    /// Position in the block.
    pub index: u32,
    /// Its hash.
    pub hash: B256,
    /// Who sent it.
    pub from: Address,
    /// Whom it calls or pays; none when it creates a contract.
    pub to: Option<Address>,
    /// The contract it created.
    pub contract_address: Option<Address>,
    /// The coin it carries.
    pub value: Wei,
    /// False when it reverted.
    pub success: bool,
    /// Gas it used.
    pub gas_used: u64,
    /// What the sender paid for the gas.
    pub fee: Wei,
    /// The first four bytes of its input.
    pub selector: Option<[u8; 4]>,
    /// The sender's count of transactions before it.
    pub nonce: u64,
    /// The block's timestamp, in seconds.
    pub timestamp: u64,
}

/// An event of one of our contracts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRow {
    /// The block it is in.
    pub block_number: u64,
    /// Position among the block's logs.
    pub log_index: u32,
    /// Position of its transaction in the block.
    pub transaction_index: u32,
    /// Hash of its transaction.
    pub transaction_hash: B256,
    /// The block's timestamp, in seconds.
    pub timestamp: u64,
    /// What happened.
    pub event: ContractEvent,
}

/// Fees summed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FeeSums {
    /// How many payments.
    pub payments: u64,
    /// Coin paid.
    pub collected: Wei,
    /// Coin burned of it.
    pub burned: Wei,
    /// Coin held of it, withdrawn or not.
    pub held: Wei,
}

/// Fees of one source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceFees {
    /// The source's id, `contracts::fees::FeeSource::id`.
    pub source: B256,
    /// Its sums.
    pub sums: FeeSums,
}

/// All fees up to a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeeTotals {
    /// The last block that is counted; none in an empty index.
    pub as_of_block: Option<u64>,
    /// All sources together.
    pub total: FeeSums,
    /// Sources that were ever paid for, by id.
    pub sources: Vec<SourceFees>,
}

/// The fees of one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeeDay {
    /// When the day began, UTC, in seconds.
    pub start: u64,
    /// All sources together.
    pub total: FeeSums,
    /// Sources that were paid for on that day, by id.
    pub sources: Vec<SourceFees>,
}

/// A vote in a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoteRow {
    /// The block it is in.
    pub block_number: u64,
    /// The block's timestamp, in seconds.
    pub timestamp: u64,
    /// The block's proposer.
    pub voter: Address,
    /// Whom it is about.
    pub recipient: Address,
    /// True to add the recipient to the set, false to drop it.
    pub adds: bool,
}

/// What became of a turn to propose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TurnOutcome {
    /// The round went by without a block of the validator.
    Missed,
    /// The validator proposed.
    Kept,
    /// The header does not tell: a block of an earlier round was carried on.
    Unclear,
}

/// A validator's turn to propose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnRow {
    /// The block that was to be proposed.
    pub block_number: u64,
    /// The block's timestamp, in seconds.
    pub timestamp: u64,
    /// The round that was the validator's.
    pub round: u32,
    /// What became of it.
    pub outcome: TurnOutcome,
}

/// A validator's doings summed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ActivitySums {
    /// Blocks it built.
    pub proposed: u64,
    /// Turns it kept. More than `proposed` when it carried on another's block.
    pub kept: u64,
    /// Turns it missed.
    pub missed: u64,
    /// Turns of which the headers do not tell.
    pub unclear: u64,
    /// Blocks that carry its seal, as our node holds them. A missing seal is no proof of absence.
    pub sealed: u64,
    /// Blocks for which it was in the validator set.
    pub blocks: u64,
}

/// What the index knows of a validator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidatorActivity {
    /// The address it seals with.
    pub validator: Address,
    /// Since the chain began.
    pub total: ActivitySums,
    /// The first block for which it was in the set.
    pub first_block: u64,
    /// That block's timestamp, in seconds.
    pub first_timestamp: u64,
    /// The last block it built.
    pub last_proposed: Option<u64>,
    /// The last block that carries its seal.
    pub last_sealed: Option<u64>,
    /// Over each window that was asked for, in that order.
    pub windows: Vec<ActivitySums>,
}

/// Where a window begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowStart {
    /// The length asked for, in seconds.
    pub seconds: u64,
    /// The full hour from which is counted: at most an hour before the window.
    pub since: u64,
}

/// What the index knows of all validators.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityReport {
    /// The last block that is counted.
    pub as_of: Option<IndexHead>,
    /// The windows, in the order asked for.
    pub windows: Vec<WindowStart>,
    /// Everybody who was ever in a validator set, by address.
    pub validators: Vec<ValidatorActivity>,
}

/// A block in a strip that shows who took part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StripBlock {
    /// The height.
    pub number: u64,
    /// Seconds since 1970.
    pub timestamp: u64,
    /// Whoever built it.
    pub proposer: Address,
    /// The round in which it was sealed.
    pub round: u32,
    /// The set in force, ascending.
    pub validators: Vec<Address>,
    /// Whose seals it carries, ascending.
    pub sealers: Vec<Address>,
    /// Who missed a turn before it was sealed, by round.
    pub missed: Vec<Address>,
    /// Whose turn went by unclear, by round.
    pub unclear: Vec<Address>,
}
