//! Filters in Redis, so that any replica of the gateway can answer any poll without sticky sessions.
//!
//! A filter is a hash with its text and its number of polls; it expires by itself. Two sorted sets by time of expiry, one
//! of its owner's filters and one of all, hold the bounds. Every change is one script, so that two replicas never both
//! move a filter. Without Redis polls are refused for the moment: a filter that was forgotten would be a silent gap.

use std::{sync::LazyLock, time::Duration};

use async_trait::async_trait;
use redis::{
    AsyncCommands, Client, Script,
    aio::{ConnectionManager, ConnectionManagerConfig},
};

use super::{
    FilterStore, InstallError, LIFETIME, MOST_OF_ALL, MOST_OF_ONE, Unreachable,
    installed::{FilterId, Installed},
};

/// How long Redis may take to answer.
const PATIENCE: Duration = Duration::from_secs(1);

const NOW: &str = "local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
";

/// Keys: the filter, its owner's, all. Arguments: id, text, lifetime, most of one, most of all.
const INSTALL: &str = "
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[4]) then return 1 end
if redis.call('ZCARD', KEYS[3]) >= tonumber(ARGV[5]) then return 2 end
redis.call('HSET', KEYS[1], 'polls', 0, 'filter', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('ZADD', KEYS[2], now + ARGV[3], ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
redis.call('ZADD', KEYS[3], now + ARGV[3], ARGV[1])
return 0
";

/// Keys as above. Arguments: id, text, lifetime, polls before, polls after.
const ADVANCE: &str = "
if redis.call('HGET', KEYS[1], 'polls') ~= ARGV[4] then return 0 end
redis.call('HSET', KEYS[1], 'polls', ARGV[5], 'filter', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('ZADD', KEYS[2], 'XX', now + ARGV[3], ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
redis.call('ZADD', KEYS[3], 'XX', now + ARGV[3], ARGV[1])
return 1
";

/// Keys as above. Argument: id.
const REMOVE: &str = "
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZREM', KEYS[3], ARGV[1])
return redis.call('DEL', KEYS[1])
";

static INSTALL_SCRIPT: LazyLock<Script> = LazyLock::new(|| Script::new(&format!("{NOW}{INSTALL}")));
static ADVANCE_SCRIPT: LazyLock<Script> = LazyLock::new(|| Script::new(&format!("{NOW}{ADVANCE}")));
static REMOVE_SCRIPT: LazyLock<Script> = LazyLock::new(|| Script::new(REMOVE));

/// Why Redis cannot be used at all.
#[derive(Debug, thiserror::Error)]
#[error("the address of Redis cannot be used")]
pub struct RedisFiltersError(#[from] redis::RedisError);

/// Filters that all replicas share.
#[derive(Clone)]
pub struct RedisFilters {
    connection: ConnectionManager,
    prefix: String,
}

impl RedisFilters {
    /// Filters of one network's gateway in the Redis at this address. It is connected to when it is first needed, and
    /// again when it was lost.
    pub fn new(url: &str, network: &str) -> Result<Self, RedisFiltersError> {
        let config = ConnectionManagerConfig::new()
            .set_response_timeout(Some(PATIENCE))
            .set_connection_timeout(Some(PATIENCE))
            .set_number_of_retries(1)
            .set_max_delay(PATIENCE);
        let connection = ConnectionManager::new_lazy_with_config(Client::open(url)?, config)?;
        Ok(Self { connection, prefix: format!("chainnet:{network}:filters") })
    }

    fn key(&self, id: FilterId) -> String {
        format!("{}:id:{id}", self.prefix)
    }

    /// The keys that change with a filter.
    fn keys(&self, id: FilterId, owner: &str) -> [String; 3] {
        [self.key(id), format!("{}:of:{owner}", self.prefix), format!("{}:all", self.prefix)]
    }
}

fn lifetime() -> u64 {
    LIFETIME.as_secs() * 1000
}

fn unreachable(error: impl std::error::Error + Send + Sync + 'static) -> Unreachable {
    Unreachable(Box::new(error))
}

#[async_trait]
impl FilterStore for RedisFilters {
    async fn install(&self, id: FilterId, filter: Installed) -> Result<(), InstallError> {
        let text = serde_json::to_string(&filter).map_err(unreachable)?;
        let mut script = INSTALL_SCRIPT.prepare_invoke();
        script.key(&self.keys(id, &filter.owner)[..]);
        script.arg(id.to_string()).arg(text).arg(lifetime()).arg(MOST_OF_ONE).arg(MOST_OF_ALL);
        match script.invoke_async::<u8>(&mut self.connection.clone()).await.map_err(unreachable)? {
            0 => Ok(()),
            1 => Err(InstallError::TooMany { most: MOST_OF_ONE }),
            _ => Err(InstallError::TooMany { most: MOST_OF_ALL }),
        }
    }

    async fn find(&self, id: FilterId) -> Result<Option<Installed>, Unreachable> {
        let text: Option<String> =
            self.connection.clone().hget(self.key(id), "filter").await.map_err(unreachable)?;
        text.map(|text| serde_json::from_str(&text).map_err(unreachable)).transpose()
    }

    async fn advance(&self, id: FilterId, found: &Installed, next: Installed) -> Result<bool, Unreachable> {
        let text = serde_json::to_string(&next).map_err(unreachable)?;
        let mut script = ADVANCE_SCRIPT.prepare_invoke();
        script.key(&self.keys(id, &found.owner)[..]);
        script.arg(id.to_string()).arg(text).arg(lifetime()).arg(found.polls).arg(next.polls);
        script.invoke_async(&mut self.connection.clone()).await.map_err(unreachable)
    }

    async fn remove(&self, id: FilterId, filter: &Installed) -> Result<(), Unreachable> {
        let mut script = REMOVE_SCRIPT.prepare_invoke();
        script.key(&self.keys(id, &filter.owner)[..]).arg(id.to_string());
        let _removed: u8 = script.invoke_async(&mut self.connection.clone()).await.map_err(unreachable)?;
        Ok(())
    }
}
