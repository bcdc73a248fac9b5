//! Calls passed on as bytes: which node, over which connections, and what if it fails.
//!
//! A read goes to the node with the least to do that has the block; if it takes unusually long a second node is asked as
//! well, and if it fails the next one is. A transaction goes to two nodes at once. `lanes` keeps heavy calls from taking
//! every connection, `pace` knows how long answers usually take.

mod choose;
mod lanes;
mod pace;
mod read;
mod write;

use std::sync::Arc;

use async_trait::async_trait;
use jsonrpc::Answer;
use tokio::sync::watch;

pub(super) use lanes::{Lanes, Turn as LaneTurn};
pub(super) use pace::{Hedging, Latency};

use super::{RemoteClient, node::Node};
use crate::{Head, Lane, NodeState, PendingHashes, RawCall, RawError, RawUpstream};

/// What a node is asked.
#[derive(Clone)]
pub(super) struct Question {
    method: &'static str,
    params: Arc<str>,
    pub(super) lane: Lane,
}

impl Question {
    /// The method and its parameters.
    pub(super) fn parts(&self) -> (&'static str, &str) {
        (self.method, &self.params)
    }

    /// As it goes over the wire alone.
    pub(super) fn to_body(&self) -> Vec<u8> {
        let mut body = Vec::new();
        jsonrpc::write_request(&mut body, self.method, &self.params);
        body
    }
}

#[async_trait]
impl RawUpstream for RemoteClient {
    fn heads(&self) -> watch::Receiver<Option<Arc<Head>>> {
        self.shared.served.subscribe()
    }

    async fn pending(&self) -> PendingHashes {
        self.shared.pools.listen().await
    }

    fn chain_id(&self) -> Option<u64> {
        self.shared.chain_id.get().copied()
    }

    async fn call(&self, call: RawCall) -> Result<Answer, RawError> {
        let RawCall { method, params, lane, at } = call;
        let question = Question { method, params, lane };
        match lane {
            Lane::Small | Lane::Cheap | Lane::Heavy => self.shared.read(&question, at).await,
            // On the heap, so that reads need not make room for it.
            Lane::Write => Box::pin(self.shared.write(&question)).await,
        }
    }

    fn nodes(&self) -> Vec<NodeState> {
        let served = self.shared.served.number();
        let state = |node: &Arc<Node>| NodeState {
            name: node.url().to_string(),
            head: node.head(),
            is_usable: node.is_usable(served),
            in_flight: node.load(),
        };
        self.shared.nodes.iter().map(state).collect()
    }
}
