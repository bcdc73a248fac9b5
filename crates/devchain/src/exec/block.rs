//! Running the transactions of a block, given or still to be chosen.

use std::{borrow::Borrow, sync::Arc, time::Instant};

use alloy_consensus::{Header, Transaction as _};
use alloy_primitives::{Address, B256, Bloom, map::AddressSet};
use revm::ExecuteCommitEvm;

use super::{
    BlockHashes, ChainSpec, ExecError, RejectReason,
    env::{self, OverlayEvm},
    error::RunError,
    overlay::Overlay,
    receipt,
};
use crate::{
    block::{Receipt, Transaction},
    state::{StateDiff, StateView},
};

/// No transaction costs less, so a block with less gas left is full.
const CHEAPEST_TRANSACTION_GAS: u64 = 21_000;

/// What the transactions of a block did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockOutcome {
    /// One receipt per transaction.
    pub receipts: Vec<Receipt>,
    /// Gas used by all of them.
    pub gas_used: u64,
    /// Bloom over all their logs.
    pub bloom: Bloom,
    /// Changes to the parent's state, block reward included.
    pub diff: StateDiff,
}

/// The transactions chosen for a new block and what they did.
#[derive(Debug, Clone)]
pub struct BuiltBody {
    /// The transactions in order.
    pub transactions: Vec<Arc<Transaction>>,
    /// Their effect.
    pub outcome: BlockOutcome,
    /// Candidates that cannot be executed on this state. Candidates that merely did not fit are not among them.
    pub rejected: Vec<(B256, RejectReason)>,
}

/// Runs a block's transactions on its parent's state. The header's roots, bloom and gas used are not looked at.
pub fn execute_block<T: Borrow<Transaction>>(
    spec: &ChainSpec,
    state: &StateView,
    hashes: &dyn BlockHashes,
    header: &Header,
    transactions: &[T],
) -> Result<BlockOutcome, ExecError> {
    let mut run = BlockRun::new(spec, state, hashes, header, transactions.len());
    for (index, tx) in transactions.iter().map(Borrow::borrow).enumerate() {
        if let Err(reason) = run.apply(tx)? {
            return Err(ExecError::InvalidTransaction { index, hash: *tx.inner().tx_hash(), reason });
        }
    }
    run.finish(spec)
}

/// Chooses transactions from `candidates`, best first, until the block is full, the deadline has passed or none is left.
///
/// A sender whose transaction is left out, for whatever reason, has its later ones left out too.
pub fn build_body(
    spec: &ChainSpec,
    state: &StateView,
    hashes: &dyn BlockHashes,
    header_template: &Header,
    candidates: impl Iterator<Item = Arc<Transaction>>,
    deadline: Instant,
) -> Result<BuiltBody, ExecError> {
    let mut run = BlockRun::new(spec, state, hashes, header_template, candidates.size_hint().0);
    let mut transactions = Vec::with_capacity(candidates.size_hint().0);
    let mut rejected = Vec::new();
    let mut left_out = AddressSet::default();
    for tx in candidates {
        if run.gas_left() < CHEAPEST_TRANSACTION_GAS || Instant::now() >= deadline {
            break;
        }
        if left_out.contains(&tx.signer()) {
            continue;
        }
        match run.apply(&tx)? {
            Ok(()) => transactions.push(tx),
            Err(reason) => {
                left_out.insert(tx.signer());
                let fits_later = matches!(reason, RejectReason::GasLimitExceedsBlock { gas_limit, .. }
                    if gas_limit <= header_template.gas_limit);
                if !fits_later {
                    rejected.push((*tx.inner().tx_hash(), reason));
                }
            }
        }
    }
    Ok(BuiltBody { transactions, outcome: run.finish(spec)?, rejected })
}

/// A block in the middle of its execution.
struct BlockRun<'a> {
    evm: OverlayEvm<'a>,
    gas_limit: u64,
    gas_used: u64,
    base_fee: u64,
    beneficiary: Address,
    bloom: Bloom,
    receipts: Vec<Receipt>,
}

impl<'a> BlockRun<'a> {
    fn new(
        spec: &ChainSpec,
        state: &'a StateView,
        hashes: &'a dyn BlockHashes,
        header: &Header,
        expected: usize,
    ) -> Self {
        let block = env::block_env(spec, header);
        let rules = env::rules(spec, spec.fork_at(header.number, header.timestamp));
        Self {
            gas_limit: header.gas_limit,
            gas_used: 0,
            base_fee: block.basefee,
            beneficiary: block.beneficiary,
            bloom: Bloom::ZERO,
            receipts: Vec::with_capacity(expected),
            evm: env::evm(rules, block, Overlay::new(state, hashes), ()),
        }
    }

    fn gas_left(&self) -> u64 {
        self.gas_limit.saturating_sub(self.gas_used)
    }

    /// Runs one transaction. The inner error leaves the block as it was; the outer one ends it.
    fn apply(&mut self, tx: &Transaction) -> Result<Result<(), RejectReason>, ExecError> {
        let (gas_limit, available) = (tx.gas_limit(), self.gas_left());
        if gas_limit > available {
            return Ok(Err(RejectReason::GasLimitExceedsBlock { gas_limit, available }));
        }
        let result = match self.evm.transact_commit(env::tx_env(tx)).map_err(RunError::from) {
            Ok(result) => result,
            Err(RunError::Refused(refusal)) => {
                return Ok(Err(RejectReason::new(refusal, gas_limit, available, self.base_fee)));
            }
            Err(RunError::Fatal(error)) => return Err(error),
        };
        let receipt = receipt::receipt(tx, result, self.gas_used);
        self.gas_used = receipt.cumulative_gas_used;
        if !receipt.logs.is_empty() {
            self.bloom |= receipt.bloom();
        }
        self.receipts.push(receipt);
        Ok(Ok(()))
    }

    fn finish(self, spec: &ChainSpec) -> Result<BlockOutcome, ExecError> {
        let mut overlay = self.evm.ctx.journaled_state.database;
        if !spec.block_reward.is_zero() {
            overlay.edit_account(self.beneficiary, |info| {
                info.balance = info.balance.saturating_add(spec.block_reward);
            })?;
        }
        Ok(BlockOutcome {
            receipts: self.receipts,
            gas_used: self.gas_used,
            bloom: self.bloom,
            diff: overlay.into_diff(),
        })
    }
}
