//! Chain against database, both ways: every payment that the chain has logged is recorded and nothing else is, what is
//! paid here is paid there, and the sums agree. Reads only; what differs is for an operator to look at.

mod difference;
mod metrics;

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
    time::Duration,
};

use access::Clock;
use alloy_primitives::{Address, B256, U256};
use chain::{At, ChainClient, contract, contract::ContractError};
use contracts::{PlatformCheckout, PlatformFees, fees::FeeSource};
use domain::portal::PaymentPurpose;
use parking_lot::Mutex;
use prometheus_client::registry::Registry;
use store::{
    Db, StoreError,
    portal::{ChainPayment, PaymentRow, PaymentTarget},
};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use self::metrics::Metrics;
use crate::{CreditProgress, cause::chain_of, credit, time::millis};

pub use difference::{Difference, FeeTotals, Reconciliation};

/// How long the job waits before the first comparison.
const START: Duration = Duration::from_secs(60);
/// How often it compares.
const INTERVAL: Duration = Duration::from_secs(3600);
/// When it tries again after it could not.
const RETRY: Duration = Duration::from_secs(300);
/// How long crediting may take to reach the chain's head.
const PATIENCE: Duration = Duration::from_secs(30);
/// Blocks that are compared at once, unless there are more events in them than this.
const BLOCKS: u64 = 10_000;
const EVENTS: u32 = 5_000;
/// Quotes that the contract is asked about, newest first: paid ones, and as many unpaid ones.
const QUOTES: u32 = 1_000;

