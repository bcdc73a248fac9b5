//! Calls passed on as bytes: which node, over which connections, and what if it fails.
//!
//! A read goes to the node with the least to do that has the block; if it takes unusually long a second node is asked as
//! well, and if it fails the next one is. A transaction goes to two nodes at once. `lanes` keeps heavy calls from taking
//! every connection, `call` asks one node, `pace` knows how long answers usually take.

mod call;
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
        match call.lane {
            Lane::Small | Lane::Cheap | Lane::Heavy => self.shared.read(&call).await,
            // On the heap, so that reads need not make room for it.
            Lane::Write => Box::pin(self.shared.write(&call)).await,
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
