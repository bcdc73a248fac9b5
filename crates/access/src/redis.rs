//! Whether Redis answers, for whoever looks for the cause of something.

use std::time::Duration;

use redis::{AsyncConnectionConfig, Client, RedisError, RedisResult};

/// How long it may take to connect, and then to answer.
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// Redis cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("Redis does not answer")]
pub struct RedisSilent(#[source] RedisError);

/// Asks Redis for a sign of life.
pub async fn ping_redis(url: &str) -> Result<(), RedisSilent> {
    ping(url).await.map_err(RedisSilent)
}

async fn ping(url: &str) -> RedisResult<()> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(TIME_LIMIT))
        .set_response_timeout(Some(TIME_LIMIT));
    let mut link = Client::open(url)?.get_multiplexed_async_connection_with_config(&config).await?;
    redis::cmd("PING").exec_async(&mut link).await
}
