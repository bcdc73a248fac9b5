//! Reads: asked of one node, of a second one if that is slow, of the next one if it fails.

use std::sync::Arc;

use jsonrpc::Answer;
use tokio::time::Instant;

use super::{Question, choose::Tried};
use crate::{
    RawError,
    remote::{Shared, node::Node},
};

impl Shared {
    /// Asks nodes until one answers.
    pub(super) async fn read(&self, question: &Question, at: u64) -> Result<Answer, RawError> {
        let deadline = Instant::now() + self.config.request_timeout;
        let mut tried = Tried::default();
        let mut failure = RawError::Unavailable;
        self.hedging.earn();
        while let Some(node) = self.choose(at, &mut tried, deadline).await {
            match self.read_from(node, question, at, &mut tried).await {
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
        question: &Question,
        at: u64,
        tried: &mut Tried,
    ) -> Result<Answer, RawError> {
        if self.nodes.len() == 1 {
            return self.timed(node, question).await;
        }
        let mut first = std::pin::pin!(self.timed(node, question));
        if let Ok(answer) = tokio::time::timeout(self.hedging.delay(question.lane), first.as_mut()).await {
            return answer;
        }
        if !self.hedging.spend() {
            return first.await;
        }
        let Some(other) = self.choose_now(at, tried) else { return first.await };
        let mut second = Box::pin(self.timed(other, question));
        // Whichever answers first; if that is a failure, the other one.
        tokio::select! {
            answer = first.as_mut() => if answer.is_ok() { answer } else { second.await },
            answer = second.as_mut() => if answer.is_ok() { answer } else { first.await },
        }
    }

    async fn timed(&self, node: &Arc<Node>, question: &Question) -> Result<Answer, RawError> {
        let started = Instant::now();
        let answer = node.pass_on(question).await;
        if answer.is_ok() {
            self.hedging.note(question.lane, started.elapsed());
        }
        answer
    }
}
