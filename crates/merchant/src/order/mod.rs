//! Orders: opened, paid on the chain, claimed.
//!
//! An order of a key takes one of its wallet's slots while it can be paid and until its key exists. Whether it is paid is
//! [`crate::Crediting`]'s to say; here nobody looks at the chain but to know whether waiting is worth while.

mod cancel;
mod claim;
mod error;
mod terms;
mod wait;

use std::{collections::HashMap, sync::Arc, time::Duration};

use access::Clock;
use accounts::DeveloperKeys;
use alloy_primitives::{Address, B256};
use chain::ChainClient;
use domain::{
    Wei,
    portal::{
        FeeSplit, MOST_ACTIVE_KEYS, OrderId, OrderKind, OrderState, PaymentException, WEBHOOK_FEE_COIN,
    },
};
use store::{
    Db,
    portal::{KeyOrdering, OnceRequest, OrderRow, PaymentRow, Purchase},
};

pub use claim::ClaimedKey;
pub use error::{OrderError, PaymentHint};
pub use terms::KeyTerms;

use crate::{
    CreditProgress, PaymentRequest,
    time::{chain_millis, millis},
};

/// What orders are like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderSettings {
    /// The chain that orders are paid on.
    pub chain_id: u64,
    /// The contract that takes fees.
    pub fees: Address,
    /// How long an order can be paid.
    pub life: Duration,
    /// How long a claim waits for its payment.
    pub claim_wait: Duration,
}

impl OrderSettings {
    /// Orders of half an hour; claims wait eight seconds, less than the edge gives a request.
    pub const fn new(chain_id: u64, fees: Address) -> Self {
        Self { chain_id, fees, life: Duration::from_secs(30 * 60), claim_wait: Duration::from_secs(8) }
    }
}

/// An order with what belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// The order.
    pub row: OrderRow,
    /// The transaction that pays it.
    pub request: PaymentRequest,
    /// The payment that has settled it.
    pub payment: Option<PaymentRow>,
}

impl Order {
    /// Where its price goes.
    pub fn split(&self) -> FeeSplit {
        FeeSplit::of(self.row.amount)
    }
}

/// Whether a wallet may save its first webhook URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebhookFee {
    /// It has paid; saving the URL claims this order.
    Paid(OrderId),
    /// It has to pay this order first.
    Unpaid(Box<Order>),
}

/// Sells keys and webhooks. Cheap to clone.
#[derive(Clone)]
pub struct Orders {
    db: Db,
    chain: Arc<dyn ChainClient>,
    keys: Arc<DeveloperKeys>,
    progress: CreditProgress,
    settings: OrderSettings,
    clock: Clock,
}

impl Orders {
    /// Orders in this database, paid on this chain.
    pub fn new(
        db: Db,
        chain: Arc<dyn ChainClient>,
        keys: Arc<DeveloperKeys>,
        progress: CreditProgress,
        settings: OrderSettings,
        clock: Clock,
    ) -> Self {
        Self { db, chain, keys, progress, settings, clock }
    }

    /// Orders a key. A request that must take effect once finds the order that it has opened before.
    pub async fn open(
        &self,
        wallet: Address,
        terms: KeyTerms,
        once: Option<&OnceRequest>,
    ) -> Result<Order, OrderError> {
        let KeyTerms { plan, name, scopes } = terms;
        let row = self.new_order(wallet, plan.fee(), Purchase::Key { plan, name, scopes });
        match self.db.open_key_order(&row, MOST_ACTIVE_KEYS, once).await? {
            KeyOrdering::Opened => Ok(self.with_request(row, None)),
            KeyOrdering::OpenedBefore(id) => self.get(wallet, id).await,
            KeyOrdering::KeyReused => Err(OrderError::KeyReused),
            KeyOrdering::NoSlot => Err(OrderError::KeyLimitReached),
        }
    }

