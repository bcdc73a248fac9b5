//! What a wallet does with its webhook.

use std::{sync::Arc, time::Duration};

use access::Clock;
use alloy_primitives::Address;
use domain::portal::{Actor, AuditAction, AuditId, DeliveryId, DeliveryState, EventId};
use jiff::Timestamp;
use store::{
    Db,
    portal::{AttemptRow, AuditRow, DeliveryRow, EventRow, Redelivery, SecretChange, WebhookRow},
};
use tokio::sync::Notify;

use crate::{
    error::WebhookError,
    guard::Guard,
    limit::TestLimit,
    secret::{SealingKeys, WebhookSecret},
    sender::Sender,
    settings::{RETENTION, millis},
    worker::{host_of, unix_millis},
};

/// What a wallet does with its webhook. Cheap to clone.
#[derive(Clone)]
pub struct Webhooks {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) db: Db,
    pub(crate) guard: Arc<Guard>,
    pub(crate) sender: Sender,
    pub(crate) keys: Arc<SealingKeys>,
    pub(crate) clock: Clock,
    pub(crate) bell: Arc<Notify>,
    pub(crate) tests: TestLimit,
}

/// What saving a URL came to.
#[derive(Debug)]
pub struct SavedWebhook {
    /// The webhook.
    pub webhook: WebhookRow,
    /// Its secret, if it is new. Nobody is shown it again.
    pub secret: Option<WebhookSecret>,
}

/// What a rotation came to.
#[derive(Debug)]
pub struct RotatedSecret {
    /// The webhook.
    pub webhook: WebhookRow,
    /// The new secret. Nobody is shown it again.
    pub secret: WebhookSecret,
    /// When it takes over.
    pub active_at: Timestamp,
}

impl Webhooks {
    /// Webhooks that are sent by `sender`; `bell` tells the worker that there is something to do.
    pub fn new(
        db: Db,
        guard: Arc<Guard>,
        sender: Sender,
        keys: Arc<SealingKeys>,
        clock: Clock,
        bell: Arc<Notify>,
    ) -> Self {
        let shared = Shared { db, guard, sender, keys, clock, bell, tests: TestLimit::default() };
        Self { shared: Arc::new(shared) }
    }

    /// Judges a URL before anything is asked for it.
    pub async fn check_url(&self, url: &str) -> Result<String, WebhookError> {
        self.shared.guard.check(url).await.map(String::from).map_err(WebhookError::UrlBlocked)
    }

    /// Saves a URL. The first one takes a paid fee; later ones are free, leave the secret as it is, and let an endpoint that
    /// was disabled or failed be sent to again.
    pub async fn save(
        &self,
        wallet: Address,
        url: &str,
        origin: Option<String>,
    ) -> Result<SavedWebhook, WebhookError> {
        let url = self.check_url(url).await?;
        let Shared { db, keys, bell, .. } = &*self.shared;
        let former = db.find_webhook(wallet).await?;
        let action = match former.and_then(|former| former.disabled_at) {
            Some(_) => AuditAction::WebhookEnabled,
            None => AuditAction::WebhookSaved,
        };
        let audit = self.audit(wallet, action, &url, origin);
        if let Some(webhook) = db.save_webhook(wallet, &url, &audit).await? {
            bell.notify_one();
            return Ok(SavedWebhook { webhook, secret: None });
        }
        let secret = WebhookSecret::generate();
        let sealed = keys.seal(wallet, &secret)?;
        let added = db.add_webhook(wallet, &url, &sealed, &audit).await?;
        let webhook = added.ok_or(WebhookError::FeeUnpaid)?;
        Ok(SavedWebhook { webhook, secret: Some(secret) })
    }

    /// A wallet's webhook.
    pub async fn find(&self, wallet: Address) -> Result<Option<WebhookRow>, WebhookError> {
        Ok(self.shared.db.find_webhook(wallet).await?)
    }

    /// Makes a new secret that takes over after `overlap`; until then both sign. One that waits to take over is replaced.
    pub async fn rotate(
        &self,
        wallet: Address,
        overlap: Duration,
        origin: Option<String>,
    ) -> Result<RotatedSecret, WebhookError> {
        let Shared { db, keys, clock, .. } = &*self.shared;
        let webhook = self.find(wallet).await?.ok_or(WebhookError::NotConfigured)?;
        let secret = WebhookSecret::generate();
        let audit = self.audit(wallet, AuditAction::WebhookRotated, &webhook.url, origin);
        let active_at = audit.at + millis(overlap);
        let change = SecretChange { sealed: keys.seal(wallet, &secret)?, active_at };
        let rotated = db.rotate_webhook(wallet, &change, &audit).await?;
        let webhook = rotated.ok_or(WebhookError::NotConfigured)?;
        let active_at = i64::try_from(active_at).ok().and_then(|at| Timestamp::from_millisecond(at).ok());
        Ok(RotatedSecret { webhook, secret, active_at: active_at.unwrap_or_else(|| clock()) })
    }

    /// A wallet's deliveries before this one, the last first.
    pub async fn deliveries(
        &self,
        wallet: Address,
        state: Option<DeliveryState>,
        before: Option<DeliveryId>,
        limit: u32,
    ) -> Result<Vec<DeliveryRow>, WebhookError> {
        Ok(self.shared.db.list_deliveries(wallet, state, before, limit).await?)
    }

    /// A wallet's delivery and its attempts.
    pub async fn delivery(
        &self,
        wallet: Address,
        id: DeliveryId,
    ) -> Result<(DeliveryRow, Vec<AttemptRow>), WebhookError> {
        let found = self.shared.db.find_delivery(wallet, id).await?;
        found.ok_or_else(|| self.missing(id))
    }

    /// Sends the event of a delivery again: the same bytes under the same event id, as a delivery of its own.
    pub async fn redeliver(&self, wallet: Address, id: DeliveryId) -> Result<DeliveryRow, WebhookError> {
        let Shared { db, clock, bell, .. } = &*self.shared;
        let now = unix_millis(clock());
        let new = DeliveryId::new(now, rand::random());
        match db.redeliver(wallet, id, new, now).await? {
            Redelivery::Queued(delivery) => {
                bell.notify_one();
                Ok(delivery)
            }
            Redelivery::Unknown => Err(self.missing(id)),
            Redelivery::NoWebhook => Err(WebhookError::NotConfigured),
        }
    }

    /// A wallet's events before this place, the last first.
    pub async fn events(
        &self,
        wallet: Address,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<EventRow>, WebhookError> {
        Ok(self.shared.db.list_events(wallet, before, limit).await?)
    }

    /// An id that leads nowhere: an old one was deleted, any other never was.
    fn missing(&self, id: DeliveryId) -> WebhookError {
        let age = unix_millis((self.shared.clock)()).saturating_sub(id.millis());
        if age > millis(RETENTION) { WebhookError::DeliveryPruned } else { WebhookError::DeliveryNotFound }
    }

    fn audit(&self, wallet: Address, action: AuditAction, url: &str, origin: Option<String>) -> AuditRow {
        let now = unix_millis((self.shared.clock)());
        AuditRow {
            id: AuditId::new(now, rand::random()),
            wallet: Some(wallet),
            actor: Actor::Wallet,
            action,
            target: host_of(url),
            origin,
            at: now,
        }
    }

    pub(crate) fn new_ids(now: u64) -> (EventId, DeliveryId) {
        (EventId::new(now, rand::random()), DeliveryId::new(now, rand::random()))
    }
}
