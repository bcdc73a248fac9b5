//! The task that speaks with Redis.

use std::{
    collections::VecDeque,
    num::NonZeroU32,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use redis::{RedisError, aio::MultiplexedConnection};
use tokio::{
    sync::mpsc,
    time::{Interval, MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

use super::{
    Ask, MOST_ASKS, SharedLimiter,
    ledger::{Claim, Ledger},
};
use crate::{
    Clock,
    limit::{Meter, gcra::nanoseconds},
};

/// Between two signs of life. A Redis that is back is used after two of them.
const BEAT_EVERY: Duration = Duration::from_secs(1);
/// Between two looks for tokens that nobody uses.
const SETTLE_EVERY: Duration = Duration::from_secs(2);
/// Counts of replicas that are remembered, one a beat.
const COUNTS: usize = 5;
/// Claims that go to Redis at once.
const CLAIMS_AT_ONCE: usize = 256;

/// The limits cannot be shared.
#[derive(Debug, thiserror::Error)]
#[error("the address of Redis is not understood")]
pub struct SharedLimitsError(#[source] RedisError);

/// Fetches leases for a limiter, and keeps count of the replicas.
pub struct Leaser {
    limiter: Arc<SharedLimiter>,
    ledger: Ledger,
    asks: mpsc::Receiver<Ask>,
    /// This replica's name among the others.
    replica: String,
    clock: Clock,
    link: Option<MultiplexedConnection>,
    /// Whether Redis answered the last sign of life after it was gone.
    is_back: bool,
    /// How many replicas Redis knew of lately.
    counts: VecDeque<u32>,
}

impl Leaser {
    /// A limiter and its leaser. Redis need not answer yet.
    pub(in crate::limit) fn new(
        url: &str,
        namespace: &str,
        clock: Clock,
    ) -> Result<(Arc<SharedLimiter>, Self), SharedLimitsError> {
        let ledger = Ledger::new(url, namespace).map_err(SharedLimitsError)?;
        let (sender, asks) = mpsc::channel(MOST_ASKS);
        let limiter = Arc::new(SharedLimiter::new(sender, nanoseconds(clock())));
        let replica = format!("{:032x}", rand::random::<u128>());
        Ok((
            limiter.clone(),
            Self {
                limiter,
                ledger,
                asks,
                replica,
                clock,
                link: None,
                is_back: false,
                counts: VecDeque::new(),
            },
        ))
    }

    /// Meets Redis and the other replicas, so that the first requests are counted with theirs. Redis need not answer: then it
    /// is tried again in [`Self::run`].
    pub async fn meet(&mut self) {
        self.beat().await;
    }

    /// Works until told to stop; then gives everything back.
    pub async fn run(mut self, stop: CancellationToken) {
        let (mut beats, mut settling) = (every(BEAT_EVERY), every(SETTLE_EVERY));
        let mut asks = Vec::with_capacity(CLAIMS_AT_ONCE);
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                _ = beats.tick() => self.beat().await,
                _ = settling.tick() => self.settle(false).await,
                _ = self.asks.recv_many(&mut asks, CLAIMS_AT_ONCE) => {
                    self.lease(&asks).await;
                    asks.clear();
                }
            }
        }
        self.settle(true).await;
        if let Some(link) = &mut self.link
            && let Err(error) = self.ledger.leave(link, &self.replica).await
        {
            tracing::debug!(%error, "Redis was not told of the end");
        }
    }

    fn now(&self) -> u64 {
        nanoseconds((self.clock)())
    }

    /// A sign of life; connects if there is no connection.
    async fn beat(&mut self) {
        let is_first = self.counts.is_empty();
        match self.register().await {
            Ok(count) => {
                let replicas = self.count(count);
                self.limiter.replicas.store(replicas, Ordering::Relaxed);
                if self.limiter.lost_at.load(Ordering::Relaxed) > 0 {
                    self.come_back(is_first, replicas).await;
                }
            }
            Err(error) => self.lose(&error),
        }
    }

    /// Redis answers again. First every replica charges what it granted on its own; a beat later all have done so, and
    /// there are leases again.
    async fn come_back(&mut self, is_first: bool, replicas: u32) {
        self.settle(false).await;
        if self.link.is_some() && (is_first || self.is_back) {
            self.limiter.lost_at.store(0, Ordering::Relaxed);
            tracing::info!(replicas, "limits are shared through Redis");
        }
        self.is_back = self.link.is_some();
    }

    /// The most replicas that were there lately: a Redis that has started anew knows only the first to come back.
    fn count(&mut self, replicas: u32) -> u32 {
        self.counts.push_back(replicas);
        if self.counts.len() > COUNTS {
            self.counts.pop_front();
        }
        self.counts.iter().copied().max().unwrap_or(1).max(1)
    }

    async fn register(&mut self) -> Result<u32, RedisError> {
        let link = match &mut self.link {
            Some(link) => link,
            None => self.link.insert(self.ledger.connect().await?),
        };
        self.ledger.register(link, &self.replica).await
    }

    /// Redis is gone: from now on each replica has its share.
    fn lose(&mut self, error: &RedisError) {
        (self.link, self.is_back) = (None, false);
        let now = self.now().max(1);
        let first = self.limiter.lost_at.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
        if first.is_ok() {
            let replicas = self.limiter.replicas.load(Ordering::Relaxed);
            tracing::warn!(%error, replicas, "Redis is gone; every replica has its share of the limits");
        }
    }

    /// Fetches what was asked for.
    async fn lease(&mut self, asks: &[Ask]) {
        let at = self.limiter.circumstances(self.now());
        let claims: Vec<Claim> = asks
            .iter()
            .filter_map(|&Ask { subject, meter, wanted }| {
                let claim = self.limiter.subjects.with_known(subject, |account| {
                    let limit = account.quota?.of(meter);
                    let debt = account.purse(meter).take_debt(limit, at);
                    Some(Claim { subject, meter, limit, debt, returned: 0, wanted })
                });
                claim.flatten()
            })
            .collect();
        self.claim(&claims).await;
        self.limiter.answers.notify_waiters();
    }

    /// Gives back what was not used since the last time, and charges debts of those who do not ask again.
    async fn settle(&mut self, is_end: bool) {
        let at = self.limiter.circumstances(self.now());
        let mut claims = Vec::new();
        for mut accounts in self.limiter.subjects.shards() {
            for (&subject, account) in accounts.iter_mut() {
                let Some(quota) = account.quota else { continue };
                for meter in [Meter::Requests, Meter::Units] {
                    let limit: NonZeroU32 = quota.of(meter);
                    let purse = account.purse(meter);
                    let returned = purse.give_up(is_end);
                    if returned > 0 || (self.link.is_some() && purse.has_old_debt()) {
                        let debt = purse.take_debt(limit, at);
                        claims.push(Claim { subject, meter, limit, debt, returned, wanted: 0 });
                    }
                }
            }
        }
        for some in claims.chunks(CLAIMS_AT_ONCE) {
            self.claim(some).await;
        }
    }

    /// Settles claims with Redis, or undoes what was done for them.
    async fn claim(&mut self, claims: &[Claim]) {
        if claims.is_empty() {
            return;
        }
        let answers = match &mut self.link {
            Some(link) => self.ledger.settle(link, claims).await.map_err(Some),
            None => Err(None),
        };
        match answers {
            Ok(leases) => {
                let now = self.now();
                for (claim, lease) in claims.iter().zip(leases) {
                    self.limiter.subjects.with_known(claim.subject, |account| {
                        let purse = account.purse(claim.meter);
                        if claim.wanted > 0 { purse.receive(lease, now) } else { purse.note(lease) }
                    });
                }
            }
            Err(error) => {
                claims.iter().for_each(|claim| self.undo(claim));
                if let Some(error) = error {
                    self.lose(&error);
                }
            }
        }
    }

    /// What a claim was to charge is still owed. Tokens that were given up are lost: they come back with time.
    fn undo(&self, claim: &Claim) {
        self.limiter.subjects.with_known(claim.subject, |account| {
            let purse = account.purse(claim.meter);
            purse.put_back(claim.debt);
            if claim.wanted > 0 {
                purse.forget_ask();
            }
        });
    }
}

fn every(period: Duration) -> Interval {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}
