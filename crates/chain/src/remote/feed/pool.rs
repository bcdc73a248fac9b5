//! The second subscription on a node's WebSocket: its transaction pool, for as long as somebody listens.

use std::sync::Arc;

use alloy_primitives::B256;
use serde_json::value::RawValue;

use crate::remote::pools::{Counted, Pools};

/// The id of our request, by which its answer is known. The subscription to heads has 0.
const REQUEST_ID: &str = "1";
const SUBSCRIBE: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newPendingTransactions"]}"#;

/// Where the subscription stands on this connection.
enum Stage {
    Off,
    Asked,
    On {
        id: String,
        _teller: Counted,
    },
    /// The node does not tell.
    Refused,
}

/// One node's pool on one connection.
pub(super) struct PoolSubscription {
    pools: Arc<Pools>,
    stage: Stage,
}

impl PoolSubscription {
    pub(super) fn new(pools: &Arc<Pools>) -> Self {
        Self { pools: Arc::clone(pools), stage: Stage::Off }
    }

    /// What has to be said to the node now that somebody listens, or nobody any more.
    pub(super) fn adjust(&mut self, is_wanted: bool) -> Option<String> {
        match &self.stage {
            Stage::Off if is_wanted => {
                self.stage = Stage::Asked;
                Some(SUBSCRIBE.to_owned())
            }
            Stage::On { id, .. } if !is_wanted => {
                let id = serde_json::Value::from(id.as_str());
                self.stage = Stage::Off;
                Some(format!(r#"{{"jsonrpc":"2.0","id":2,"method":"eth_unsubscribe","params":[{id}]}}"#))
            }
            // What was asked for is adjusted when the answer is here.
            Stage::Off | Stage::Asked | Stage::On { .. } | Stage::Refused => None,
        }
    }

    /// Takes note of an answer on the connection.
    pub(super) fn take_answer(&mut self, id: &RawValue, result: Option<&RawValue>) {
        if id.get() != REQUEST_ID || !matches!(self.stage, Stage::Asked) {
            return;
        }
        let subscription = result.and_then(|result| serde_json::from_str(result.get()).ok());
        self.stage = match subscription {
            Some(id) => Stage::On { id, _teller: self.pools.teller() },
            None => Stage::Refused,
        };
    }

    /// The hash that the node tells of, if the news is of this subscription.
    pub(super) fn hash(&self, subscription: &str, result: &RawValue) -> Option<B256> {
        match &self.stage {
            Stage::On { id, .. } if id == subscription => serde_json::from_str(result.get()).ok(),
            Stage::Off | Stage::Asked | Stage::On { .. } | Stage::Refused => None,
        }
    }
}
