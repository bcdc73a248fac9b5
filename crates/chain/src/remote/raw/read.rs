//! Reads: asked of one node, of a second one if that is slow, of the next one if it fails.

use std::sync::Arc;

use jsonrpc::Answer;
use tokio::time::Instant;

use super::choose::Tried;
use crate::{
    RawCall, RawError,
    remote::{Shared, node::Node},
};

impl Shared {
    /// Asks nodes until one answers.
    pub(super) async fn read(&self, call: &RawCall) -> Result<Answer, RawError> {
        let deadline = Instant::now() + self.config.request_timeout;
        let mut tried = Tried::default();
        let mut failure = RawError::Unavailable;
        self.hedging.earn();
        while let Some(node) = self.choose(call.at, &mut tried, deadline).await {
            match self.read_from(node, call, &mut tried).await {
                Ok(answer) => return Ok(answer),
                // The next node would take as long, or say as much.
                Err(error @ (RawError::TimedOut | RawError::TooLong)) => return Err(error),
                Err(error @ (RawError::Unavailable | RawError::Busy)) => failure = error,
            }
        }
        Err(failure)
    }

    /// Asks a node, and a second one as well if the first takes unusually long and there is one.
    async fn read_from(
        &self,
        node: &Arc<Node>,
        call: &RawCall,
        tried: &mut Tried,
    ) -> Result<Answer, RawError> {
        if self.nodes.len() == 1 {
            return self.timed(node, call).await;
        }
        let mut first = std::pin::pin!(self.timed(node, call));
        if let Ok(answer) = tokio::time::timeout(self.hedging.delay(call.lane), first.as_mut()).await {
            return answer;
        }
        if !self.hedging.spend() {
            return first.await;
        }
        let Some(other) = self.choose_now(call.at, tried) else { return first.await };
        let mut second = Box::pin(self.timed(other, call));
        // Whichever answers first; if that is a failure, the other one.
        tokio::select! {
            answer = first.as_mut() => if answer.is_ok() { answer } else { second.await },
            answer = second.as_mut() => if answer.is_ok() { answer } else { first.await },
        }
    }

    async fn timed(&self, node: &Arc<Node>, call: &RawCall) -> Result<Answer, RawError> {
        let started = Instant::now();
        let answer = node.pass_on(call).await;
        if answer.is_ok() {
            self.hedging.note(call.lane, started.elapsed());
        }
        answer
    }
}
