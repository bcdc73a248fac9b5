//! Choosing the transactions of a new block: by gas, and by time, which nobody gets all of.
//!
//! Only whoever builds a block looks at the clock. What it has chosen, others execute in full.

use std::{
    mem,
    sync::Arc,
    time::{Duration, Instant},
};

use alloy_consensus::{Header, Transaction as _};
use alloy_primitives::{
    Address, B256,
    map::{AddressMap, AddressSet},
};

use super::{
    BlockHashes, BlockOutcome, ChainSpec, ExecError, RejectReason,
    block::{Applied, BlockRun},
    interrupt::Meter,
};
use crate::{block::Transaction, state::StateView};

/// No transaction costs less, so a block with less gas left is full.
const CHEAPEST_TRANSACTION_GAS: u64 = 21_000;
/// A transaction with a higher gas limit is watched while it runs. What this buys is little time on any machine.
pub const HEAVY_GAS: u64 = 1_000_000;
/// A transaction that took no longer and used no more gas than this does not count towards its sender's share.
const NEGLIGIBLE: (Duration, u64) = (Duration::from_millis(1), 100_000);
/// Part of a block's time and gas that a sender gets before the others had their turn.
const SENDER_PARTS: u32 = 4;

/// How long choosing may take.
#[derive(Debug, Clone, Copy)]
pub struct SelectionTime {
    /// No transaction is begun later.
    pub deadline: Instant,
    /// No transaction with much gas ends later: what may be stopped in vain must not make the block late.
    pub heavy_deadline: Instant,
    /// What one transaction with much gas may take.
    pub per_transaction: Duration,
    /// What one sender may take while others wait.
    pub per_sender: Duration,
}

impl SelectionTime {
    /// Part of the whole that all transactions with much gas may take, and that one of them may.
    const HEAVY_PARTS: u32 = 2;
    const TRANSACTION_PARTS: u32 = 6;

    /// All in all so long, from now on.
    pub fn within(total: Duration) -> Self {
        let now = Instant::now();
        Self {
            deadline: now + total,
            heavy_deadline: now + total / Self::HEAVY_PARTS,
            per_transaction: total / Self::TRANSACTION_PARTS,
            per_sender: total / SENDER_PARTS,
        }
    }
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
    /// Candidates that took all the time of a transaction without coming to an end.
    pub stopped: Vec<Arc<Transaction>>,
}

/// Chooses transactions from `candidates`, best first, until the block is full, the time is over or none is left.
///
/// A sender whose transaction is left out, for whatever reason, has its later ones left out too. One who has used its share of time
/// or gas goes on after everybody else.
pub fn build_body(
    spec: &ChainSpec,
    state: &StateView,
    hashes: &dyn BlockHashes,
    header_template: &Header,
    candidates: impl Iterator<Item = Arc<Transaction>>,
    time: SelectionTime,
) -> Result<BuiltBody, ExecError> {
    let expected = candidates.size_hint().0;
    let mut selection = Selection {
        run: BlockRun::new(spec, state, hashes, header_template, expected, Meter::timed()),
        time,
        now: Instant::now(),
        block_gas: header_template.gas_limit,
        transactions: Vec::with_capacity(expected),
        rejected: Vec::new(),
        stopped: Vec::new(),
        left_out: AddressSet::default(),
        shares: AddressMap::default(),
        postponed: Vec::new(),
    };
    for tx in candidates {
        if selection.is_over() {
            break;
        }
        if selection.has_had_its_share(tx.signer()) {
            selection.postponed.push(tx);
        } else {
            selection.offer(tx)?;
        }
    }
    for tx in mem::take(&mut selection.postponed) {
        if selection.is_over() {
            break;
        }
        selection.offer(tx)?;
    }
    let Selection { run, transactions, rejected, stopped, .. } = selection;
    Ok(BuiltBody { transactions, outcome: run.finish(spec)?, rejected, stopped })
}

/// What a sender has had of a block.
#[derive(Debug, Clone, Copy, Default)]
struct Share {
    time: Duration,
    gas: u64,
}

struct Selection<'a> {
    run: BlockRun<'a>,
    time: SelectionTime,
    /// The clock, as it was last read.
    now: Instant,
    block_gas: u64,
    transactions: Vec<Arc<Transaction>>,
    rejected: Vec<(B256, RejectReason)>,
    stopped: Vec<Arc<Transaction>>,
    /// Senders with a transaction that is not in this block.
    left_out: AddressSet,
    shares: AddressMap<Share>,
    /// Transactions of senders that have had their share.
    postponed: Vec<Arc<Transaction>>,
}

impl Selection<'_> {
    fn is_over(&self) -> bool {
        self.run.gas_left() < CHEAPEST_TRANSACTION_GAS || self.now >= self.time.deadline
    }

    fn has_had_its_share(&self, sender: Address) -> bool {
        let most_gas = self.block_gas / u64::from(SENDER_PARTS);
        let share = self.shares.get(&sender);
        share.is_some_and(|share| share.time >= self.time.per_sender || share.gas >= most_gas)
    }

    /// Runs a transaction and takes it into the block if that is possible now.
    fn offer(&mut self, tx: Arc<Transaction>) -> Result<(), ExecError> {
        if self.left_out.contains(&tx.signer()) {
            return Ok(());
        }
        let Some(deadline) = self.deadline_of(&tx) else {
            self.left_out.insert(tx.signer());
            return Ok(());
        };
        let applied = self.run.apply_until(&tx, deadline)?;
        let begun = mem::replace(&mut self.now, Instant::now());
        match applied {
            Applied::Yes { gas_used } => {
                self.count(tx.signer(), self.now.saturating_duration_since(begun), gas_used);
                self.transactions.push(tx);
            }
            Applied::Rejected(reason) => {
                self.left_out.insert(tx.signer());
                let fits_later = matches!(reason, RejectReason::GasLimitExceedsBlock { gas_limit, .. }
                    if gas_limit <= self.block_gas);
                if !fits_later {
                    self.rejected.push((*tx.inner().tx_hash(), reason));
                }
            }
            Applied::Stopped => {
                self.left_out.insert(tx.signer());
                self.stopped.push(tx);
            }
        }
        Ok(())
    }

    /// When a transaction is to be stopped, if ever; nothing if there is too little time to begin it. So whoever is stopped
    /// has had all the time of a transaction, and nothing is run in vain because of what came before it.
    fn deadline_of(&self, tx: &Transaction) -> Option<Option<Instant>> {
        if tx.gas_limit() <= HEAVY_GAS {
            return Some(None);
        }
        let deadline = self.now + self.time.per_transaction;
        (deadline <= self.time.heavy_deadline).then_some(Some(deadline))
    }

    fn count(&mut self, sender: Address, time: Duration, gas: u64) {
        if time > NEGLIGIBLE.0 || gas > NEGLIGIBLE.1 {
            let share = self.shares.entry(sender).or_default();
            share.time += time;
            share.gas = share.gas.saturating_add(gas);
        }
    }
}
