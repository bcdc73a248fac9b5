//! Which node is asked, and which one next.

use std::sync::Arc;

use super::{Shared, node::Node};
use crate::ChainError;

impl Shared {
    /// The nodes that may be asked, best first: those that have the block, then those with the least to do.
    pub(super) fn candidates(&self, number: u64) -> Vec<&Arc<Node>> {
        let served = self.served.number();
        let mut nodes: Vec<_> = self.nodes.iter().filter(|node| node.is_usable(served)).collect();
        nodes.sort_by_key(|node| (node.head() < Some(number), node.in_flight()));
        nodes
    }

    /// Asks a question about the block at this height or below it, of one node after the other until one answers.
    pub(super) async fn ask_any<T, F>(
        &self,
        number: u64,
        ask: impl Fn(Arc<Node>) -> F,
    ) -> Result<T, ChainError>
    where
        F: Future<Output = Result<T, ChainError>>,
    {
        let mut failure = ChainError::Unavailable(None);
        for node in self.candidates(number) {
            match ask(Arc::clone(node)).await {
                Err(error) if error.is_temporary() => {
                    tracing::debug!(node = %node.url(), %error, "a node failed to answer, the next one is asked");
                    failure = error;
                }
                result => return result,
            }
        }
        Err(failure)
    }
}
