//! Calls of others to one node: passed on as bytes, within the shares of its connections.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use jsonrpc::{Answer, AnswerError};
use tokio::time::Instant;

use super::LaneTurn;
use crate::{
    Lane, RawCall, RawError,
    remote::{
        ask::is_answer,
        node::Node,
        transport::{HttpAnswer, Purpose, TransportError, Used},
    },
};

/// What a failed call counts for when nodes are compared.
const COST_OF_FAILURE: Duration = Duration::from_secs(1);

impl Node {
    /// Passes a call on and cuts its result or error out of the answer, within the lane's share of connections.
    pub(in crate::remote) async fn pass_on(self: &Arc<Self>, call: &RawCall) -> Result<Answer, RawError> {
        match call.lane {
            Lane::Small => self.pass_on_together(call).await,
            // On the heap, as it is large and small reads have no need of it.
            Lane::Cheap | Lane::Heavy | Lane::Write => Box::pin(self.pass_on_alone(call)).await,
        }
    }

    /// Passes a call on in a request of its own.
    pub(in crate::remote) async fn pass_on_alone(&self, call: &RawCall) -> Result<Answer, RawError> {
        let _turn = self.turn(call.lane).await?;
        self.ask_alone(call).await
    }

    /// Asks in a request of its own, when it is its turn.
    pub(in crate::remote) async fn ask_alone(&self, call: &RawCall) -> Result<Answer, RawError> {
        self.ask_once_or_twice(call).await.map(|(answer, _)| answer)
    }

    /// The answer, and whether the node may have got the call twice. What comes over a kept connection may be somebody else's answer; then
    /// the call is sent again over a new one.
    pub(super) async fn ask_once_or_twice(&self, call: &RawCall) -> Result<(Answer, bool), RawError> {
        let (id, mut body) = (self.take_ids(1), Vec::new());
        jsonrpc::write_request(&mut body, id, call.method, &call.params);
        let mut is_resent = false;
        for purpose in [Purpose::Read, Purpose::ReadAnew] {
            let (answer, used) = self.post(call.lane, &body, purpose).await?;
            is_resent |= used.is_resent;
            match answer.and_then(|body| jsonrpc::read_answer(&body, id)) {
                Ok(answer) => {
                    used.reuse();
                    self.note_answer();
                    return Ok((answer, is_resent));
                }
                Err(AnswerError::Unnamed(error)) => return Ok((Answer::Error(error), is_resent)),
                Err(AnswerError::OtherRequest) => {
                    tracing::warn!(node = %self.url(), "an answer of a node was to another request; the connection is closed");
                    is_resent = true;
                }
                Err(AnswerError::Malformed) => {
                    tracing::debug!(node = %self.url(), "an answer of a node is not understood");
                    break;
                }
            }
        }
        self.note_doubt();
        Err(RawError::Unavailable)
    }

    /// A turn on the connections of a lane.
    pub(in crate::remote) async fn turn(&self, lane: Lane) -> Result<LaneTurn<'_>, RawError> {
        if let Some(turn) = self.lanes.try_enter(lane) {
            return Ok(turn);
        }
        let entering = tokio::time::timeout(self.config.request_timeout, self.lanes.enter(lane));
        entering.await.map_err(|_| RawError::Busy)?
    }

    /// Posts one or more calls of a lane. What comes back may be no answer at all.
    pub(in crate::remote) async fn post(
        &self,
        lane: Lane,
        body: &[u8],
        purpose: Purpose,
    ) -> Result<(Result<Bytes, AnswerError>, Used<'_>), RawError> {
        let started = Instant::now();
        let posted = self.transport.post(body, purpose).await;
        let took = started.elapsed();
        if lane == Lane::Small {
            self.bundles.note(took);
        }
        let (HttpAnswer { status, body }, used) = posted.map_err(|error| self.judge(error))?;
        self.latency.note(took);
        if is_answer(status) {
            return Ok((Ok(body), used));
        }
        tracing::debug!(node = %self.url(), %status, "a node answered with a status that is no answer");
        Ok((Err(AnswerError::Malformed), used))
    }

    /// Takes note of a failure. Whether a node can be connected to does not hang on what it is asked; all else may.
    fn judge(&self, error: TransportError) -> RawError {
        // Failing fast is not being fast.
        self.latency.note(COST_OF_FAILURE);
        match error {
            TransportError::Connect(_) => {
                self.note_failure(&error);
                RawError::Unavailable
            }
            TransportError::Closed(_) | TransportError::NotHttp(_) | TransportError::Body(_) => {
                self.note_doubt();
                RawError::Unavailable
            }
            TransportError::TimedOut(_) => {
                self.note_doubt();
                RawError::TimedOut
            }
            TransportError::TooLong(_) => RawError::TooLong,
        }
    }
}
