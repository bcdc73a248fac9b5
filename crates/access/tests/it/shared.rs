//! Limits that several replicas share through a real Redis.

use std::{
    net::Ipv4Addr,
    sync::Arc,
    time::{Duration, Instant},
};

use chainnet_access::{Client, Limiter, Quota, Sharing, Subject};
use jiff::Timestamp;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::redis::Redis;

const PATIENCE: Duration = Duration::from_secs(30);
/// Ten a second come back.
const LIMIT: u32 = 600;

/// One process, as far as limits are concerned.
struct Replica {
    limiter: Limiter,
    stop: CancellationToken,
    leaser: JoinHandle<()>,
}

impl Replica {
    fn start(url: &str) -> Self {
        let (limiter, leaser) = Limiter::shared(url, "test", Arc::new(Timestamp::now)).unwrap();
        let stop = CancellationToken::new();
        let leaser = tokio::spawn(leaser.run(stop.clone()));
        Self { limiter, stop, leaser }
    }

    async fn stop(self) {
        self.stop.cancel();
        self.leaser.await.unwrap();
    }

    async fn reaches(&self, sharing: Sharing) {
        let begin = Instant::now();
        while self.limiter.sharing() != sharing {
            assert!(begin.elapsed() < PATIENCE, "{:?}, not {sharing:?}", self.limiter.sharing());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    async fn take(&self, subject: Subject, cost: u32) -> bool {
        let now = Timestamp::now();
        let units = if cost > 1 { cost } else { 0 };
        self.limiter.prepare(subject, quota(), 1, units, now).await;
        self.limiter.take(subject, quota(), cost, now).is_granted
    }
}

fn quota() -> Quota {
    Quota::per_minute(LIMIT.try_into().unwrap())
}

fn client(last: u8) -> Subject {
    Subject::Client(Client::V4(Ipv4Addr::new(203, 0, 113, last)))
}

async fn three(redis: &Redis) -> Vec<Replica> {
    let replicas: Vec<_> = (0..3).map(|_| Replica::start(&redis.url())).collect();
    all_reach(&replicas, Sharing::Shared { replicas: 3 }).await;
    replicas
}

async fn all_reach(replicas: &[Replica], sharing: Sharing) {
    for replica in replicas {
        replica.reaches(sharing).await;
    }
}

/// Asks all replicas again and again for so long; answers how much they granted, and how much comes back in that time.
async fn use_up(replicas: &[Replica], subject: Subject, span: Duration) -> (u32, u32) {
    let begin = Instant::now();
    let mut granted = 0;
    while begin.elapsed() < span {
        for replica in replicas {
            granted += u32::from(replica.take(subject, 1).await);
        }
        tokio::task::yield_now().await;
    }
    let refilled = begin.elapsed().as_secs_f64() * f64::from(LIMIT) / 60.0;
    (granted, refilled.ceil() as u32)
}

/// What the replicas' advances come to.
const SLACK: u32 = LIMIT / 8;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicas_together_grant_the_limit() {
    let Some(redis) = Redis::start().await else { return };
    let replicas = three(&redis).await;
    let (granted, refilled) = use_up(&replicas, client(1), Duration::from_secs(2)).await;
    assert!(granted <= LIMIT + refilled + SLACK, "{granted} and {refilled} came back");
    assert!(granted >= LIMIT, "{granted}");
    let (more, refilled) = use_up(&replicas, client(1), Duration::from_secs(2)).await;
    assert!(more <= refilled + SLACK, "{more} and {refilled} came back");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_stays_with_one_replica_gets_the_whole_limit() {
    let Some(redis) = Redis::start().await else { return };
    let replicas = three(&redis).await;
    let mut granted = 0;
    while replicas[0].take(client(1), 1).await {
        granted += 1;
    }
    assert!((LIMIT..=LIMIT + SLACK).contains(&granted), "{granted}");
    // A batch is prepared for as a whole.
    let now = Timestamp::now();
    replicas[1].limiter.prepare(client(2), quota(), 100, 0, now).await;
    let passed = (0..100).filter(|_| replicas[1].limiter.take(client(2), quota(), 1, now).is_granted).count();
    assert_eq!(passed, 100);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn heavy_methods_share_their_units_too() {
    let Some(redis) = Redis::start().await else { return };
    let replicas = three(&redis).await;
    // 3000 units are 60 of 50; what comes back meanwhile is one a second.
    let begin = Instant::now();
    let mut granted = 0;
    while begin.elapsed() < Duration::from_secs(1) {
        for replica in &replicas {
            granted += u32::from(replica.take(client(1), 50).await);
        }
    }
    let most = 60 + 60 / 8 + begin.elapsed().as_secs() as u32 + 2;
    assert!((55..=most).contains(&granted), "{granted}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_redis_the_replicas_have_their_shares_and_with_it_again_the_whole() {
    let Some(mut redis) = Redis::start().await else { return };
    let replicas = three(&redis).await;
    let (granted, _) = use_up(&replicas, client(1), Duration::from_secs(1)).await;
    assert!(granted >= LIMIT, "{granted}");

    redis.kill().await;
    let (until_lost, refilled) = use_up(&replicas, client(1), Duration::from_secs(2)).await;
    assert!(until_lost <= refilled + SLACK, "{until_lost} and {refilled} came back");
    all_reach(&replicas, Sharing::Lost { replicas: 3 }).await;
    let (used_up, refilled) = use_up(&replicas, client(1), Duration::from_secs(2)).await;
    assert!((1..=refilled + SLACK).contains(&used_up), "{used_up} and {refilled} came back");
    let (fresh, refilled) = use_up(&replicas, client(2), Duration::from_secs(1)).await;
    assert!((1..=LIMIT + refilled).contains(&fresh), "{fresh}");

    redis.start_again().await;
    all_reach(&replicas, Sharing::Shared { replicas: 3 }).await;
    let (granted, refilled) = use_up(&replicas, client(3), Duration::from_secs(2)).await;
    assert!((LIMIT..=LIMIT + refilled + SLACK).contains(&granted), "{granted}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_leaves_gives_everything_back() {
    let Some(redis) = Redis::start().await else { return };
    let replicas = three(&redis).await;
    for replica in &replicas {
        assert!(replica.take(client(1), 1).await);
    }
    for replica in replicas {
        replica.stop().await;
    }
    assert_eq!(redis.ask(&["ZCARD", "chainnet:test:replicas"]).await, 0);
    // Three requests were used: 300 ms of the minute. A key that is gone says -2.
    let used = redis.ask(&["PTTL", "chainnet:test:requests:ip:203.0.113.1"]).await;
    assert!(used <= 300, "{used}");
}

#[tokio::test]
async fn a_replica_that_never_met_redis_is_not_open() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("redis://{}", listener.local_addr().unwrap());
    drop(listener);
    let replica = Replica::start(&url);
    let now = Timestamp::now();
    let granted = (0..10_000).filter(|_| replica.limiter.take(client(1), quota(), 1, now).is_granted).count();
    assert!((1..=LIMIT as usize / 10).contains(&granted), "{granted}");
    assert!(matches!(replica.limiter.sharing(), Sharing::Lost { .. }));
    replica.stop().await;
}

#[test]
fn a_url_that_is_none_is_refused() {
    assert!(Limiter::shared("nonsense", "test", Arc::new(Timestamp::now)).is_err());
}
