//! A small JSON-RPC client over one kept-alive HTTP connection.
//!
//! It hands out raw bytes too, so that tests can send what no library would send.

use std::{
    net::SocketAddr,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use alloy_primitives::{B256, Bytes, U64};
use alloy_rpc_types_eth::TransactionReceipt;
use bytes::Bytes as Body;
use http_body_util::{BodyExt, Full};
use hyper::{Request, StatusCode, client::conn::http1, header};
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::{
    net::TcpStream,
    sync::Mutex,
    time::{Instant, sleep},
};

use crate::http::HttpAnswer;

/// How long a transaction may take to be mined.
const MINING_LIMIT: Duration = Duration::from_secs(30);
/// Pause between two looks for a receipt.
const POLL_INTERVAL: Duration = Duration::from_millis(25);

/// A node's answer that is an error.
#[derive(Debug, Clone, PartialEq, Deserialize, thiserror::Error)]
#[error("error {code}: {message}")]
pub struct RpcError {
    /// The error's number.
    pub code: i64,
    /// The error's sentence.
    pub message: String,
    /// What came with it, for example revert data.
    #[serde(default)]
    pub data: Option<Value>,
}

impl RpcError {
    /// The revert data, if the error carries some.
    pub fn revert_data(&self) -> Option<Bytes> {
        serde_json::from_value(self.data.clone()?).ok()
    }
}

/// Why a call gave no result.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The node answered with an error.
    #[error(transparent)]
    Rpc(#[from] RpcError),
    /// No connection.
    #[error("cannot connect to {address}")]
    Connect {
        /// The node's address.
        address: SocketAddr,
        /// The system's reason.
        #[source]
        source: std::io::Error,
    },
    /// The connection broke.
    #[error("the connection broke")]
    Transport(#[from] hyper::Error),
    /// The answer is no JSON-RPC answer of the expected type.
    #[error("unexpected answer with status {status}: {body}")]
    Malformed {
        /// The HTTP status.
        status: StatusCode,
        /// The answer as text.
        body: String,
        /// Where it departs from what was expected.
        #[source]
        source: serde_json::Error,
    },
    /// A transaction was not mined in time.
    #[error("transaction {0} was not mined within {limit} s", limit = MINING_LIMIT.as_secs())]
    NotMined(B256),
}

impl CallError {
    /// The node's error, if it was the node that refused.
    pub fn rpc(&self) -> Option<&RpcError> {
        match self {
            Self::Rpc(error) => Some(error),
            Self::Connect { .. } | Self::Transport(_) | Self::Malformed { .. } | Self::NotMined(_) => None,
        }
    }
}

/// Who makes the block that a receipt waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mining {
    /// The test, with `evm_mine`.
    OnDemand,
    /// The node, by its clock.
    Interval,
}

#[derive(Debug, Deserialize)]
struct Answer {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    result: Value,
    error: Option<RpcError>,
}

impl Answer {
    fn into_result(self) -> Result<Value, RpcError> {
        self.error.map_or(Ok(self.result), Err)
    }
}

type Connection = http1::SendRequest<Full<Body>>;

/// A client with one connection; calls on it go one after the other.
#[derive(Debug)]
pub struct RpcClient {
    address: SocketAddr,
    connection: Mutex<Option<Connection>>,
    next_id: AtomicU64,
}

impl RpcClient {
    /// A client of the node at this address; it connects with the first call and again whenever the connection is gone.
    pub fn new(address: SocketAddr) -> Self {
        Self { address, connection: Mutex::new(None), next_id: AtomicU64::new(1) }
    }

    /// The node's address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The node's HTTP URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The node's WebSocket URL: the same port.
    pub fn ws_url(&self) -> String {
        format!("ws://{}", self.address)
    }

    /// Posts these bytes, whatever they are, and returns what came back.
    pub async fn post(&self, body: impl Into<Body>) -> Result<HttpAnswer, CallError> {
        let body = body.into();
        let mut slot = self.connection.lock().await;
        let mut connection = self.reuse_or_connect(slot.take()).await?;
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = hyper::Method::POST;
        let headers = request.headers_mut();
        headers.insert(header::HOST, header::HeaderValue::from_static("127.0.0.1"));
        headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
        let response = connection.send_request(request).await?;
        let (head, body) = response.into_parts();
        let body = body.collect().await?.to_bytes();
        *slot = Some(connection);
        Ok(HttpAnswer { status: head.status, headers: head.headers, body })
    }

    /// Calls a method; `params` is what serialises to the array of parameters.
    pub async fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        params: impl Serialize,
    ) -> Result<T, CallError> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let answer = self.post(request.to_string()).await?;
        let result = parse::<Answer>(&answer)?.into_result()?;
        serde_json::from_value(result).map_err(|source| malformed(&answer, source))
    }

    /// Calls several methods with one request; results come in the order of the calls.
    pub async fn batch(&self, calls: &[(&str, Value)]) -> Result<Vec<Result<Value, RpcError>>, CallError> {
        let requests: Vec<Value> = calls
            .iter()
            .enumerate()
            .map(|(id, (method, params))| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .collect();
        let answer = self.post(Value::Array(requests).to_string()).await?;
        let mut answers = parse::<Vec<Answer>>(&answer)?;
        answers.sort_by_key(|answer| answer.id.as_u64());
        Ok(answers.into_iter().map(Answer::into_result).collect())
    }

    /// Submits a signed transaction.
    pub async fn send_raw(&self, raw: &Bytes) -> Result<B256, CallError> {
        self.call("eth_sendRawTransaction", [raw]).await
    }

    /// The number of the newest block.
    pub async fn block_number(&self) -> Result<u64, CallError> {
        Ok(self.call::<U64>("eth_blockNumber", json!([])).await?.to())
    }

    /// Makes one block.
    pub async fn mine(&self) -> Result<(), CallError> {
        self.call::<Value>("evm_mine", json!([])).await.map(drop)
    }

    /// The receipt of a transaction, once it is mined.
    pub async fn wait_receipt(&self, hash: B256, mining: Mining) -> Result<TransactionReceipt, CallError> {
        let deadline = Instant::now() + MINING_LIMIT;
        while Instant::now() < deadline {
            if mining == Mining::OnDemand {
                self.mine().await?;
            }
            if let Some(receipt) = self.call("eth_getTransactionReceipt", [hash]).await? {
                return Ok(receipt);
            }
            sleep(POLL_INTERVAL).await;
        }
        Err(CallError::NotMined(hash))
    }

    async fn reuse_or_connect(&self, kept: Option<Connection>) -> Result<Connection, CallError> {
        if let Some(mut kept) = kept
            && kept.ready().await.is_ok()
        {
            return Ok(kept);
        }
        self.connect().await
    }

    async fn connect(&self) -> Result<Connection, CallError> {
        let stream = TcpStream::connect(self.address)
            .await
            .and_then(|stream| stream.set_nodelay(true).map(|()| stream))
            .map_err(|source| CallError::Connect { address: self.address, source })?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        // A broken connection shows at the next request; its own error adds nothing.
        tokio::spawn(async move { drop(connection.await) });
        Ok(sender)
    }
}

fn parse<T: DeserializeOwned>(answer: &HttpAnswer) -> Result<T, CallError> {
    serde_json::from_slice(&answer.body).map_err(|source| malformed(answer, source))
}

fn malformed(answer: &HttpAnswer, source: serde_json::Error) -> CallError {
    let body = String::from_utf8_lossy(&answer.body).into_owned();
    CallError::Malformed { status: answer.status, body, source }
}
