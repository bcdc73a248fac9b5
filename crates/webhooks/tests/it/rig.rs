//! A database, a clock that tests move, and workers that can be stopped or killed.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use access::Clock;
use alloy_primitives::{Address, B256};
use chainnet_webhooks::{
    Guard, GuardSettings, SealingKeys, Sender, SenderLimits, SystemResolver, WebhookMetrics, WebhookSecret,
    Webhooks, Worker, WorkerParts, WorkerSettings,
};
use domain::{
    Wei,
    portal::{DeliveryId, DeliveryState, EventId, EventType, OrderId, OrderState},
};
use jiff::Timestamp;
use store::{
    Db,
    portal::{AttemptRow, DeliveryRow, OrderRow, Purchase, WebhookRow},
};
use tokio::{
    sync::Notify,
    task::JoinHandle,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

/// Longer than anything here takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
pub(crate) const NOW: u64 = 1_767_225_600_000;
pub(crate) const SECOND: u64 = 1_000;
pub(crate) const HOUR: u64 = 3_600 * SECOND;
pub(crate) const DAY: u64 = 24 * HOUR;

pub(crate) fn wallet(number: u64) -> Address {
    Address::left_padding_from(&(0xf000_0000 + number).to_be_bytes())
}

pub(crate) struct Rig {
    pub(crate) db: Db,
    pub(crate) webhooks: Webhooks,
    pub(crate) settings: WorkerSettings,
    pub(crate) metrics: WebhookMetrics,
    pub(crate) sender: Sender,
    pub(crate) bell: Arc<Notify>,
    keys: Arc<SealingKeys>,
    now: Arc<AtomicU64>,
}

/// A running worker.
pub(crate) struct Running {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Running {
    /// Ends it in order.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.task.await.expect("the worker ends");
    }

    /// Ends it wherever it is, as `kill -9` would.
    pub(crate) async fn kill(self) {
        self.task.abort();
        let _ = self.task.await;
    }
}

impl Rig {
    /// A rig whose attempts may take as long as in production, to anywhere.
    pub(crate) fn new(db: Db) -> Self {
        Self::with_limits(db, SenderLimits::default())
    }

    /// A rig whose attempts end after this time.
    pub(crate) fn impatient(db: Db, attempt: Duration) -> Self {
        Self::with_limits(db, SenderLimits { attempt, connect: attempt })
    }

    fn with_limits(db: Db, limits: SenderLimits) -> Self {
        let settings = GuardSettings { allow_private: true, ..GuardSettings::default() };
        Self::guarded(db, Guard::new(settings, Arc::new(SystemResolver)), limits)
    }

    pub(crate) fn guarded(db: Db, guard: Guard, limits: SenderLimits) -> Self {
        let now = Arc::new(AtomicU64::new(NOW));
        let guard = Arc::new(guard);
        let keys = Arc::new(SealingKeys::new([(1, [7; 32])]).unwrap());
        let bell = Arc::new(Notify::new());
        let sender = Sender::new(Arc::clone(&guard), limits);
        let clock = clock(&now);
        let webhooks =
            Webhooks::new(db.clone(), guard, sender.clone(), Arc::clone(&keys), clock, Arc::clone(&bell));
        let (settings, metrics) = (WorkerSettings::default(), WebhookMetrics::default());
        Self { db, webhooks, settings, metrics, sender, bell, keys, now }
    }

    pub(crate) fn now(&self) -> u64 {
        self.now.load(Ordering::SeqCst)
    }

    /// Moves the time on, and lets workers notice.
    pub(crate) fn advance(&self, millis: u64) {
        self.now.fetch_add(millis, Ordering::SeqCst);
        self.bell.notify_one();
    }

    pub(crate) fn parts(&self) -> WorkerParts {
        WorkerParts {
            db: self.db.clone(),
            sender: self.sender.clone(),
            keys: Arc::clone(&self.keys),
            clock: clock(&self.now),
            bell: Arc::clone(&self.bell),
            metrics: self.metrics.clone(),
            settings: self.settings.clone(),
        }
    }

    pub(crate) fn work(&self) -> Running {
        let stop = CancellationToken::new();
        let task = tokio::spawn(Worker::new(self.parts()).run(stop.clone()));
        Running { stop, task }
    }

    /// Gives a wallet an order for a webhook that is paid.
    pub(crate) async fn pay_fee(&self, wallet: Address) {
        let order = OrderRow {
            id: OrderId::new(self.now(), rand::random()),
            wallet,
            purchase: Purchase::Webhook,
            amount: Wei::from_coin(1),
            reference: B256::new(rand::random()),
            state: OrderState::Paid,
            created_at: self.now(),
            expires_at: self.now() + HOUR,
            paid_at: Some(self.now()),
            claimed_at: None,
        };
        self.db.open_webhook_order(&order).await.unwrap();
    }

    /// Pays for a wallet's webhook and saves it.
    pub(crate) async fn webhook(&self, wallet: Address, url: &str) -> WebhookSecret {
        self.pay_fee(wallet).await;
        self.webhooks.save(wallet, url, None).await.unwrap().secret.unwrap()
    }

    /// Adds an event that is to be delivered, and rings.
    pub(crate) async fn event(&self, wallet: Address, kind: EventType) -> (EventId, DeliveryId) {
        let ids = self.quiet_event(wallet, kind).await;
        self.bell.notify_one();
        ids
    }

    pub(crate) async fn quiet_event(&self, wallet: Address, kind: EventType) -> (EventId, DeliveryId) {
        let (at, event_id) = (self.now(), EventId::new(self.now(), rand::random()));
        let delivery = DeliveryId::new(at, rand::random());
        let body = |sequence| {
            format!("{{\"id\":\"{event_id}\",\"type\":\"{kind}\",\"sequence\":{sequence},\"data\":{{}}}}")
                .into_bytes()
        };
        let added = self.db.add_event((event_id, kind), wallet, Some(delivery), at, body).await.unwrap();
        added.expect("the wallet exists");
        (event_id, delivery)
    }

    pub(crate) async fn pay(&self, wallet: Address) -> (EventId, DeliveryId) {
        self.event(wallet, EventType::PaymentCompleted).await
    }

    pub(crate) async fn delivery(&self, wallet: Address, id: DeliveryId) -> (DeliveryRow, Vec<AttemptRow>) {
        self.webhooks.delivery(wallet, id).await.unwrap()
    }

    pub(crate) async fn endpoint(&self, wallet: Address) -> WebhookRow {
        self.webhooks.find(wallet).await.unwrap().unwrap()
    }

    /// Waits until a delivery has this state and so many attempts were written down.
    pub(crate) async fn reaches(
        &self,
        wallet: Address,
        id: DeliveryId,
        state: DeliveryState,
        attempts: usize,
    ) -> DeliveryRow {
        let mut last = None;
        until(async || {
            let (row, tried) = self.delivery(wallet, id).await;
            let is_there = row.state == state && tried.len() == attempts;
            last = Some((row, tried.len()));
            is_there
        })
        .await
        .unwrap_or_else(|()| panic!("{last:?} is not {state} after {attempts}"));
        // The row may have been read before, and the attempts after they were written.
        self.delivery(wallet, id).await.0
    }

    /// Waits until so many of a wallet's attempts have succeeded and failed.
    pub(crate) async fn counted(&self, wallet: Address, delivered: u64, failed: u64) {
        let mut last = None;
        until(async || {
            let row = self.endpoint(wallet).await;
            last = Some((row.delivered_count, row.failed_count));
            last == Some((delivered, failed))
        })
        .await
        .unwrap_or_else(|()| panic!("{last:?} is not {:?}", (delivered, failed)));
    }
}

fn clock(now: &Arc<AtomicU64>) -> Clock {
    let now = Arc::clone(now);
    Arc::new(move || {
        let millis = i64::try_from(now.load(Ordering::SeqCst)).expect("a time");
        Timestamp::from_millisecond(millis).expect("a time")
    })
}

/// Waits until something holds.
pub(crate) async fn until(mut holds: impl AsyncFnMut() -> bool) -> Result<(), ()> {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        if holds().await {
            return Ok(());
        }
        sleep(Duration::from_millis(5)).await;
    }
    Err(())
}
