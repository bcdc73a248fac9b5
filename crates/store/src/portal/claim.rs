//! Slots for keys: taking one with an order, and turning a paid order into its key.
//!
//! Both begin with the wallet's row: counting and taking are one step, whoever else wants a slot at the same time.

use alloy_primitives::Address;
use domain::portal::OrderState;

use super::{
    AuditRow, DeveloperKeyRow, OrderRow,
    audit::insert_audit,
    key::{count_active_keys, insert_developer_key},
    order::{claim_order, find_order_in, insert_order},
    wallet::touch_wallet,
};
use crate::{Db, StoreError, convert::to_unsigned, db::Tx};

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
    /// Orders a key, if the wallet has less than `most` slots in use. False, and nothing is written, if it has not.
    pub async fn open_key_order(&self, order: &OrderRow, most: u64) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let is_open = take_slot(&mut tx, order, most).await?;
        if is_open {
            tx.commit().await?;
        }
        Ok(is_open)
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
            OrderState::AwaitingPayment | OrderState::Expired => return Ok(KeyClaim::NotPaid),
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

async fn take_slot(tx: &mut Tx, order: &OrderRow, most: u64) -> Result<bool, StoreError> {
    touch_wallet(tx, order.wallet, order.created_at).await?;
    if count_slots(tx, order.wallet, order.created_at).await? >= most {
        return Ok(false);
    }
    insert_order(tx, order).await?;
    Ok(true)
}

/// Slots for keys that a wallet has in use: active keys, and orders of keys. Under the lock of the wallet's row.
pub(super) async fn count_slots(tx: &mut Tx, wallet: Address, now: u64) -> Result<u64, StoreError> {
    let sql = "SELECT COUNT(*) FROM portal_order WHERE wallet = $1 AND holds_slot";
    let orders: i64 = on_connection!(tx, connection => {
        sqlx::query_scalar(sql).bind(wallet.as_slice()).fetch_one(connection).await
    })?;
    Ok(count_active_keys(tx, wallet, now).await? + to_unsigned("number of orders", orders)?)
}
