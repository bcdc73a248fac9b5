//! Slots for keys: taking one with an order, and turning a paid order into its key.
//!
//! Both begin with the wallet's row: counting and taking are one step, whoever else wants a slot at the same time.

use alloy_primitives::Address;
use domain::portal::{OrderId, OrderState};

use super::{
    AuditRow, DeveloperKeyRow, KeptAnswer, OnceRequest, OrderRow, Repeat,
    audit::insert_audit,
    idempotency::{find_repeat, keep_answer},
    key::{count_active_keys, insert_developer_key},
    order::{claim_order, find_order_in, insert_order},
    wallet::touch_wallet,
};
use crate::{Db, StoreError, convert::to_unsigned, db::Tx};

/// The status that an order is answered with.
const PAYMENT_REQUIRED: u16 = 402;

/// What became of ordering a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyOrdering {
    /// It is ordered.
    Opened,
    /// The same request has opened this order before.
    OpenedBefore(OrderId),
    /// The key of the request was used for another one.
    KeyReused,
    /// All slots are in use.
    NoSlot,
}

/// What became of claiming a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyClaim {
    /// The key exists.
    Claimed,
    /// The order is not paid.
    NotPaid,
    /// It was claimed before.
    ClaimedBefore,
    /// It was paid late, and the wallet has no slot for its key.
    NoSlot,
    /// The wallet has no such order.
    NotFound,
}

impl Db {
    /// Orders a key, if the wallet has less than `most` slots in use. A request that must take effect once is remembered
    /// by its order.
    pub async fn open_key_order(
        &self,
        order: &OrderRow,
        most: u64,
        once: Option<&OnceRequest>,
    ) -> Result<KeyOrdering, StoreError> {
        let mut tx = self.begin().await?;
        touch_wallet(&mut tx, order.wallet, order.created_at).await?;
        if let Some(request) = once {
            match find_repeat(&mut tx, order.wallet, request).await? {
                Some(Repeat::Answered(answer)) => {
                    return Ok(KeyOrdering::OpenedBefore(parse_order(&answer)?));
                }
                Some(Repeat::KeyReused) => return Ok(KeyOrdering::KeyReused),
                None => {}
            }
        }
        if count_slots(&mut tx, order.wallet, order.created_at).await? >= most {
            return Ok(KeyOrdering::NoSlot);
        }
        insert_order(&mut tx, order).await?;
        if let Some(request) = once {
            keep_answer(&mut tx, order.wallet, request, &answer(order.id)).await?;
        }
        tx.commit().await?;
        Ok(KeyOrdering::Opened)
    }

    /// Makes the key of a paid order, if the order is its wallet's and has not been claimed; the entry tells of it.
    pub async fn claim_key(
        &self,
        key: &DeveloperKeyRow,
        most: u64,
        entry: &AuditRow,
    ) -> Result<KeyClaim, StoreError> {
        let (wallet, now) = (key.wallet, key.created_at);
        let mut tx = self.begin().await?;
        touch_wallet(&mut tx, wallet, now).await?;
        let found = find_order_in(&mut tx, key.order).await?.filter(|order| order.wallet == wallet);
        let Some(order) = found else { return Ok(KeyClaim::NotFound) };
        match order.state {
            OrderState::AwaitingPayment | OrderState::Expired | OrderState::Cancelled => {
                return Ok(KeyClaim::NotPaid);
            }
            OrderState::Claimed => return Ok(KeyClaim::ClaimedBefore),
            OrderState::PaidWaiting if count_slots(&mut tx, wallet, now).await? >= most => {
                return Ok(KeyClaim::NoSlot);
            }
            OrderState::Paid | OrderState::PaidWaiting => {}
        }
        if !claim_order(&mut tx, wallet, key.order, now).await? {
            return Ok(KeyClaim::ClaimedBefore);
        }
        insert_developer_key(&mut tx, key).await?;
        insert_audit(&mut tx, entry).await?;
        tx.commit().await?;
        Ok(KeyClaim::Claimed)
    }
}

/// Only the order's id is kept: what is told of it is how it stands when it is asked for again.
fn answer(order: OrderId) -> KeptAnswer {
    KeptAnswer { status: PAYMENT_REQUIRED, body: order.to_string().into_bytes() }
}

fn parse_order(answer: &KeptAnswer) -> Result<OrderId, StoreError> {
    let text = str::from_utf8(&answer.body).map_err(|error| StoreError::corrupt("kept answer", error))?;
    text.parse().map_err(|error| StoreError::corrupt("kept answer", error))
}

/// Slots for keys that a wallet has in use: active keys, and orders of keys. Under the lock of the wallet's row.
pub(super) async fn count_slots(tx: &mut Tx, wallet: Address, now: u64) -> Result<u64, StoreError> {
    let sql = "SELECT COUNT(*) FROM portal_order WHERE wallet = $1 AND holds_slot";
    let orders: i64 = on_connection!(tx, connection => {
        sqlx::query_scalar(sql).bind(wallet.as_slice()).fetch_one(connection).await
    })?;
    Ok(count_active_keys(tx, wallet, now).await? + to_unsigned("number of orders", orders)?)
}
