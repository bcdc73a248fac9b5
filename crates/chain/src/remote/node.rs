//! One node: how it is asked, and what is remembered of it.
//!
//! Calls of others are passed on as bytes by [`Node::pass_on`]; the typed questions of the access layer are in `reads` and go
//! through [`Node::ask`]. Which node is asked is decided elsewhere.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use ::jsonrpc::{Answer, AnswerError};
use bytes::Bytes;
use hyper::StatusCode;
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::{
    RemoteConfig,
    bundle::Bundles,
    decode::{self, DecodeError},
    dial::Dialer,
    health::{Health, Turn},
    jsonrpc::{self, NodeError, Request},
    raw::{LaneTurn, Lanes, Latency},
    transport::{HttpAnswer, HttpTransport, TransportError},
    url::NodeUrl,
};
use crate::{ChainError, Head, Lane, RawCall, RawError};

/// Longer answers are read on a thread for blocking work: checking a large block's signatures takes milliseconds.
const LONG_ANSWER: usize = 64 * 1024;

/// What a failed call counts for when nodes are compared.
const COST_OF_FAILURE: Duration = Duration::from_secs(1);

/// One node of the chain.
pub struct Node {
    url: NodeUrl,
    transport: HttpTransport,
    config: RemoteConfig,
    health: Mutex<Health>,
    lanes: Lanes,
    latency: Latency,
    pub(super) bundles: Bundles,
    /// The node has answered that it does not know `eth_getBlockReceipts`.
    lacks_block_receipts: AtomicBool,
}

/// A failure of one node among several.
#[derive(Debug, thiserror::Error)]
#[error("node {node} failed")]
struct NodeFailure {
    node: NodeUrl,
    #[source]
    source: TransportError,
}

/// A status that is no answer.
#[derive(Debug, thiserror::Error)]
#[error("node {node} answered with HTTP status {status}")]
struct BadStatus {
    node: NodeUrl,
    status: StatusCode,
}

impl Node {
    pub(super) fn new(url: NodeUrl, dialer: Arc<Dialer>, config: RemoteConfig) -> Self {
        Self {
            transport: HttpTransport::new(url.http.clone(), dialer, &config),
            lanes: Lanes::new(config.max_connections, config.max_waiting),
            latency: Latency::default(),
            bundles: Bundles::default(),
            url,
            config,
            health: Mutex::default(),
            lacks_block_receipts: AtomicBool::new(false),
        }
    }

    /// Where the node is.
    pub fn url(&self) -> &NodeUrl {
        &self.url
    }

    /// Passes a call on and cuts its result or error out of the answer, within the lane's share of connections.
    pub(super) async fn pass_on(self: &Arc<Self>, call: &RawCall) -> Result<Answer, RawError> {
        match call.lane {
            Lane::Small => self.pass_on_together(call).await,
            // On the heap, as it is large and small reads have no need of it.
            Lane::Cheap | Lane::Heavy | Lane::Write => Box::pin(self.pass_on_alone(call)).await,
        }
    }

    /// Passes a call on in a request of its own.
    pub(super) async fn pass_on_alone(&self, call: &RawCall) -> Result<Answer, RawError> {
        let _turn = self.turn(call.lane).await?;
        self.ask_alone(call).await
    }

    /// Asks in a request of its own, when it is its turn.
    pub(super) async fn ask_alone(&self, call: &RawCall) -> Result<Answer, RawError> {
        let mut body = Vec::new();
        ::jsonrpc::write_request(&mut body, call.method, &call.params);
        match self.post(call.lane, &body).await?.and_then(|body| ::jsonrpc::read_answer(&body)) {
            Ok(answer) => {
                self.note_answer();
                Ok(answer)
            }
            Err(error) => {
                tracing::debug!(node = %self.url, "an answer of a node is not understood");
                self.note_failure(&error);
                Err(RawError::Unavailable)
            }
        }
    }

