//! The limits in Redis: what was leased in each second of the last minute, per subject and meter; the list of replicas; and a mark by
//! which a Redis that has lost its memory is known.
//!
//! Redis counts by its own clock, so that the replicas' clocks need not agree. Every script is on one key.

use std::{num::NonZeroU32, time::Duration};

use redis::{AsyncConnectionConfig, Client, RedisResult, Script, aio::MultiplexedConnection};

use super::balance::{LIFE_MS, Lease, Returned};
use crate::{
    Client as Asker,
    limit::{Meter, Subject, window::MINUTE_MS},
};

const CONNECT_TIME_LIMIT: Duration = Duration::from_millis(500);
const ANSWER_TIME_LIMIT: Duration = Duration::from_millis(500);
/// A replica that was not heard of for so long is gone.
const REPLICA_LIFE_MS: u32 = 5_000;
/// Seconds that a lease counts beyond the one it was made in: wherever in that it was made and whenever in its life a token is used,
/// a minute after its use is covered.
const SPAN_SECONDS: u64 = (MINUTE_MS + LIFE_MS).div_ceil(1_000);

const LEASE: &str = include_str!("lease.lua");
const REGISTER: &str = include_str!("register.lua");

/// What a replica wants of a subject's limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) subject: Subject,
    pub(super) meter: Meter,
    pub(super) limit: NonZeroU32,
    /// What was granted without tokens.
    pub(super) debt: u32,
    /// Tokens that are not needed any more.
    pub(super) returned: Returned,
    /// Tokens that are wanted.
    pub(super) wanted: u32,
    /// With fewer than these the replica can do nothing.
    pub(super) needed: u32,
}

/// Where the limits are.
pub(super) struct Ledger {
    client: Client,
    /// What the names of our keys begin with.
    prefix: String,
    lease: Script,
    register: Script,
}

impl Ledger {
    pub(super) fn new(url: &str, namespace: &str) -> RedisResult<Self> {
        Ok(Self {
            client: Client::open(url)?,
            prefix: format!("chainnet:{namespace}"),
            lease: Script::new(LEASE),
            register: Script::new(REGISTER),
        })
    }

    /// A connection that knows the scripts.
    pub(super) async fn connect(&self) -> RedisResult<MultiplexedConnection> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT_TIME_LIMIT))
            .set_response_timeout(Some(ANSWER_TIME_LIMIT));
        let mut link = self.client.get_multiplexed_async_connection_with_config(&config).await?;
        self.lease.load_async(&mut link).await?;
        self.register.load_async(&mut link).await?;
        Ok(link)
    }

    /// Says that a replica is there, and answers how many there are.
    pub(super) async fn register(&self, link: &mut MultiplexedConnection, replica: &str) -> RedisResult<u32> {
        let list = format!("{}:replicas", self.prefix);
        self.register.key(list).arg(replica).arg(REPLICA_LIFE_MS).invoke_async(link).await
    }

    /// What the first to meet this memory of Redis left there by chance: if it is something else than before, the memory was lost.
    pub(super) async fn memory(&self, link: &mut MultiplexedConnection) -> RedisResult<String> {
        let (mark, chance) = (format!("{}:memory", self.prefix), format!("{:032x}", rand::random::<u128>()));
        let mut commands = redis::pipe();
        commands.cmd("SET").arg(&mark).arg(chance).arg("NX").ignore().cmd("GET").arg(&mark);
        let (found,): (String,) = commands.query_async(link).await?;
        Ok(found)
    }

    /// Says that a replica goes.
    pub(super) async fn leave(&self, link: &mut MultiplexedConnection, replica: &str) -> RedisResult<()> {
        let list = format!("{}:replicas", self.prefix);
        redis::cmd("ZREM").arg(list).arg(replica).exec_async(link).await
    }

    /// Settles claims in one round trip, and answers each.
    pub(super) async fn settle(
        &self,
        link: &mut MultiplexedConnection,
        claims: &[Claim],
    ) -> RedisResult<Vec<Lease>> {
        let mut commands = redis::pipe();
        for claim in claims {
            commands
                .cmd("EVALSHA")
                .arg(self.lease.get_hash())
                .arg(1)
                .arg(format!("{}:leased:{}:{}", self.prefix, claim.meter.name(), name(claim.subject)))
                .arg(SPAN_SECONDS)
                .arg(claim.limit.get())
                .arg(claim.debt)
                .arg(claim.returned.tokens)
                .arg(claim.returned.leased_in)
                .arg(claim.wanted)
                .arg(claim.needed);
        }
        let answers: Vec<(u32, u32, u64, u64)> = commands.query_async(link).await?;
        let leases = answers.into_iter().map(|(granted, left, wait, second)| Lease {
            granted,
            left,
            wait: Duration::from_micros(wait),
            second,
        });
        Ok(leases.collect())
    }
}

/// A subject in the name of a key.
fn name(subject: Subject) -> String {
    match subject {
        Subject::Client(Asker::V4(address)) => format!("ip:{address}"),
        Subject::Client(Asker::V6(network)) => format!("net:{:016x}", u64::from_be_bytes(network)),
        Subject::Key(id) => format!("key:{id}"),
        Subject::Counted { purpose, number } => format!("{purpose}:{number:032x}"),
    }
}
