//! Who is counted for a request, and how often they may ask: a developer key by itself, wherever it is used, everybody else by address.

use std::sync::Arc;

use access::{Allowance, Client, Counting, UniformLimiter, presented_developer_key};
use accounts::DeveloperKeys;
use domain::portal::DeveloperKeyId;
use hyper::HeaderMap;
use jiff::Timestamp;

use super::{Asker, EdgeConfig};

/// Keys in a minute of one client that were not good lately and are looked up before the client is counted: a text that is no key must
/// not cost a look into the database for which nobody is counted.
const UNKNOWN_KEYS_PER_MINUTE: u32 = 60;

/// Counts the requests of an edge.
pub(crate) struct RequestLimiter {
    clients: UniformLimiter,
    keys: Option<KeyLimiter>,
}

struct KeyLimiter {
    keys: Arc<DeveloperKeys>,
    requests: UniformLimiter<DeveloperKeyId>,
    unknown: UniformLimiter<Client>,
}

impl RequestLimiter {
    /// Counts by address alone; `purpose` tells edges apart.
    pub(crate) fn new(purpose: &'static str, config: &EdgeConfig) -> Self {
        Self { clients: config.counting.limiter(purpose, config.requests_per_minute), keys: None }
    }

    /// Counts developer keys by themselves.
    pub(crate) fn with_keys(self, keys: Arc<DeveloperKeys>, config: &EdgeConfig) -> Self {
        let counting: &Counting = &config.counting;
        // Nobody has paid for less than strangers have.
        let limit = config.developer_key_requests_per_minute.max(config.requests_per_minute);
        let keys = KeyLimiter {
            keys,
            requests: counting.limiter("developer-keys", limit),
            unknown: counting.limiter("unknown-developer-keys", UNKNOWN_KEYS_PER_MINUTE),
        };
        Self { keys: Some(keys), ..self }
    }

    /// The good developer key that a request carries, if there is one.
    pub(super) async fn key_of(
        &self,
        headers: &HeaderMap,
        client: Client,
        now: Timestamp,
    ) -> Option<DeveloperKeyId> {
        let KeyLimiter { keys, unknown, .. } = self.keys.as_ref()?;
        let text = presented_developer_key(headers).ok()?;
        let id = DeveloperKeys::id_of(text)?;
        if !keys.was_good_lately(id) && !unknown.take(client, now).await.is_granted {
            return None;
        }
        keys.check(text).await.ok().map(|grant| grant.id)
    }

    /// Counts one request.
    pub(crate) async fn take(&self, asker: Asker, now: Timestamp) -> Allowance {
        match (asker.key, &self.keys) {
            (Some(key), Some(keys)) => keys.requests.take(key, now).await,
            (_, _) => self.clients.take(asker.client(), now).await,
        }
    }
}