    /// A turn on the connections of a lane.
    pub(super) async fn turn(&self, lane: Lane) -> Result<LaneTurn<'_>, RawError> {
        if let Some(turn) = self.lanes.try_enter(lane) {
            return Ok(turn);
        }
        let entering = tokio::time::timeout(self.config.request_timeout, self.lanes.enter(lane));
        entering.await.map_err(|_| RawError::Busy)?
    }

    /// Posts one or more calls of a lane. What comes back may be no answer at all.
    pub(super) async fn post(&self, lane: Lane, body: &[u8]) -> Result<Result<Bytes, AnswerError>, RawError> {
        let started = Instant::now();
        let posted = self.transport.post(body).await;
        let took = started.elapsed();
        if lane == Lane::Small {
            self.bundles.note(took);
        }
        let HttpAnswer { status, body } = posted.map_err(|error| {
            self.note_failure(&error);
            // Failing fast is not being fast.
            self.latency.note(COST_OF_FAILURE);
            RawError::from(error)
        })?;
        self.latency.note(took);
        if is_answer(status) {
            return Ok(Ok(body));
        }
        tracing::debug!(node = %self.url, %status, "a node answered with a status that is no answer");
        Ok(Err(AnswerError))
    }

    /// Calls under way and waiting.
    pub(super) fn load(&self) -> usize {
        self.transport.in_flight() + self.lanes.waiting()
    }

    /// What asking it costs, by which nodes are compared.
    pub(super) fn cost(&self) -> u64 {
        self.latency.cost(self.load())
    }

    /// Requests under way, by which load is spread.
    pub fn in_flight(&self) -> usize {
        self.transport.in_flight()
    }

    /// Whether the node answered lately.
    pub fn is_reachable(&self) -> bool {
        self.health.lock().is_reachable()
    }

    /// Whether the node may be asked while this head is served.
    pub fn is_usable(&self, served: Option<u64>) -> bool {
        self.health.lock().is_usable(Instant::now(), served, &self.config)
    }

    /// The node's newest block, as far as it has told.
    pub fn head(&self) -> Option<u64> {
        self.health.lock().head()
    }

    pub(super) fn note_head(&self, number: u64) {
        self.health.lock().note_head(number);
    }

    pub(super) fn note_verified(&self) {
        self.health.lock().note_verified();
    }

    /// Whether it is news that the node is on another chain.
    pub(super) fn note_stranger(&self) -> bool {
        self.health.lock().note_stranger()
    }

    pub(super) fn is_verified(&self) -> bool {
        self.health.lock().is_verified()
    }

    pub(super) fn lacks_block_receipts(&self) -> bool {
        self.lacks_block_receipts.load(Ordering::Relaxed)
    }

    pub(super) fn note_lack_of_block_receipts(&self) {
        if !self.lacks_block_receipts.swap(true, Ordering::Relaxed) {
            tracing::info!(node = %self.url, "the node has no eth_getBlockReceipts; receipts are asked for one by one");
        }
    }

    /// Asks one question and reads the result.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        method: &'static str,
        params: impl Serialize,
        read: impl FnOnce(&RawValue) -> Result<T, DecodeError> + Send + 'static,
    ) -> Result<T, ChainError> {
        let body = self.send(method, &Request::new(0, method, params)).await?;
        let answer = elsewhere_if_long(body, move |body| match jsonrpc::read_answer(&body) {
            Ok(jsonrpc::Answer::Result(json)) => read(json).map_err(|error| not_understood(method, error)),
            Ok(jsonrpc::Answer::Error(error)) => Err(refusal(method, error)),
            Err(error) => Err(not_understood(method, error)),
        });
        self.noting(answer.await)
    }

    /// Asks several questions in one request and reads the results, in the order of the questions.
    pub(super) async fn ask_batch<P: Serialize, T: Send + 'static>(
        &self,
        questions: Vec<(&'static str, P)>,
        read: impl Fn(usize, &RawValue) -> Result<T, DecodeError> + Send + 'static,
    ) -> Result<Vec<T>, ChainError> {
        let Some(&(method, _)) = questions.first() else { return Ok(Vec::new()) };
        let asked = questions.len();
        let requests: Vec<_> = questions
            .into_iter()
            .enumerate()
            .map(|(id, (method, params))| Request::new(id, method, params))
            .collect();
        let body = self.send(method, &requests).await?;
        let answers = elsewhere_if_long(body, move |body| {
            let answers = jsonrpc::read_batch(&body, asked).map_err(|error| not_understood(method, error))?;
            let results = answers.into_iter().enumerate().map(|(index, answer)| match answer {
                jsonrpc::Answer::Result(json) => {
                    read(index, json).map_err(|error| not_understood(method, error))
                }
                jsonrpc::Answer::Error(error) => Err(refusal(method, error)),
            });
            results.collect::<Result<Vec<T>, ChainError>>()
        });
        self.noting(answers.await)
    }

    /// The node's newest header.
    pub(super) async fn latest(&self) -> Result<Head, ChainError> {
        self.ask("eth_getBlockByNumber", ("latest", false), decode::head).await
    }

    async fn send(&self, method: &'static str, request: &impl Serialize) -> Result<Bytes, ChainError> {
        let body = serde_json::to_vec(request).map_err(|error| not_understood(method, error))?;
        let HttpAnswer { status, body } = self.transport.post(&body).await.map_err(|error| {
            self.note_failure(&error);
            self.unavailable(error)
        })?;
        if is_answer(status) {
            return Ok(body);
        }
        let error = BadStatus { node: self.url.clone(), status };
        self.note_failure(&error);
        Err(ChainError::Unavailable(Some(Box::new(error))))
    }

    fn unavailable(&self, source: TransportError) -> ChainError {
        match source {
            TransportError::TimedOut(_) => ChainError::TimedOut,
            TransportError::Connect(_)
            | TransportError::Closed(_)
            | TransportError::NotHttp(_)
            | TransportError::TooLong(_)
            | TransportError::Body(_) => {
                ChainError::Unavailable(Some(Box::new(NodeFailure { node: self.url.clone(), source })))
            }
        }
    }

    /// Takes note of what came of an answer: a node that talks nonsense is as little use as one that does not talk.
    fn noting<T>(&self, result: Result<T, ChainError>) -> Result<T, ChainError> {
        match &result {
            Ok(_) | Err(ChainError::Reverted { .. } | ChainError::Refused { .. }) => self.note_answer(),
            Err(ChainError::NotUnderstood { method, source }) => {
                tracing::debug!(node = %self.url, method, %source, "an answer of a node is not understood");
                self.note_failure(source.as_ref());
            }
            Err(ChainError::Unavailable(_) | ChainError::TimedOut) => {}
        }
        result
    }

    pub(super) fn note_answer(&self) {
        let turn = self.health.lock().note_answer();
        self.log(turn, None);
    }

    fn note_failure(&self, error: &(dyn std::error::Error + 'static)) {
        let turn = self.health.lock().note_failure(Instant::now(), &self.config);
        self.log(turn, Some(error));
    }

    fn log(&self, turn: Option<Turn>, error: Option<&(dyn std::error::Error + 'static)>) {
        match turn {
            Some(Turn::Paused) => {
                tracing::warn!(node = %self.url, error, "a node keeps failing and is left alone for a while");
            }
            Some(Turn::Recovered) => tracing::info!(node = %self.url, "a node answers again"),
            None => {}
        }
    }
}

/// Besu answers some JSON-RPC errors with 400; anything else that is not a success did not come from the node's JSON-RPC,
/// and what is in its body is of no interest.
fn is_answer(status: StatusCode) -> bool {
    status.is_success() || status == StatusCode::BAD_REQUEST
}

impl From<TransportError> for RawError {
    fn from(error: TransportError) -> Self {
        match error {
            TransportError::TimedOut(_) => Self::TimedOut,
            TransportError::TooLong(_) => Self::TooLong,
            TransportError::Connect(_)
            | TransportError::Closed(_)
            | TransportError::NotHttp(_)
            | TransportError::Body(_) => Self::Unavailable,
        }
    }
}

/// An answer that was understood but is not the one that was asked for, or not understood at all.
pub(super) fn not_understood(
    method: &'static str,
    error: impl std::error::Error + Send + Sync + 'static,
) -> ChainError {
    ChainError::NotUnderstood { method, source: Box::new(error) }
}

/// Only calls revert; elsewhere the same code with data is a plain refusal.
fn refusal(method: &'static str, error: NodeError) -> ChainError {
    if method == "eth_call" { error.into() } else { error.into_refusal() }
}

/// Reads an answer here if it is short, off the asynchronous threads if it is long.
async fn elsewhere_if_long<T: Send + 'static>(
    body: Bytes,
    read: impl FnOnce(Bytes) -> Result<T, ChainError> + Send + 'static,
) -> Result<T, ChainError> {
    if body.len() < LONG_ANSWER {
        return read(body);
    }
    let work = tokio::task::spawn_blocking(move || read(body));
    work.await.map_err(|error| ChainError::Unavailable(Some(Box::new(error))))?
}
