//! Orders: what a wallet wants to buy, until it is paid for and claimed.
//!
//! Whoever opens or claims an order writes the wallet's row first, so that the slots for keys are counted by one at a
//! time. Payments are applied by `credit`.

use alloy_primitives::{Address, B256};
use domain::{
    Wei,
    portal::{OrderId, OrderKind, OrderState, Plan, Scopes},
};
use sqlx::FromRow;

use super::{
    AuditRow,
    audit::insert_audit,
    convert::{parse_id, parse_scopes},
    wallet::touch_wallet,
};
use crate::{
    Db, StoreError,
    convert::{parse_address, parse_hash, parse_wei, to_signed, to_unsigned, wei_text},
    db::Tx,
};

/// What an order buys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purchase {
    /// A developer key.
    Key {
        /// For how long.
        plan: Plan,
        /// What its owner calls it.
        name: String,
        /// What it may be used for.
        scopes: Scopes,
    },
    /// The right to save a webhook URL.
    Webhook,
}

impl Purchase {
    /// Which kind of order it makes.
    pub const fn kind(&self) -> OrderKind {
        match self {
            Self::Key { .. } => OrderKind::ApiKey,
            Self::Webhook => OrderKind::Webhook,
        }
    }
}

/// An order. Times are Unix milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderRow {
    /// Its id.
    pub id: OrderId,
    /// Who ordered.
    pub wallet: Address,
    /// What.
    pub purchase: Purchase,
    /// The price, frozen when it was ordered.
    pub amount: Wei,
    /// What the payment names.
    pub reference: B256,
    /// Where it stands.
    pub state: OrderState,
    /// When it was ordered.
    pub created_at: u64,
    /// Until when it should be paid.
    pub expires_at: u64,
    /// When it was paid, by the chain's time.
    pub paid_at: Option<u64>,
    /// When what it bought was made.
    pub claimed_at: Option<u64>,
}

impl OrderRow {
    /// Whether it takes one of the wallet's slots for keys.
    pub const fn holds_slot(&self) -> bool {
        holds_slot(self.purchase.kind(), self.state)
    }
}

/// Whether an order of this kind and state takes one of its wallet's slots for keys.
pub(super) const fn holds_slot(kind: OrderKind, state: OrderState) -> bool {
    match kind {
        OrderKind::ApiKey => state.holds_slot(),
        OrderKind::Webhook => false,
    }
}

/// All columns, of the orders that a condition names.
macro_rules! select {
    ($condition:literal) => {
        concat!(
            "SELECT id, wallet, kind, plan, key_name, scopes, amount_wei, reference, state, created_at, expires_at, \
             paid_at, claimed_at FROM portal_order WHERE ",
            $condition
        )
    };
}

/// The order with an id.
const BY_ID: &str = select!("id = $1");
/// The orders with some references.
pub(super) const BY_REFERENCE: &str = select!("reference IN ({list})");

#[derive(FromRow)]
pub(super) struct RawOrder {
    id: Vec<u8>,
    wallet: Vec<u8>,
    kind: String,
    plan: Option<String>,
    key_name: Option<String>,
    scopes: Option<i16>,
    amount_wei: String,
    reference: Vec<u8>,
    state: String,
    created_at: i64,
    expires_at: i64,
    paid_at: Option<i64>,
    claimed_at: Option<i64>,
}

impl TryFrom<RawOrder> for OrderRow {
    type Error = StoreError;

    fn try_from(raw: RawOrder) -> Result<Self, StoreError> {
        let time = |time| to_unsigned("time of an order", time);
        Ok(Self {
            id: OrderId::from_bytes(parse_id("id of an order", &raw.id)?),
            wallet: parse_address("wallet of an order", &raw.wallet)?,
            amount: parse_wei("price of an order", &raw.amount_wei)?,
            reference: parse_hash("reference of an order", &raw.reference)?,
            state: raw.state.parse().map_err(|error| StoreError::corrupt("state of an order", error))?,
            created_at: time(raw.created_at)?,
            expires_at: time(raw.expires_at)?,
            paid_at: raw.paid_at.map(time).transpose()?,
            claimed_at: raw.claimed_at.map(time).transpose()?,
            purchase: parse_purchase(&raw.kind, raw.plan, raw.key_name, raw.scopes)?,
        })
    }
}

fn parse_purchase(
    kind: &str,
    plan: Option<String>,
    name: Option<String>,
    scopes: Option<i16>,
) -> Result<Purchase, StoreError> {
    let kind: OrderKind = kind.parse().map_err(|error| StoreError::corrupt("kind of an order", error))?;
    match (kind, plan, name, scopes) {
        (OrderKind::Webhook, ..) => Ok(Purchase::Webhook),
        (OrderKind::ApiKey, Some(plan), Some(name), Some(scopes)) => Ok(Purchase::Key {
            plan: plan.parse().map_err(|error| StoreError::corrupt("plan of an order", error))?,
            name,
            scopes: parse_scopes(scopes)?,
        }),
        (OrderKind::ApiKey, ..) => Err(StoreError::corrupt("order", "a key without its terms")),
    }
}

impl Db {
    /// The order with this id.
    pub async fn find_order(&self, id: OrderId) -> Result<Option<OrderRow>, StoreError> {
        let raw: Option<RawOrder> = on_readers!(self, pool => {
            sqlx::query_as(BY_ID).bind(id.as_bytes().as_slice()).fetch_optional(pool).await
        })?;
        raw.map(TryInto::try_into).transpose()
    }

