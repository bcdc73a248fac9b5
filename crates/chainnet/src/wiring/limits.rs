//! Where limits are counted: in this process alone, or with all others that are told of the same Redis.

use std::sync::Arc;

use access::{Counting, Limiter};
use anyhow::Context;
use jiff::Timestamp;

use crate::{config::Config, parts::Parts};

/// What those share that serve people and programs, beside what gateways share.
const EDGES: &str = "edge";

/// Limits of the API, the faucet and the pages, which are the same for every client.
pub(crate) async fn start_counting(config: &Config, parts: &mut Parts) -> anyhow::Result<Counting> {
    if config.access.redis.is_none() {
        return Ok(Counting::default());
    }
    let namespace = format!("{}:{EDGES}", config.network.name());
    Ok(Counting::shared(start_limits(config, &namespace, parts).await?))
}

/// Limits of whoever counts under this name.
pub(crate) async fn start_limits(
    config: &Config,
    namespace: &str,
    parts: &mut Parts,
) -> anyhow::Result<Limiter> {
    let Some(url) = &config.access.redis else { return Ok(Limiter::local()) };
    let shared = Limiter::shared(url.expose(), namespace, Arc::new(Timestamp::now));
    let (limiter, mut leaser) = shared.context("REDIS_URL cannot be used")?;
    // Before there are requests: nothing could be leased for them.
    leaser.meet().await;
    parts.start("shared limits", |stop| async move {
        leaser.run(stop).await;
        Ok(())
    });
    Ok(limiter)
}