    /// Whether a wallet has paid for a webhook that it has not saved yet, and what to pay if not.
    pub async fn webhook_fee(&self, wallet: Address) -> Result<WebhookFee, OrderError> {
        let fee = Wei::from_coin(WEBHOOK_FEE_COIN);
        let row = self.db.open_webhook_order(&self.new_order(wallet, fee, Purchase::Webhook)).await?;
        Ok(match row.state {
            OrderState::Paid => WebhookFee::Paid(row.id),
            OrderState::AwaitingPayment
            | OrderState::PaidWaiting
            | OrderState::Claimed
            | OrderState::Expired
            | OrderState::Cancelled => WebhookFee::Unpaid(Box::new(self.with_request(row, None))),
        })
    }

    /// A wallet's order.
    pub async fn get(&self, wallet: Address, id: OrderId) -> Result<Order, OrderError> {
        let row = self.find(wallet, id).await?;
        let payments = self.db.payments_of_orders(&[id]).await?;
        let payment = payments.into_iter().find(|payment| has_settled(payment.exception));
        Ok(self.with_request(row, payment))
    }

    /// A page of a wallet's orders before an id, newest first, and where the next one begins.
    pub async fn list(
        &self,
        wallet: Address,
        before: Option<OrderId>,
        limit: u32,
    ) -> Result<(Vec<Order>, Option<OrderId>), OrderError> {
        let mut rows = self.db.list_orders(wallet, before, limit.saturating_add(1)).await?;
        let has_more = rows.len() > limit as usize;
        rows.truncate(limit as usize);
        let last = rows.last().map(|row| row.id).filter(|_| has_more);
        let ids: Vec<OrderId> = rows.iter().map(|row| row.id).collect();
        let payments = self.db.payments_of_orders(&ids).await?.into_iter();
        let mut settled: HashMap<OrderId, PaymentRow> = payments
            .filter(|payment| has_settled(payment.exception))
            .filter_map(|payment| Some((payment.order_id?, payment)))
            .collect();
        let with_payment = |row: OrderRow| {
            let payment = settled.remove(&row.id);
            self.with_request(row, payment)
        };
        Ok((rows.into_iter().map(with_payment).collect(), last))
    }

    async fn find(&self, wallet: Address, id: OrderId) -> Result<OrderRow, OrderError> {
        let row = self.db.find_order(id).await?;
        row.filter(|row| row.wallet == wallet).ok_or(OrderError::NotFound)
    }

    fn new_order(&self, wallet: Address, amount: Wei, purchase: Purchase) -> OrderRow {
        let now = self.now();
        let life = u64::try_from(self.settings.life.as_millis()).unwrap_or(u64::MAX);
        // It ends by the chain's time, which may be ahead on a network where time is moved.
        let begin = now.max(chain_millis(&self.chain.heads()).unwrap_or(0));
        OrderRow {
            id: OrderId::new(now, rand::random()),
            wallet,
            purchase,
            amount,
            reference: B256::new(rand::random()),
            state: OrderState::AwaitingPayment,
            created_at: now,
            expires_at: begin.saturating_add(life),
            paid_at: None,
            claimed_at: None,
        }
    }

    fn with_request(&self, row: OrderRow, payment: Option<PaymentRow>) -> Order {
        let OrderSettings { chain_id, fees, .. } = self.settings;
        let request = PaymentRequest::fee(chain_id, fees, row.amount, row.reference);
        Order { row, request, payment }
    }

    /// Milliseconds since 1970.
    fn now(&self) -> u64 {
        millis((self.clock)())
    }
}

/// Whether an order is for a key; a webhook is claimed by saving it.
fn is_for_key(order: &OrderRow) -> bool {
    match order.purchase.kind() {
        OrderKind::ApiKey => true,
        OrderKind::Webhook => false,
    }
}

/// Whether a payment was the one that its order waited for.
fn has_settled(exception: PaymentException) -> bool {
    match exception {
        PaymentException::None | PaymentException::Overpaid | PaymentException::PaidLate => true,
        PaymentException::Underpaid | PaymentException::Duplicate | PaymentException::Unmatched => false,
    }
}
