//! Building the block that a validator proposes.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use alloy_consensus::Transaction as _;
use alloy_primitives::B256;
use ibft::extra_data::ExtraData;
use tracing::{debug, warn};

use super::{Producer, seat::Proposed};
use crate::{
    block::Transaction,
    chain::{Executed, ImportError, next_header},
    exec::{self, BuiltBody, SelectionTime},
};

/// Share of the block period in which transactions may be selected, as Besu's default.
const SELECTION_PERCENT: u64 = 75;

/// No transaction uses less, so a block has no room for more than its gas limit allows of these.
const CHEAPEST_TRANSACTION_GAS: u64 = 21_000;

impl Producer {
    /// Builds a block on the head, executes it on the way and keeps its effects.
    pub(super) fn build(&mut self, seat: usize, round: u32, timestamp: u64) -> Result<Proposed, ImportError> {
        let started = Instant::now();
        let head = self.chain.head();
        let spec = self.chain.spec();
        let (coinbase, vote) = match self.seats.get_mut(seat) {
            Some(seat) => (seat.address(), seat.votes.next_vote(seat.address(), &head.tally)),
            None => (Default::default(), None),
        };
        let mut header = next_header(spec, &head.block, coinbase, timestamp);
        // A vote in an epoch block would be ignored by everybody.
        let vote = vote.filter(|_| !spec.ibft.is_epoch_block(header.number));
        let extra = ExtraData {
            vanity: B256::ZERO,
            validators: head.tally.validators(),
            vote,
            round,
            seals: Vec::new(),
        };
        header.extra_data = extra.encode();

        let selection = Duration::from_millis(spec.ibft.block_period_secs * 10 * SELECTION_PERCENT);
        let room = (header.gas_limit / CHEAPEST_TRANSACTION_GAS) as usize;
        let candidates =
            self.chain.pool().best(header.base_fee_per_gas.unwrap_or_default(), room).into_iter();
        let time = SelectionTime::within(selection);
        let BuiltBody { transactions, outcome, rejected, stopped } =
            exec::build_body(spec, &head.state, &self.chain.block_hashes(), &header, candidates, time)?;
        for (hash, reason) in rejected {
            debug!(%hash, ?reason, "transaction left out");
            self.chain.pool().remove(hash);
        }
        for transaction in stopped {
            self.suspend(&transaction, header.number, time);
        }
        let (roots, update) =
            exec::body_roots(&transactions, &outcome.receipts, || head.state.apply(&outcome.diff));
        let update = update?;
        header.state_root = update.root;
        (header.transactions_root, header.receipts_root) = roots;
        header.logs_bloom = outcome.bloom;
        header.gas_used = outcome.gas_used;

        let hash = ibft::hash::block_hash(&header)?;
        self.executed.insert(hash, Executed { receipts: outcome.receipts, update, diff: outcome.diff });
        self.metrics.build.observe(started.elapsed().as_secs_f64());
        Ok(Proposed { header, hash, transactions: Arc::new(transactions) })
    }

    /// Drops a transaction that was stopped, and tells of it: nobody else will.
    fn suspend(&self, transaction: &Transaction, building: u64, time: SelectionTime) {
        let until = self.chain.pool().suspend(transaction, building);
        self.metrics.stopped.inc();
        warn!(
            hash = %transaction.tx_hash(),
            sender = %transaction.signer(),
            gas_limit = transaction.gas_limit(),
            limit_ms = time.per_transaction.as_millis(),
            until,
            "a transaction took too long: it is dropped, and its sender suspended until a later block"
        );
    }
}
