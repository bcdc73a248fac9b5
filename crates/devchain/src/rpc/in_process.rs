//! JSON-RPC without a wire: calls of the gateway in the same process, answered as the port would answer them.

use std::sync::Arc;

use ::chain::{Head, NodeState, PendingHashes, RawCall, RawError, RawUpstream};
use async_trait::async_trait;
use serde_json::value::RawValue;
use tokio::sync::watch;

use super::{
    ApiGroups, Group, Limits, Node, RpcConfig,
    error::RpcError,
    jsonrpc::{Answer, Caller, Methods, Params},
    service::Service,
};
use crate::workers::Client;

/// The embedded chain's methods for the gateway. The groups that only developers and operators use are off.
pub struct InProcess {
    service: Arc<Service>,
}

impl InProcess {
    /// The methods of this node.
    pub fn new(node: Arc<Node>, limits: Limits) -> Self {
        let groups = ApiGroups::of(&[Group::Eth, Group::Net, Group::Web3, Group::Ibft]);
        let config = RpcConfig { groups, limits, ..RpcConfig::default() };
        Self { service: Arc::new(Service::new(node, config)) }
    }
}

#[async_trait]
impl RawUpstream for InProcess {
    fn heads(&self) -> watch::Receiver<Option<Arc<Head>>> {
        self.service.chain().heads()
    }

    async fn pending(&self) -> PendingHashes {
        self.service.chain().pending_hashes()
    }

    fn chain_id(&self) -> Option<u64> {
        Some(self.service.chain().spec().chain_id)
    }

    async fn call(&self, call: RawCall) -> Result<::jsonrpc::Answer, RawError> {
        let Ok(params) = serde_json::from_str::<&RawValue>(&call.params) else {
            return Err(RawError::Unavailable);
        };
        let mut answer = Answer::new();
        let caller = Caller { client: Client::Gateway, is_page: false, session: None };
        let called = self.service.call(call.method, Params::new(Some(params)), caller, &mut answer);
        Ok(match called.await {
            // These are about this moment, not about the call: nobody may keep them as its answer.
            Err(RpcError::Busy) => return Err(RawError::Busy),
            Err(RpcError::Interrupted(_)) => return Err(RawError::TimedOut),
            Ok(()) => ::jsonrpc::Answer::Result(answer.into_bytes()),
            Err(error) => {
                let mut object = Answer::new();
                object.error_object(&error);
                ::jsonrpc::Answer::Error(object.into_bytes())
            }
        })
    }

    fn nodes(&self) -> Vec<NodeState> {
        let head = self.service.chain().head().block.number();
        vec![NodeState { name: "embedded".to_owned(), head: Some(head), is_usable: true, in_flight: 0 }]
    }
}
