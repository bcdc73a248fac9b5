//! Which node is asked.

use std::sync::Arc;

use tokio::time::Instant;

use crate::remote::{Shared, node::Node};

/// Nodes that were asked already, by their place in the list.
#[derive(Default)]
pub(super) struct Tried(Vec<usize>);

/// Who can be asked.
enum Choice<'a> {
    /// This node, and its place in the list.
    Node(usize, &'a Arc<Node>),
    /// Healthy nodes that do not have the block yet.
    Soon,
    /// Nobody.
    Nobody,
}

impl Shared {
    fn look(&self, at: u64, tried: &Tried) -> Choice<'_> {
        let served = self.served.number();
        let untried = self.nodes.iter().enumerate().filter(|(place, _)| !tried.0.contains(place));
        let mut usable = untried.filter(|(_, node)| node.is_usable(served)).peekable();
        if usable.peek().is_none() {
            return Choice::Nobody;
        }
        let ready = usable.filter(|(_, node)| at == 0 || node.head() >= Some(at));
        match ready.min_by_key(|(_, node)| node.cost()) {
            Some((place, node)) => Choice::Node(place, node),
            None => Choice::Soon,
        }
    }

    /// The best node that has the block and was not tried, at once or not at all.
    pub(super) fn choose_now(&self, at: u64, tried: &mut Tried) -> Option<&Arc<Node>> {
        match self.look(at, tried) {
            Choice::Node(place, node) => {
                tried.0.push(place);
                Some(node)
            }
            Choice::Soon | Choice::Nobody => None,
        }
    }

    /// The best node that has the block and was not tried. Nodes see a block moments apart: if the one that has shown it
    /// is gone, those that are about to have it are waited for.
    pub(super) async fn choose(&self, at: u64, tried: &mut Tried, deadline: Instant) -> Option<&Arc<Node>> {
        loop {
            let moved = self.moved.notified();
            match self.look(at, tried) {
                Choice::Node(place, node) => {
                    tried.0.push(place);
                    return Some(node);
                }
                Choice::Nobody => return None,
                Choice::Soon => tokio::time::timeout_at(deadline, moved).await.ok()?,
            }
        }
    }
}
