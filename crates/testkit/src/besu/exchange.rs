//! From a message to Besu's answer: the envelope, batches, notifications, and the node behind.

use std::{net::SocketAddr, sync::Arc};

use alloy_primitives::U64;
use serde_json::{Map, Value, json};

use super::{
    BesuSettings,
    admit::{Fault, Way, admit},
    pool, shape,
    tally::Tally,
};
use crate::RpcClient;

/// What all connections share.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) settings: BesuSettings,
    /// Our own node.
    pub(super) node: SocketAddr,
    pub(super) tally: Arc<Tally>,
}

/// An answer to a message.
pub(super) enum Reply {
    /// Of a message that was understood; without a body if it was a notification.
    Answer(Option<Value>),
    /// Of one that was not, which HTTP marks with status 400.
    Malformed(Value),
}

/// A request as it stands in a message.
pub(super) struct Request {
    pub(super) id: Value,
    pub(super) method: String,
    pub(super) params: Vec<Value>,
}

impl Request {
    /// A request, nothing for a notification, or a fault.
    pub(super) fn read(value: Value) -> Result<Option<Self>, Fault> {
        let Value::Object(mut members) = value else { return Err(Fault::REQUEST) };
        let method = members.get("method").and_then(Value::as_str).ok_or(Fault::REQUEST)?.to_owned();
        let Some(id) = members.remove("id") else { return Ok(None) };
        let params = match members.remove("params") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(params)) => params,
            Some(_) => return Err(Fault::REQUEST),
        };
        Ok(Some(Self { id, method, params }))
    }
}

impl Exchange {
    /// Answers a message. `node` is the caller's own connection to the node.
    pub(super) async fn answer(&self, node: &RpcClient, message: &[u8]) -> Reply {
        match serde_json::from_slice::<Value>(message) {
            Ok(Value::Array(requests)) if requests.is_empty() => {
                Reply::Malformed(refusal(&Value::Null, &Fault::REQUEST))
            }
            Ok(Value::Array(requests)) if requests.len() > self.settings.max_batch => {
                Reply::Answer(Some(refusal(&Value::Null, &Fault::BATCH)))
            }
            Ok(Value::Array(requests)) => Reply::Answer(Some(self.batch(node, requests).await)),
            Ok(one @ Value::Object(_)) => match Request::read(one) {
                Ok(Some(request)) => Reply::Answer(Some(self.call(node, Way::Http, request).await)),
                Ok(None) => Reply::Answer(None),
                Err(fault) => self.malformed(&fault),
            },
            // Besu reads whatever is no object as a list.
            Ok(_) | Err(_) => self.malformed(&Fault::PARSE),
        }
    }

    fn malformed(&self, fault: &Fault) -> Reply {
        self.tally.note_fault("message", fault.message);
        Reply::Malformed(refusal(&Value::Null, fault))
    }

    async fn batch(&self, node: &RpcClient, requests: Vec<Value>) -> Value {
        let mut answers = Vec::with_capacity(requests.len());
        for request in requests {
            match Request::read(request) {
                Ok(Some(request)) => answers.push(self.call(node, Way::Http, request).await),
                Ok(None) => {}
                Err(fault) => answers.push(refusal(&Value::Null, &fault)),
            }
        }
        Value::Array(answers)
    }

    /// Answers one request.
    pub(super) async fn call(&self, node: &RpcClient, way: Way, request: Request) -> Value {
        let Request { id, method, mut params } = request;
        self.tally.note(&method);
        if let Err(fault) = self.admit(node, way, &method, &mut params).await {
            self.tally.note_fault(&method, fault.message);
            return refusal(&id, &fault);
        }
        self.ask(node, &id, &method, params).await
    }

    async fn admit(
        &self,
        node: &RpcClient,
        way: Way,
        method: &str,
        params: &mut Vec<Value>,
    ) -> Result<(), Fault> {
        admit(&self.settings, way, method, params)?;
        match (method, params.first()) {
            ("eth_getLogs", Some(filter)) => self.check_range(node, filter).await,
            _ => Ok(()),
        }
    }

    async fn check_range(&self, node: &RpcClient, filter: &Value) -> Result<(), Fault> {
        if filter.get("blockHash").is_some() {
            return Ok(());
        }
        let head = node.block_number().await.map_err(|_| Fault::INTERNAL)?;
        let end = |name: &str| match filter[name].as_str() {
            Some("earliest") => 0,
            Some(number) => number.parse::<U64>().map_or(head, |number| number.to()),
            None => head,
        };
        let blocks = end("toBlock").saturating_sub(end("fromBlock"));
        if blocks > self.settings.max_log_range { Err(Fault::RANGE) } else { Ok(()) }
    }

    /// Asks the node and changes its answer into Besu's.
    async fn ask(&self, node: &RpcClient, id: &Value, method: &str, params: Vec<Value>) -> Value {
        let question = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let answer = node.post(question.to_string()).await.ok();
        let answer =
            answer.and_then(|answer| serde_json::from_slice::<Map<String, Value>>(&answer.body).ok());
        let Some(mut answer) = answer else { return refusal(id, &Fault::INTERNAL) };
        if let Some(error) = answer.get_mut("error") {
            shape::error(&self.settings, error);
        }
        if let Some(result) = answer.get_mut("result") {
            shape::result(&self.settings, method, result);
            if let ("eth_getTransactionCount", [account, tag]) = (method, &*params)
                && tag == "pending"
            {
                pool::raise_pending_nonce(node, account, result).await;
            }
        }
        answer.insert("id".to_owned(), id.clone());
        Value::Object(answer)
    }
}

/// An error as an answer.
pub(super) fn refusal(id: &Value, fault: &Fault) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": fault.json() })
}
