//! What one WebSocket has subscribed to.

use std::{collections::BTreeMap, future, sync::Arc};

use alloy_rpc_types_eth::Filter;
use bytes::Bytes;
use tokio::sync::broadcast::{Receiver, error::RecvError};

use super::{Feed, HeadEvent, PendingEvent};
use crate::rpc::error::RpcError;

/// A kind of event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Topic {
    /// New blocks, as headers or whole.
    Heads {
        /// With their transactions.
        full: bool,
    },
    /// New logs that match.
    Logs(Box<Filter>),
    /// New transactions in the pool, as hashes or whole.
    Pending {
        /// The transaction instead of its hash.
        full: bool,
    },
    /// Changes of the sync status, of which this chain has none.
    Syncing,
}

/// The connection did not read its events fast enough, so that some are lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Behind;

/// The subscriptions of one connection.
pub(crate) struct Session {
    feed: Arc<Feed>,
    most: usize,
    topics: BTreeMap<u64, Topic>,
    heads: Option<Receiver<Arc<HeadEvent>>>,
    pending: Option<Receiver<Arc<PendingEvent>>>,
}

impl Session {
    pub(crate) fn new(feed: Arc<Feed>, most: usize) -> Self {
        Self { feed, most, topics: BTreeMap::new(), heads: None, pending: None }
    }

    /// Adds a subscription and gives its id.
    pub(crate) fn subscribe(&mut self, topic: Topic) -> Result<u64, RpcError> {
        if self.topics.len() >= self.most {
            return Err(RpcError::LimitReached);
        }
        let id = self.feed.next_id();
        self.topics.insert(id, topic);
        self.tune();
        Ok(id)
    }

    /// Ends a subscription; false if there was none.
    pub(crate) fn unsubscribe(&mut self, id: u64) -> bool {
        let existed = self.topics.remove(&id).is_some();
        self.tune();
        existed
    }

    /// Listens to what is wanted and to nothing else, so that a connection that wants only heads is never
    /// behind because of a flood of transactions.
    fn tune(&mut self) {
        let wants_heads =
            self.topics.values().any(|topic| matches!(topic, Topic::Heads { .. } | Topic::Logs(_)));
        let wants_pending = self.topics.values().any(|topic| matches!(topic, Topic::Pending { .. }));
        self.heads = wants_heads.then(|| self.heads.take().unwrap_or_else(|| self.feed.heads()));
        self.pending = wants_pending.then(|| self.pending.take().unwrap_or_else(|| self.feed.pending()));
    }

    /// Waits for the next event and gives its messages.
    pub(crate) async fn next_events(&mut self) -> Result<Vec<Bytes>, Behind> {
        loop {
            let messages: Vec<Bytes> = tokio::select! {
                head = receive(&mut self.heads) => {
                    let head = head?;
                    self.topics.iter().flat_map(|(id, topic)| about_head(*id, topic, &head)).collect()
                }
                pending = receive(&mut self.pending) => {
                    let pending = pending?;
                    self.topics.iter().filter_map(|(id, topic)| about_pending(*id, topic, &pending)).collect()
                }
            };
            if !messages.is_empty() {
                return Ok(messages);
            }
        }
    }
}

async fn receive<T: Clone>(receiver: &mut Option<Receiver<T>>) -> Result<T, Behind> {
    let Some(receiver) = receiver else {
        return future::pending().await;
    };
    match receiver.recv().await {
        Ok(event) => Ok(event),
        Err(RecvError::Lagged(_)) => Err(Behind),
        // The feed ends with the server, which closes the connection by itself.
        Err(RecvError::Closed) => future::pending().await,
    }
}

fn about_head(id: u64, topic: &Topic, head: &HeadEvent) -> Vec<Bytes> {
    match topic {
        Topic::Heads { full: false } => vec![message(id, head.header())],
        Topic::Heads { full: true } => vec![message(id, head.full())],
        Topic::Logs(filter) => head.logs(filter).map(|log| message(id, log)).collect(),
        Topic::Pending { .. } | Topic::Syncing => Vec::new(),
    }
}

fn about_pending(id: u64, topic: &Topic, pending: &PendingEvent) -> Option<Bytes> {
    match topic {
        Topic::Pending { full: false } => Some(message(id, pending.hash())),
        Topic::Pending { full: true } => Some(message(id, pending.full())),
        Topic::Heads { .. } | Topic::Logs(_) | Topic::Syncing => None,
    }
}

fn message(id: u64, result: &Bytes) -> Bytes {
    let head = format!(
        r#"{{"jsonrpc":"2.0","method":"eth_subscription","params":{{"subscription":"0x{id:x}","result":"#
    );
    let mut whole = Vec::with_capacity(head.len() + result.len() + 2);
    whole.extend_from_slice(head.as_bytes());
    whole.extend_from_slice(result);
    whole.extend_from_slice(b"}}");
    whole.into()
}