/// Why nothing could be compared.
#[derive(Debug, thiserror::Error)]
pub enum ReconcileError {
    /// The chain has not been heard of.
    #[error("the chain has no head yet")]
    NoHead,
    /// Payments are not credited up to the head, and do not get there.
    #[error("crediting does not reach the chain's head")]
    Behind,
    /// A contract did not answer.
    #[error("the contracts cannot be asked")]
    Contract(#[from] ContractError),
    /// The database failed.
    #[error("the database failed")]
    Store(#[from] StoreError),
}

/// Compares chain and database.
pub struct Reconciler {
    db: Db,
    chain: Arc<dyn ChainClient>,
    fees: Address,
    checkout: Address,
    progress: CreditProgress,
    clock: Clock,
    metrics: Metrics,
}

impl Reconciler {
    /// Compares this chain, with its contracts for fees and for invoices, and this database.
    pub fn new(
        db: Db,
        chain: Arc<dyn ChainClient>,
        (fees, checkout): (Address, Address),
        progress: CreditProgress,
        clock: Clock,
    ) -> Self {
        Self { db, chain, fees, checkout, progress, clock, metrics: Metrics::new() }
    }

    /// What was found, for operators.
    pub fn registry(&self) -> &Mutex<Registry> {
        self.metrics.registry()
    }

    /// Compares soon, and then every hour until stopped.
    pub async fn run(&self, stop: CancellationToken) {
        let job = async {
            let mut pause = START;
            loop {
                tokio::time::sleep(pause).await;
                pause = match self.reconcile().await {
                    Ok(found) => {
                        report(&found);
                        INTERVAL
                    }
                    Err(error) => {
                        tracing::error!(error = chain_of(&error), "chain and database could not be compared");
                        RETRY
                    }
                };
            }
        };
        stop.run_until_cancelled(job).await;
    }

    /// Compares up to the chain's head.
    pub async fn reconcile(&self) -> Result<Reconciliation, ReconcileError> {
        let head = self.chain.heads().borrow().as_ref().map(|head| head.number());
        let up_to = head.ok_or(ReconcileError::NoHead)?;
        self.wait_for(up_to).await?;
        let mut found = Reconciliation::new(up_to);
        let mut next = 0;
        while next <= up_to {
            next = self.compare_payments(next, &mut found).await? + 1;
        }
        self.compare_quotes(&mut found).await?;
        self.compare_totals(&mut found).await?;
        self.metrics.note(&found, millis((self.clock)()));
        Ok(found)
    }

    async fn wait_for(&self, block: u64) -> Result<(), ReconcileError> {
        let mut progress = self.progress.subscribe();
        let reached = timeout(PATIENCE, progress.wait_for(|credited| credited.block >= Some(block))).await;
        match reached {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(ReconcileError::Behind),
        }
    }

    /// Compares some blocks from this one on, and answers the last of them.
    async fn compare_payments(&self, first: u64, found: &mut Reconciliation) -> Result<u64, ReconcileError> {
        let last = found.up_to.min(first.saturating_add(BLOCKS - 1));
        let (events, last) = credit::read_events(&self.db, first, last, EVENTS).await?;
        let logged: Vec<ChainPayment> = events.into_iter().filter_map(credit::payment).collect();
        let quotes: Vec<B256> = logged.iter().filter_map(quote).collect();
        let ours = self.db.known_quotes(&quotes).await?;
        let recorded = self.db.payments_in(first..=last).await?;
        let mut recorded: BTreeMap<(B256, u32), PaymentRow> =
            recorded.into_iter().map(|row| ((row.tx_hash, row.log_index), row)).collect();
        for payment in logged.iter().filter(|payment| is_ours(payment, &ours)) {
            found.payments += 1;
            match recorded.remove(&(payment.tx_hash, payment.log_index)) {
                None => found.note(Difference::NotRecorded(place(payment))),
                Some(row) if (row.amount, row.payer) != (payment.amount, payment.payer) => {
                    found.note(Difference::RecordedOtherwise(place(payment)));
                }
                Some(row) => found.count(&row),
            }
        }
        for row in recorded.into_values() {
            found.count(&row);
            found.note(Difference::NotOnChain((row.tx_hash, row.log_index)));
        }
        Ok(last)
    }

    async fn compare_quotes(&self, found: &mut Reconciliation) -> Result<(), ReconcileError> {
        let paid = self.db.paid_quotes(found.up_to, QUOTES).await?;
        for (quote, is_paid) in paid.iter().zip(self.are_paid(&paid, found.up_to).await?) {
            if !is_paid {
                found.note(Difference::PaidHereOnly(*quote));
            }
        }
        let unpaid = self.db.unpaid_quotes(QUOTES).await?;
        for (quote, is_paid) in unpaid.iter().zip(self.are_paid(&unpaid, found.up_to).await?) {
            if is_paid {
                found.note(Difference::PaidThereOnly(*quote));
            }
        }
        found.quotes = paid.len() + unpaid.len();
        Ok(())
    }

    async fn are_paid(&self, quotes: &[B256], block: u64) -> Result<Vec<bool>, ReconcileError> {
        let call = |quote: &B256| (self.checkout, PlatformCheckout::isPaidCall { quoteId: *quote });
        let calls: Vec<_> = quotes.iter().map(call).collect();
        Ok(contract::call_many(self.chain.as_ref(), &calls, At::Number(block)).await?)
    }

    async fn compare_totals(&self, found: &mut Reconciliation) -> Result<(), ReconcileError> {
        let call = PlatformFees::getSourceTotalsCall { source: FeeSource::DeveloperPortal.id() };
        let totals = contract::call(self.chain.as_ref(), self.fees, &call, At::Number(found.up_to)).await?;
        let on_chain = FeeTotals { payments: totals.count, paid: totals.paid };
        if on_chain != found.fees {
            found.note(Difference::Totals { on_chain, recorded: found.fees });
        }
        Ok(())
    }
}

fn quote(payment: &ChainPayment) -> Option<B256> {
    match payment.target {
        PaymentTarget::Quote(id) => Some(id),
        PaymentTarget::Fee(_) => None,
    }
}

/// Every fee of the portal is; a quote may be anybody's.
fn is_ours(payment: &ChainPayment, quotes: &HashSet<B256>) -> bool {
    match payment.target {
        PaymentTarget::Quote(id) => quotes.contains(&id),
        PaymentTarget::Fee(_) => true,
    }
}

fn place(payment: &ChainPayment) -> (B256, u32) {
    (payment.tx_hash, payment.log_index)
}

impl Reconciliation {
    fn count(&mut self, row: &PaymentRow) {
        match row.purpose {
            PaymentPurpose::Invoice => {}
            PaymentPurpose::ApiKey | PaymentPurpose::Webhook | PaymentPurpose::Unmatched => {
                self.fees.payments += 1;
                self.fees.paid = self.fees.paid.saturating_add(row.amount.0);
            }
        }
    }

    fn new(up_to: u64) -> Self {
        let fees = FeeTotals { payments: 0, paid: U256::ZERO };
        Self { up_to, payments: 0, quotes: 0, fees, difference_count: 0, differences: Vec::new() }
    }
}

fn report(found: &Reconciliation) {
    if found.difference_count == 0 {
        tracing::info!(
            reconcile.block = found.up_to,
            reconcile.payments = found.payments,
            "chain and database agree"
        );
        return;
    }
    tracing::error!(
        reconcile.block = found.up_to,
        reconcile.differences = found.difference_count,
        "chain and database differ; it needs an operator"
    );
    for difference in &found.differences {
        tracing::error!(%difference, "chain and database differ");
    }
}