    /// A wallet's orders before an id, newest first.
    pub async fn list_orders(
        &self,
        wallet: Address,
        before: Option<OrderId>,
        limit: u32,
    ) -> Result<Vec<OrderRow>, StoreError> {
        let sql = select!("wallet = $1 AND id < $2 ORDER BY id DESC LIMIT $3");
        let before = before.unwrap_or(OrderId::from_bytes([u8::MAX; 16]));
        let rows: Vec<RawOrder> = on_readers!(self, pool => {
            sqlx::query_as(sql)
                .bind(wallet.as_slice())
                .bind(before.as_bytes().as_slice())
                .bind(i64::from(limit))
                .fetch_all(pool)
                .await
        })?;
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// Orders a webhook, or finds the order that the wallet has paid and not used, or can still pay.
    pub async fn open_webhook_order(&self, order: &OrderRow) -> Result<OrderRow, StoreError> {
        let sql = select!(
            "wallet = $1 AND kind = 'webhook' AND (state = 'paid' OR (state = 'awaiting_payment' AND expires_at > $2)) \
             ORDER BY state DESC, id DESC LIMIT 1"
        );
        let now = to_signed("time", order.created_at)?;
        let mut tx = self.begin().await?;
        touch_wallet(&mut tx, order.wallet, order.created_at).await?;
        let found: Option<RawOrder> = on_connection!(tx, connection => {
            sqlx::query_as(sql).bind(order.wallet.as_slice()).bind(now).fetch_optional(connection).await
        })?;
        let order = match found {
            Some(found) => found.try_into()?,
            None => {
                insert_order(&mut tx, order).await?;
                order.clone()
            }
        };
        tx.commit().await?;
        Ok(order)
    }
}

/// What became of an order that was to be cancelled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrderCancellation {
    /// It is cancelled, now or since before.
    Cancelled(OrderRow),
    /// It is paid or has expired.
    NotOpen,
    /// The wallet has no such order.
    NotFound,
}

impl Db {
    /// Cancels a wallet's order that awaits its payment; the entry tells of it. Under the lock of the wallet's row, which
    /// whoever credits a payment takes, too.
    pub async fn cancel_order(
        &self,
        wallet: Address,
        id: OrderId,
        entry: &AuditRow,
    ) -> Result<OrderCancellation, StoreError> {
        let sql = "UPDATE portal_order SET state = 'cancelled', holds_slot = FALSE \
                   WHERE id = $1 AND state = 'awaiting_payment'";
        let mut tx = self.begin().await?;
        touch_wallet(&mut tx, wallet, entry.at).await?;
        let found = find_order_in(&mut tx, id).await?.filter(|order| order.wallet == wallet);
        let Some(mut order) = found else { return Ok(OrderCancellation::NotFound) };
        match order.state {
            OrderState::Cancelled => return Ok(OrderCancellation::Cancelled(order)),
            OrderState::Paid | OrderState::PaidWaiting | OrderState::Claimed | OrderState::Expired => {
                return Ok(OrderCancellation::NotOpen);
            }
            OrderState::AwaitingPayment => order.state = OrderState::Cancelled,
        }
        on_connection!(tx, connection => {
            sqlx::query(sql).bind(id.as_bytes().as_slice()).execute(connection).await.map(drop)
        })?;
        insert_audit(&mut tx, entry).await?;
        tx.commit().await?;
        Ok(OrderCancellation::Cancelled(order))
    }
}

/// The order with this id, within a transaction.
pub(super) async fn find_order_in(tx: &mut Tx, id: OrderId) -> Result<Option<OrderRow>, StoreError> {
    let raw: Option<RawOrder> = on_connection!(tx, connection => {
        sqlx::query_as(BY_ID).bind(id.as_bytes().as_slice()).fetch_optional(connection).await
    })?;
    raw.map(TryInto::try_into).transpose()
}

/// Inserts an order.
pub(super) async fn insert_order(tx: &mut Tx, order: &OrderRow) -> Result<(), StoreError> {
    let sql = "INSERT INTO portal_order (id, wallet, kind, plan, key_name, scopes, amount_wei, reference, state, \
               holds_slot, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    let (plan, name, scopes) = match &order.purchase {
        Purchase::Key { plan, name, scopes } => {
            (Some(plan.name()), Some(name.as_str()), Some(i16::from(scopes.bits())))
        }
        Purchase::Webhook => (None, None, None),
    };
    let created_at = to_signed("time", order.created_at)?;
    let expires_at = to_signed("time", order.expires_at)?;
    on_connection!(tx, connection => {
        sqlx::query(sql)
            .bind(order.id.as_bytes().as_slice())
            .bind(order.wallet.as_slice())
            .bind(order.purchase.kind().name())
            .bind(plan)
            .bind(name)
            .bind(scopes)
            .bind(wei_text(order.amount))
            .bind(order.reference.as_slice())
            .bind(order.state.name())
            .bind(order.holds_slot())
            .bind(created_at)
            .bind(expires_at)
            .execute(connection)
            .await
            .map(drop)
    })?;
    Ok(())
}

/// Takes what a paid order has bought, within the transaction that makes it. False when the order is not paid, or was
/// claimed before.
pub(crate) async fn claim_order(
    tx: &mut Tx,
    wallet: Address,
    id: OrderId,
    now: u64,
) -> Result<bool, StoreError> {
    let sql = "UPDATE portal_order SET state = 'claimed', holds_slot = FALSE, claimed_at = $1 \
               WHERE id = $2 AND wallet = $3 AND state IN ('paid', 'paid_waiting') RETURNING id";
    let now = to_signed("time", now)?;
    let claimed: Option<Vec<u8>> = on_connection!(tx, connection => {
        sqlx::query_scalar(sql)
            .bind(now)
            .bind(id.as_bytes().as_slice())
            .bind(wallet.as_slice())
            .fetch_optional(connection)
            .await
    })?;
    Ok(claimed.is_some())
}
