//! Limits that several replicas share through a real Redis.

use std::{
    net::Ipv4Addr,
    sync::Arc,
    time::{Duration, Instant},
};

use chainnet_access::{Client, Counting, Limiter, Quota, Sharing, Subject, UniformLimiter};
use jiff::Timestamp;
use testkit::Redis;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

const PATIENCE: Duration = Duration::from_secs(30);
const SECOND: Duration = Duration::from_secs(1);
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

/// What the server answers to a command.
async fn ask(server: &Redis, command: &[&str]) -> i64 {
    ask_for(server, command).await
}

async fn ask_for<T: redis::FromRedisValue>(server: &Redis, command: &[&str]) -> T {
    let client = redis::Client::open(server.url()).unwrap();
    let mut link = client.get_multiplexed_async_connection().await.unwrap();
    let (name, arguments) = command.split_first().unwrap();
    redis::cmd(name).arg(arguments).query_async(&mut link).await.unwrap()
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

/// How long replicas may know no better than that there is nothing: they ask again after a second.
const AGAIN: Duration = Duration::from_millis(1_500);

/// Asks all replicas in turn until they have refused a subject for long enough, and tells how often they did not.
async fn exhaust(replicas: &[Replica], subject: Subject, cost: u32) -> u32 {
    let (begin, mut last, mut granted) = (Instant::now(), Instant::now(), 0);
    while last.elapsed() < AGAIN {
        assert!(begin.elapsed() < PATIENCE, "{granted} were granted");
        let before = granted;
        for replica in replicas {
            granted += u32::from(replica.take(subject, cost).await);
        }
        if granted == before {
            tokio::time::sleep(Duration::from_millis(5)).await;
        } else {
            last = Instant::now();
        }
    }
    granted
}

/// Asks all replicas in turn for so long.
async fn use_for(span: Duration, replicas: &[Replica], subject: Subject) -> u32 {
    let (begin, mut granted) = (Instant::now(), 0);
    while begin.elapsed() < span {
        for replica in replicas {
            granted += u32::from(replica.take(subject, 1).await);
        }
        tokio::task::yield_now().await;
    }
    granted
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicas_together_grant_the_limit() {
    let Some(redis) = Redis::start().await.unwrap() else { return };
    let replicas = three(&redis).await;
    assert_eq!(exhaust(&replicas, client(1), 1).await, LIMIT);
    assert_eq!(use_for(3 * SECOND, &replicas, client(1)).await, 0, "in the same minute");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_stays_with_one_replica_gets_the_whole_limit() {
    let Some(redis) = Redis::start().await.unwrap() else { return };
    let replicas = three(&redis).await;
    assert_eq!(exhaust(&replicas[..1], client(1), 1).await, LIMIT);
    // A batch is prepared for as a whole.
    let now = Timestamp::now();
    replicas[1].limiter.prepare(client(2), quota(), 100, 0, now).await;
    let passed = (0..100).filter(|_| replicas[1].limiter.take(client(2), quota(), 1, now).is_granted).count();
    assert_eq!(passed, 100);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn heavy_methods_share_their_units_too() {
    let Some(redis) = Redis::start().await.unwrap() else { return };
    let replicas = three(&redis).await;
    // 3000 units are 60 of 50.
    assert_eq!(exhaust(&replicas, client(1), 50).await, 60);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_redis_the_replicas_have_their_shares_and_with_it_again_the_whole() {
    let Some(mut redis) = Redis::start().await.unwrap() else { return };
    let replicas = three(&redis).await;
    assert_eq!(exhaust(&replicas[..1], client(1), 1).await, LIMIT);

    redis.kill().await.unwrap();
    all_reach(&replicas, Sharing::Lost { replicas: 3 }).await;
    assert_eq!(
        exhaust(&replicas[..1], client(1), 1).await,
        0,
        "it has granted more than its share in this minute"
    );
    let fresh = use_for(SECOND, &replicas, client(2)).await;
    assert!((LIMIT / 8..=LIMIT).contains(&fresh), "{fresh}");

    redis.start_again().await.unwrap();
    all_reach(&replicas, Sharing::Shared { replicas: 3 }).await;
    assert_eq!(exhaust(&replicas, client(3), 1).await, LIMIT);
    // Redis has lost its memory, the replicas have not.
    assert_eq!(exhaust(&replicas, client(1), 1).await, 0);
    assert_eq!(exhaust(&replicas, client(2), 1).await, LIMIT - fresh);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_leaves_gives_everything_back() {
    let Some(redis) = Redis::start().await.unwrap() else { return };
    let replicas = three(&redis).await;
    for replica in &replicas {
        assert!(replica.take(client(1), 1).await);
    }
    for replica in replicas {
        replica.stop().await;
    }
    assert_eq!(ask(&redis, &["ZCARD", "chainnet:test:replicas"]).await, 0);
    let counts =
        ask_for::<Vec<i64>>(&redis, &["HVALS", "chainnet:test:leased:requests:ip:203.0.113.1"]).await;
    assert_eq!(counts.iter().sum::<i64>(), 3, "what was used");
    let life = ask(&redis, &["TTL", "chainnet:test:leased:requests:ip:203.0.113.1"]).await;
    assert!((1..=62).contains(&life), "{life}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_limit_that_is_the_same_for_everybody_is_shared_and_counted_for_its_purpose() {
    let Some(redis) = Redis::start().await.unwrap() else { return };
    let replicas = three(&redis).await;
    let limiters = |purpose| -> Vec<Arc<UniformLimiter>> {
        let counting = replicas.iter().map(|replica| Counting::shared(replica.limiter.clone()));
        counting.map(|counting| Arc::new(counting.limiter(purpose, LIMIT))).collect()
    };
    let who = Client::V4(Ipv4Addr::new(203, 0, 113, 9));
    // Many at once, of somebody who is new here: nobody is refused while there is something left.
    let mut asking = tokio::task::JoinSet::new();
    for _ in 0..LIMIT / 2 {
        let limiter = limiters("rest")[0].clone();
        asking.spawn(async move { limiter.take(who, Timestamp::now()).await.is_granted });
    }
    let mut granted = asking.join_all().await.into_iter().filter(|is_granted| *is_granted).count() as u32;
    assert_eq!(granted, LIMIT / 2);
    for limiter in limiters("rest") {
        while limiter.take(who, Timestamp::now()).await.is_granted {
            granted += 1;
        }
    }
    assert_eq!(granted, LIMIT);
    for limiter in limiters("claims") {
        assert!(limiter.take(who, Timestamp::now()).await.is_granted, "another purpose");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_met_redis_shares_from_the_first_request_on() {
    let Some(redis) = Redis::start().await.unwrap() else { return };
    let (limiter, mut leaser) = Limiter::shared(&redis.url(), "test", Arc::new(Timestamp::now)).unwrap();
    leaser.meet().await;
    assert_eq!(limiter.sharing(), Sharing::Shared { replicas: 1 });
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
