//! Claiming: a paid order becomes its key. And taking keys back.

use accounts::DeveloperKeyText;
use alloy_primitives::{Address, B256};
use domain::portal::{Actor, AuditAction, AuditId, DeveloperKeyId, MOST_ACTIVE_KEYS, OrderId, OrderState};
use store::portal::{AuditRow, DeveloperKeyRow, KeyClaim, KeyRevocation, OrderRow, Purchase};

use super::{OrderError, Orders, PaymentHint, is_for_key};

/// Milliseconds of a day.
const DAY: u64 = 24 * 3600 * 1000;
/// Keys that are listed: more than a wallet can have active, and its last ones beside.
const LISTED_KEYS: u32 = 100;

/// A key that was made just now.
#[derive(Debug)]
pub struct ClaimedKey {
    /// The key, as it is kept.
    pub key: DeveloperKeyRow,
    /// Its text, which is shown once.
    pub secret: DeveloperKeyText,
}

impl Orders {
    /// Makes the key of an order, which may be waited for if its payment is on its way. `transaction` helps to know that;
    /// `origin` is for the audit log.
    pub async fn claim(
        &self,
        wallet: Address,
        id: OrderId,
        transaction: Option<B256>,
        origin: Option<String>,
    ) -> Result<ClaimedKey, OrderError> {
        let order = self.find(wallet, id).await?;
        if !is_for_key(&order) {
            return Err(OrderError::NotFound);
        }
        let (order, hint) = self.wait_until_paid(order, transaction).await?;
        match order.state {
            OrderState::Paid | OrderState::PaidWaiting => self.make_key(order, origin).await,
            OrderState::Claimed => Err(OrderError::Claimed),
            OrderState::AwaitingPayment | OrderState::Expired | OrderState::Cancelled => {
                Err(OrderError::NotPaid { order: Box::new(self.with_request(order, None)), hint })
            }
        }
    }

    async fn make_key(&self, order: OrderRow, origin: Option<String>) -> Result<ClaimedKey, OrderError> {
        let Purchase::Key { plan, name, scopes } = order.purchase.clone() else {
            return Err(OrderError::NotFound);
        };
        let minted = self.keys.peppers().mint(&mut rand::rng());
        let now = self.now();
        let key = DeveloperKeyRow {
            id: minted.id,
            wallet: order.wallet,
            order: order.id,
            plan,
            name,
            scopes,
            mac: minted.mac,
            pepper_version: minted.pepper_version,
            last4: minted.last4,
            created_at: now,
            expires_at: now.saturating_add(plan.days() * DAY),
            revoked_at: None,
            last_used_at: None,
        };
        let entry = entry(key.wallet, key.id, AuditAction::KeyCreated, now, origin);
        match self.db.claim_key(&key, MOST_ACTIVE_KEYS, &entry).await? {
            KeyClaim::Claimed => Ok(ClaimedKey { key, secret: minted.text }),
            KeyClaim::ClaimedBefore => Err(OrderError::Claimed),
            KeyClaim::NoSlot => Err(OrderError::KeyLimitReached),
            KeyClaim::NotFound => Err(OrderError::NotFound),
            KeyClaim::NotPaid => {
                let order = Box::new(self.with_request(order, None));
                Err(OrderError::NotPaid { order, hint: PaymentHint::Pending })
            }
        }
    }

    /// The last keys of a wallet, newest first.
    pub async fn list_keys(&self, wallet: Address) -> Result<Vec<DeveloperKeyRow>, OrderError> {
        Ok(self.db.list_developer_keys(wallet, LISTED_KEYS).await?)
    }

    /// Takes a key back. A key that was taken back before stays as it is.
    pub async fn revoke_key(
        &self,
        wallet: Address,
        id: DeveloperKeyId,
        origin: Option<String>,
    ) -> Result<DeveloperKeyRow, OrderError> {
        let now = self.now();
        let entry = entry(wallet, id, AuditAction::KeyRevoked, now, origin);
        match self.db.revoke_developer_key(wallet, &id, now, &entry).await? {
            KeyRevocation::Revoked(key) => {
                self.keys.forget(id);
                Ok(key)
            }
            KeyRevocation::RevokedBefore(key) => Ok(key),
            KeyRevocation::NotFound => Err(OrderError::KeyNotFound),
        }
    }
}

fn entry(
    wallet: Address,
    key: DeveloperKeyId,
    action: AuditAction,
    now: u64,
    origin: Option<String>,
) -> AuditRow {
    AuditRow {
        id: AuditId::new(now, rand::random()),
        wallet: Some(wallet),
        actor: Actor::Wallet,
        action,
        target: key.to_string(),
        origin,
        at: now,
    }
}
