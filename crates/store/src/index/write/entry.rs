//! A block as the index takes it.

use alloy_primitives::{Address, B256};
use domain::Wei;

use crate::index::{ContractEvent, TurnOutcome};

/// A block with everything the index keeps of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewBlock {
    /// The height.
    pub number: u64,
    /// The on-chain hash.
    pub hash: B256,
    /// The hash of the block before.
    pub parent_hash: B256,
    /// The header's timestamp, in seconds.
    pub timestamp: u64,
    /// The header's coinbase.
    pub proposer: Address,
    /// The round in which it was sealed.
    pub round: u32,
    /// Gas used.
    pub gas_used: u64,
    /// Gas limit.
    pub gas_limit: u64,
    /// Bytes of its encoding.
    pub size: u64,
    /// The validator set in force, ascending.
    pub validators: Vec<Address>,
    /// Members of the set whose seals the block carries.
    pub sealers: Vec<Address>,
    /// The turns up to this block, by round.
    pub turns: Vec<NewTurn>,
    /// The proposer's vote.
    pub vote: Option<NewVote>,
    /// The transactions in order.
    pub transactions: Vec<NewTransaction>,
    /// Events of our contracts in order.
    pub events: Vec<NewEvent>,
}

/// A turn to propose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewTurn {
    /// Whose turn it was.
    pub validator: Address,
    /// In which round.
    pub round: u32,
    /// What became of it.
    pub outcome: TurnOutcome,
}

/// A vote in a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewVote {
    /// Whom it is about.
    pub recipient: Address,
    /// True to add, false to drop.
    pub adds: bool,
}

/// A transaction with its receipt; its place in the list is its index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTransaction {
    /// Its hash.
    pub hash: B256,
    /// Who sent it.
    pub from: Address,
    /// Whom it calls or pays.
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
}

/// An event of one of our contracts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// Position among the block's logs.
    pub log_index: u32,
    /// Position of its transaction.
    pub transaction_index: u32,
    /// What happened.
    pub event: ContractEvent,
}

impl NewBlock {
    /// Every address the block names, in an order that depends on nothing but the block.
    pub(super) fn addresses(&self) -> impl Iterator<Item = Address> {
        let transactions = self.transactions.iter();
        let parties = transactions.flat_map(|tx| [Some(tx.from), tx.to, tx.contract_address]).flatten();
        let voted = self.vote.map(|vote| vote.recipient);
        let subjects = self.events.iter().filter_map(|event| event.event.subject());
        let turns = self.turns.iter().map(|turn| turn.validator);
        std::iter::once(self.proposer)
            .chain(self.validators.iter().copied())
            .chain(turns)
            .chain(voted)
            .chain(parties)
            .chain(subjects)
    }
}
