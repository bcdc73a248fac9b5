//! Small reads that are asked for at the same moment go to a node in one request: most of what such a read costs, here and there, is
//! moving it.
//!
//! Nobody waits for company. A read is sent when its thread has dealt with everything else that had arrived; on an idle one that is
//! at once, and alone.

use std::{sync::Arc, time::Duration};

use ::jsonrpc::{Answer, AnswerError, read_answers, write_batch};
use parking_lot::Mutex;
use tokio::{
    runtime::{self, Handle},
    sync::oneshot,
    time::Instant,
};

use super::{node::Node, raw::Latency, transport::Purpose};
use crate::{Lane, RawCall, RawError};

/// Reads in one request. A node works on them one after the other.
const MOST: usize = 16;
/// A node that takes longer is asked for each read by itself, so that it can work on several at once.
const PATIENCE: Duration = Duration::from_millis(10);
/// How long a node that took no batch is offered none: perhaps it was ill, or something before it was.
const GRUDGE: Duration = Duration::from_secs(60);

/// Reads of one node that are about to be sent.
#[derive(Default)]
pub(super) struct Bundles {
    /// By the runtime that sends them.
    waiting: Mutex<Vec<(runtime::Id, Vec<Member>)>>,
    /// How long the node has taken for them.
    latency: Latency,
    /// When the node last took no batch.
    refused_at: Mutex<Option<Instant>>,
}

/// A read, and where its answer is awaited. Whoever awaits one that is dropped without an answer asks alone.
struct Member {
    call: RawCall,
    answer: oneshot::Sender<Result<Answer, RawError>>,
}

impl Bundles {
    fn are_welcome(&self, now: impl FnOnce() -> Instant) -> bool {
        let is_refused = self.refused_at.lock().is_some_and(|then| now() < then + GRUDGE);
        !is_refused && self.latency.average() < PATIENCE
    }

    /// Takes note that the node took no batch; whether that is news.
    fn note_refusal(&self, now: Instant) -> bool {
        self.refused_at.lock().replace(now).is_none()
    }

    /// Takes note of how long the node has taken.
    pub(super) fn note(&self, took: Duration) {
        self.latency.note(took);
    }

    /// Adds a read; whether somebody has to be sent with it. There is a carrier for every [`MOST`] of them.
    fn join(&self, here: runtime::Id, member: Member) -> bool {
        let mut waiting = self.waiting.lock();
        match waiting.iter_mut().find(|(home, _)| *home == here) {
            Some((_, members)) => {
                members.push(member);
                members.len() % MOST == 1
            }
            None => {
                waiting.push((here, vec![member]));
                true
            }
        }
    }

    /// As many reads as go together.
    fn take(&self, here: runtime::Id) -> Vec<Member> {
        let mut waiting = self.waiting.lock();
        let Some(place) = waiting.iter().position(|(home, _)| *home == here) else { return Vec::new() };
        if let Some((_, members)) = waiting.get_mut(place)
            && members.len() > MOST
        {
            return members.drain(..MOST).collect();
        }
        waiting.swap_remove(place).1
    }
}

impl Node {
    /// Passes a small read on, together with others if there are any.
    pub(super) async fn pass_on_together(self: &Arc<Self>, call: &RawCall) -> Result<Answer, RawError> {
        if !self.bundles.are_welcome(Instant::now) {
            return Box::pin(self.pass_on_alone(call)).await;
        }
        let here = Handle::current().id();
        let (answer, answered) = oneshot::channel();
        if self.bundles.join(here, Member { call: call.clone(), answer }) {
            // A task of its own: whoever asked first may leave while others wait.
            tokio::spawn(carry(Arc::clone(self), here));
        }
        match answered.await {
            Ok(answer) => answer,
            Err(_) => Box::pin(self.pass_on_alone(call)).await,
        }
    }
}

async fn carry(node: Arc<Node>, here: runtime::Id) {
    let turn = node.turn(Lane::Small).await;
    let mut members = node.bundles.take(here);
    if let Err(error) = turn {
        return answer_all(members, error);
    }
    if members.len() > 1 {
        return ask_together(&node, members).await;
    }
    if let Some(Member { call, answer }) = members.pop() {
        // Fails only if nobody waits any more; so do those below.
        let _ = answer.send(node.ask_alone(&call).await);
    }
}

async fn ask_together(node: &Node, members: Vec<Member>) {
    let (first_id, mut body) = (node.take_ids(members.len()), Vec::new());
    write_batch(&mut body, first_id, members.iter().map(|Member { call, .. }| (call.method, &*call.params)));
    let (answers, used) = match node.post(Lane::Small, &body, Purpose::Read).await {
        Ok((body, used)) => (body.and_then(|body| read_answers(&body, first_id, members.len())), used),
        // One by one they may be short enough.
        Err(RawError::TooLong) => return,
        Err(error @ (RawError::Unavailable | RawError::Busy | RawError::TimedOut)) => {
            return answer_all(members, error);
        }
    };
    match answers {
        Ok(answers) => {
            used.reuse();
            node.note_answer();
            for (Member { answer, .. }, answered) in members.into_iter().zip(answers) {
                let _ = answer.send(Ok(answered));
            }
        }
        // The connection is out of step, which says nothing about batches.
        Err(AnswerError::OtherRequest) => {
            tracing::warn!(node = %node.url(), "an answer of a node was to another batch; the connection is closed");
        }
        // Whether it is well is seen when it is asked for each by itself.
        Err(AnswerError::Malformed | AnswerError::Unnamed(_)) => {
            if node.bundles.note_refusal(Instant::now()) {
                tracing::info!(node = %node.url(), "the node took no batch; it is asked for everything by itself for a while");
            }
        }
    }
}

fn answer_all(members: Vec<Member>, error: RawError) {
    for Member { answer, .. } in members {
        let _ = answer.send(Err(error));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_takes_long_gets_no_bundles_until_it_is_quick_again() {
        let (bundles, now) = (Bundles::default(), Instant::now());
        assert!(bundles.are_welcome(|| now));
        bundles.note(Duration::from_millis(50));
        assert!(!bundles.are_welcome(|| now));
        (0..20).for_each(|_| bundles.note(Duration::from_micros(100)));
        assert!(bundles.are_welcome(|| now));
    }

    #[test]
    fn a_node_that_took_no_batch_is_offered_one_again_after_a_while() {
        let (bundles, now) = (Bundles::default(), Instant::now());
        assert!(bundles.note_refusal(now) && !bundles.are_welcome(|| now));
        assert!(bundles.are_welcome(|| now + GRUDGE));
        assert!(!bundles.note_refusal(now + GRUDGE), "no news");
    }
}
