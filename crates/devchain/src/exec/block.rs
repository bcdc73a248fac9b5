//! Running the transactions of a block.

use std::{borrow::Borrow, time::Instant};

use alloy_consensus::{Header, Transaction as _};
use alloy_primitives::{Address, Bloom};
use revm::ExecuteCommitEvm;

use super::{
    BlockHashes, ChainSpec, ExecError, Interrupt, RejectReason,
    env::{self, OverlayEvm},
    error::RunError,
    interrupt::Meter,
    overlay::Overlay,
    receipt,
};
use crate::{
    block::{Receipt, Transaction},
    state::{StateDiff, StateView},
};

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

/// Runs a block's transactions on its parent's state. The header's roots, bloom and gas used are not looked at.
pub fn execute_block<T: Borrow<Transaction>>(
    spec: &ChainSpec,
    state: &StateView,
    hashes: &dyn BlockHashes,
    header: &Header,
    transactions: &[T],
) -> Result<BlockOutcome, ExecError> {
    let mut run =
        BlockRun::new(spec, state, hashes, header, transactions.len(), Meter::new(Interrupt::never()));
    for (index, tx) in transactions.iter().map(Borrow::borrow).enumerate() {
        let hash = *tx.inner().tx_hash();
        match run.apply(tx)? {
            Applied::Yes { .. } => {}
            Applied::Rejected(reason) => return Err(ExecError::InvalidTransaction { index, hash, reason }),
            // Nobody has set a deadline.
            Applied::Stopped => return Err(ExecError::Interpreter(format!("{hash} was stopped"))),
        }
    }
    run.finish(spec)
}

/// What became of a transaction.
pub(super) enum Applied {
    /// It is part of the block.
    Yes {
        /// Gas that it used.
        gas_used: u64,
    },
    /// It cannot be executed; the block is as before.
    Rejected(RejectReason),
    /// Its time was over; the block is as before.
    Stopped,
}

/// A block in the middle of its execution.
pub(super) struct BlockRun<'a> {
    evm: OverlayEvm<'a>,
    gas_limit: u64,
    gas_used: u64,
    base_fee: u64,
    beneficiary: Address,
    bloom: Bloom,
    receipts: Vec<Receipt>,
}

impl<'a> BlockRun<'a> {
    /// With `Meter::timed` transactions can be stopped.
    pub(super) fn new(
        spec: &ChainSpec,
        state: &'a StateView,
        hashes: &'a dyn BlockHashes,
        header: &Header,
        expected: usize,
        meter: Meter<'a>,
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
            evm: env::evm(rules, block, Overlay::new(state, hashes), meter, ()),
        }
    }

    pub(super) fn gas_left(&self) -> u64 {
        self.gas_limit.saturating_sub(self.gas_used)
    }

    /// Runs one transaction, to its end.
    fn apply(&mut self, tx: &Transaction) -> Result<Applied, ExecError> {
        self.apply_until(tx, None)
    }

    /// Runs one transaction, until `deadline` at most. An error ends the block.
    pub(super) fn apply_until(
        &mut self,
        tx: &Transaction,
        deadline: Option<Instant>,
    ) -> Result<Applied, ExecError> {
        let (gas_limit, available) = (tx.gas_limit(), self.gas_left());
        if gas_limit > available {
            return Ok(Applied::Rejected(RejectReason::GasLimitExceedsBlock { gas_limit, available }));
        }
        self.evm.ctx.chain.begin_run(deadline);
        let result = match self.evm.transact_commit(env::tx_env(tx)).map_err(RunError::from) {
            Ok(result) => result,
            Err(RunError::Refused(refusal)) => {
                let reason = RejectReason::new(refusal, gas_limit, available, self.base_fee);
                return Ok(Applied::Rejected(reason));
            }
            Err(RunError::Fatal(_)) if self.evm.ctx.chain.interruption().is_some() => {
                return Ok(Applied::Stopped);
            }
            Err(RunError::Fatal(error)) => return Err(error),
        };
        let receipt = receipt::receipt(tx, result, self.gas_used);
        self.gas_used = receipt.cumulative_gas_used;
        if !receipt.logs.is_empty() {
            self.bloom |= receipt.bloom();
        }
        let gas_used = receipt.gas_used;
        self.receipts.push(receipt);
        Ok(Applied::Yes { gas_used })
    }

    pub(super) fn finish(self, spec: &ChainSpec) -> Result<BlockOutcome, ExecError> {
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
