//! The task that speaks with Redis.

use std::{
    collections::VecDeque,
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
use crate::{Clock, limit::window::milliseconds};

/// Between two signs of life. A Redis that is back is used after two of them.
const BEAT_EVERY: Duration = Duration::from_secs(1);
/// Between two looks for tokens whose life is over.
const SETTLE_EVERY: Duration = Duration::from_secs(1);
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
    /// Which memory Redis had when it last answered.
    memory: Option<String>,
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
        let limiter = Arc::new(SharedLimiter::new(sender, clock.clone()));
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
                memory: None,
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
        milliseconds((self.clock)())
    }

    /// A sign of life; connects if there is no connection.
    async fn beat(&mut self) {
        let is_first = self.counts.is_empty();
        match self.register().await {
            Ok((count, memory)) => {
                let known = self.memory.replace(memory);
                if known.is_some() && known != self.memory {
                    self.owe_everything();
                }
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

    /// How many replicas there are, and which memory Redis has.
    async fn register(&mut self) -> Result<(u32, String), RedisError> {
        let link = match &mut self.link {
            Some(link) => link,
            None => self.link.insert(self.ledger.connect().await?),
        };
        let count = self.ledger.register(link, &self.replica).await?;
        Ok((count, self.ledger.memory(link).await?))
    }

    /// Redis has lost its memory: it is told again what was granted in the last minute.
    fn owe_everything(&self) {
        tracing::warn!("Redis has lost its memory; it is told again what was granted");
        let now = self.now();
        for mut accounts in self.limiter.subjects.shards() {
            let balances = accounts.values_mut().flat_map(|account| account.balances());
            balances.for_each(|(_, _, balance)| balance.owe_everything(now));
        }
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
        let now = self.now();
        let claims: Vec<Claim> = asks
            .iter()
            .filter_map(|&Ask { subject, meter, wanted, needed }| {
                let claim = self.limiter.subjects.with_known(subject, |account| {
                    let limit = account.quota?.of(meter);
                    let balance = account.balance(meter);
                    let (debt, returned) = (balance.take_debt(now), balance.give_up());
                    Some(Claim { subject, meter, limit, debt, returned, wanted, needed })
                });
                claim.flatten()
            })
            .collect();
        self.claim(&claims, now).await;
        self.limiter.answers.notify_waiters();
    }

    /// Gives back what was not used in its life, or at the end all, and charges debts of those who do not ask again.
    async fn settle(&mut self, is_end: bool) {
        let now = self.now();
        let mut claims = Vec::new();
        for mut accounts in self.limiter.subjects.shards() {
            for (&subject, account) in accounts.iter_mut() {
                for (meter, limit, balance) in account.balances() {
                    let returned = if is_end { balance.give_up() } else { balance.give_up_old(now) };
                    let has_debt = self.link.is_some() && balance.has_old_debt();
                    if returned.tokens > 0 || has_debt {
                        let debt = balance.take_debt(now);
                        claims.push(Claim { subject, meter, limit, debt, returned, wanted: 0, needed: 0 });
                    }
                }
            }
        }
        for some in claims.chunks(CLAIMS_AT_ONCE) {
            self.claim(some, now).await;
        }
    }

    /// Settles claims with Redis, or undoes what was done for them.
    async fn claim(&mut self, claims: &[Claim], asked_at: u64) {
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
                        let balance = account.balance(claim.meter);
                        match claim.wanted {
                            0 => balance.note(lease),
                            _ => balance.receive(lease, asked_at, now),
                        }
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
            let balance = account.balance(claim.meter);
            balance.put_back(claim.debt);
            if claim.wanted > 0 {
                balance.forget_ask();
            }
        });
    }
}

fn every(period: Duration) -> Interval {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}
