//! Reads: asked of one node, of a second one if that is slow, of the next one if it fails.

use bytes::Bytes;
use jsonrpc::Answer;
use tokio::time::Instant;

use super::choose::Tried;
use crate::{
    Lane, RawError,
    remote::{Shared, node::Node},
};

impl Shared {
    /// Asks nodes until one answers.
    pub(super) async fn read(&self, lane: Lane, at: u64, body: Bytes) -> Result<Answer, RawError> {
        let deadline = Instant::now() + self.config.request_timeout;
        let mut tried = Tried::default();
        let mut failure = RawError::Unavailable;
        self.hedging.earn();
        while let Some(node) = self.choose(at, &mut tried, deadline).await {
            match self.read_from(node, lane, at, &body, &mut tried).await {
                Ok(answer) => return Ok(answer),
                // The next node would take as long, or say as much.
                Err(error @ (RawError::TimedOut | RawError::TooLong)) => return Err(error),
                Err(error @ (RawError::Unavailable | RawError::Busy)) => failure = error,
            }
        }
        Err(failure)
    }

    /// Asks a node, and a second one as well if the first takes unusually long.
    async fn read_from(
        &self,
        node: &Node,
        lane: Lane,
        at: u64,
        body: &Bytes,
        tried: &mut Tried,
    ) -> Result<Answer, RawError> {
        let mut first = std::pin::pin!(self.timed(node, lane, body.clone()));
        if self.nodes.len() == 1 {
            return first.await;
        }
        if let Ok(answer) = tokio::time::timeout(self.hedging.delay(lane), first.as_mut()).await {
            return answer;
        }
        if !self.hedging.spend() {
            return first.await;
        }
        let Some(other) = self.choose_now(at, tried) else { return first.await };
        let mut second = std::pin::pin!(self.timed(other, lane, body.clone()));
        // Whichever answers first; if that is a failure, the other one.
        let (answer, rest) = tokio::select! {
            answer = first.as_mut() => (answer, second),
            answer = second.as_mut() => (answer, first),
        };
        if answer.is_ok() { answer } else { rest.await }
    }

    async fn timed(&self, node: &Node, lane: Lane, body: Bytes) -> Result<Answer, RawError> {
        let started = Instant::now();
        let answer = node.pass_on(lane, body).await;
        if answer.is_ok() {
            self.hedging.note(lane, started.elapsed());
        }
        answer
    }
}
