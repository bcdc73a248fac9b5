//! One head out of many: the newest block that any node has shown, never a lower one.
//!
//! Nodes see a block a moment apart, so without this a reader who is sent to another node would see the chain go back.

use std::sync::Arc;

use tokio::sync::watch;

use super::node::Node;
use crate::Head;

/// The head that is served.
pub(super) struct ServedHead {
    head: watch::Sender<Option<Arc<Head>>>,
    follow_reverts: bool,
}

/// What a reported head means for the served one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reported {
    /// It is the served head now.
    Served,
    /// It is what is served already, or older.
    Known,
    /// The chain seems to have gone back; ask the node again before believing it.
    Doubtful,
}

impl ServedHead {
    pub(super) fn new(follow_reverts: bool) -> Self {
        Self { head: watch::Sender::new(None), follow_reverts }
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<Option<Arc<Head>>> {
        self.head.subscribe()
    }

    pub(super) fn get(&self) -> Option<Arc<Head>> {
        self.head.borrow().clone()
    }

    pub(super) fn number(&self) -> Option<u64> {
        self.head.borrow().as_ref().map(|head| head.number())
    }

    /// Takes note of a node's head.
    pub(super) fn report(&self, node: &Node, head: Head) -> Reported {
        node.note_head(head.number());
        let mut reported = Reported::Known;
        self.head.send_if_modified(|served| {
            if served.as_ref().is_none_or(|served| head.number() > served.number()) {
                reported = Reported::Served;
                *served = Some(Arc::new(head));
                return true;
            }
            reported = self.judge_old(node, served.as_deref(), &head);
            false
        });
        reported
    }

    fn judge_old(&self, node: &Node, served: Option<&Head>, head: &Head) -> Reported {
        match served {
            Some(served) if served.hash == head.hash => Reported::Known,
            Some(_) if self.follow_reverts => Reported::Doubtful,
            Some(served) if served.number() == head.number() => {
                tracing::error!(
                    node = %node.url(), number = head.number(), served = %served.hash, reported = %head.hash,
                    "two blocks at one height: on a chain with final blocks a node is broken or lying"
                );
                Reported::Known
            }
            Some(_) | None => Reported::Known,
        }
    }

    /// Serves a head that a node has confirmed, higher or not.
    pub(super) fn replace(&self, node: &Node, head: Head) {
        node.note_head(head.number());
        self.head.send_if_modified(|served| {
            if served.as_ref().is_some_and(|served| served.hash == head.hash) {
                return false;
            }
            tracing::warn!(node = %node.url(), number = head.number(), "the chain went back");
            *served = Some(Arc::new(head));
            true
        });
    }
}
