//! The typed questions to one node, and how it is judged by their answers.

use bytes::Bytes;
use hyper::StatusCode;
use serde::Serialize;
use serde_json::value::RawValue;

use super::{
    decode::{self, DecodeError},
    jsonrpc::{self, NodeError, Request},
    node::Node,
    transport::{HttpAnswer, Purpose, TransportError, Used},
    url::NodeUrl,
};
use crate::{ChainError, Head};

/// Longer answers are read on a thread for blocking work: checking a large block's signatures takes milliseconds.
const LONG_ANSWER: usize = 64 * 1024;

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
    /// Asks one question and reads the result.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        method: &'static str,
        params: impl Serialize,
        read: impl FnOnce(&RawValue) -> Result<T, DecodeError> + Send + 'static,
    ) -> Result<T, ChainError> {
        self.ask_for(Purpose::Read, method, params, read).await
    }

    /// Asks one question to learn how the node is.
    pub(super) async fn probe<T: Send + 'static>(
        &self,
        method: &'static str,
        params: impl Serialize,
        read: impl FnOnce(&RawValue) -> Result<T, DecodeError> + Send + 'static,
    ) -> Result<T, ChainError> {
        self.ask_for(Purpose::Probe, method, params, read).await
    }

    async fn ask_for<T: Send + 'static>(
        &self,
        purpose: Purpose,
        method: &'static str,
        params: impl Serialize,
        read: impl FnOnce(&RawValue) -> Result<T, DecodeError> + Send + 'static,
    ) -> Result<T, ChainError> {
        let id = self.take_ids(1);
        let (body, used) = self.send(purpose, method, &Request::new(id, method, params)).await?;
        let answer = elsewhere_if_long(body, move |body| match jsonrpc::read_answer(&body, id) {
            Ok(jsonrpc::Answer::Result(json)) => read(json).map_err(|error| not_understood(method, error)),
            Ok(jsonrpc::Answer::Error(error)) => Err(refusal(method, error)),
            Err(error) => Err(not_understood(method, error)),
        });
        self.noting(answer.await, used)
    }

    /// Asks several questions in one request and reads the results, in the order of the questions.
    pub(super) async fn ask_batch<P: Serialize, T: Send + 'static>(
        &self,
        questions: Vec<(&'static str, P)>,
        read: impl Fn(usize, &RawValue) -> Result<T, DecodeError> + Send + 'static,
    ) -> Result<Vec<T>, ChainError> {
        let Some(&(method, _)) = questions.first() else { return Ok(Vec::new()) };
        let asked = questions.len();
        let first = self.take_ids(asked);
        let requests: Vec<_> =
            (first..).zip(questions).map(|(id, (method, params))| Request::new(id, method, params)).collect();
        let (body, used) = self.send(Purpose::Read, method, &requests).await?;
        let answers = elsewhere_if_long(body, move |body| {
            let answers =
                jsonrpc::read_batch(&body, first, asked).map_err(|error| not_understood(method, error))?;
            let results = answers.into_iter().enumerate().map(|(index, answer)| match answer {
                jsonrpc::Answer::Result(json) => {
                    read(index, json).map_err(|error| not_understood(method, error))
                }
                jsonrpc::Answer::Error(error) => Err(refusal(method, error)),
            });
            results.collect::<Result<Vec<T>, ChainError>>()
        });
        self.noting(answers.await, used)
    }

    /// The node's newest header.
    pub(super) async fn latest(&self) -> Result<Head, ChainError> {
        self.probe("eth_getBlockByNumber", ("latest", false), decode::head).await
    }

    async fn send(
        &self,
        purpose: Purpose,
        method: &'static str,
        request: &impl Serialize,
    ) -> Result<(Bytes, Used<'_>), ChainError> {
        let body = serde_json::to_vec(request).map_err(|error| not_understood(method, error))?;
        let posted = self.transport.post(&body, purpose).await.map_err(|error| {
            match (&error, purpose) {
                // What takes long, or is long, may be due to what was asked.
                (
                    TransportError::TimedOut(_) | TransportError::TooLong(_),
                    Purpose::Read | Purpose::ReadAnew,
                ) => {
                    self.note_doubt();
                }
                (TransportError::TimedOut(_) | TransportError::TooLong(_), Purpose::Probe)
                | (
                    TransportError::Connect(_)
                    | TransportError::Closed(_)
                    | TransportError::NotHttp(_)
                    | TransportError::Body(_),
                    Purpose::Read | Purpose::ReadAnew | Purpose::Probe,
                ) => self.note_failure(&error),
            }
            self.unavailable(error)
        });
        let (HttpAnswer { status, body }, used) = posted?;
        if is_answer(status) {
            return Ok((body, used));
        }
        let error = BadStatus { node: self.url().clone(), status };
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
                ChainError::Unavailable(Some(Box::new(NodeFailure { node: self.url().clone(), source })))
            }
        }
    }

    /// Takes note of what came of an answer: a node that talks nonsense is as little use as one that does not talk, and so is its
    /// connection.
    fn noting<T>(&self, result: Result<T, ChainError>, used: Used<'_>) -> Result<T, ChainError> {
        match &result {
            Ok(_) | Err(ChainError::Reverted { .. } | ChainError::Refused { .. }) => {
                used.reuse();
                self.note_answer();
            }
            Err(ChainError::NotUnderstood { method, source }) => {
                tracing::debug!(node = %self.url(), method, %source, "an answer of a node is not understood");
                self.note_failure(source.as_ref());
            }
            Err(ChainError::Unavailable(_) | ChainError::TimedOut) => {}
        }
        result
    }
}

/// Besu answers some JSON-RPC errors with 400; anything else that is not a success did not come from the node's JSON-RPC,
/// and what is in its body is of no interest.
pub(super) fn is_answer(status: StatusCode) -> bool {
    status.is_success() || status == StatusCode::BAD_REQUEST
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
