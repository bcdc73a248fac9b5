//! The pool's news, picked out of the chain's events.

use ::chain::PendingHashes;
use futures_util::{StreamExt, stream};
use tokio::sync::broadcast::error::RecvError;

use super::{Chain, ChainEvent};

impl Chain {
    /// Hashes of the transactions that enter the pool from now on.
    pub fn pending_hashes(&self) -> PendingHashes {
        stream::unfold(self.subscribe(), |mut events| async move {
            loop {
                match events.recv().await {
                    Ok(ChainEvent::Pending(transaction)) => return Some((*transaction.tx_hash(), events)),
                    Ok(ChainEvent::Head(_) | ChainEvent::Reverted { .. }) => {}
                    Err(RecvError::Lagged(missed)) => {
                        tracing::warn!(missed, "events of the chain were missed");
                    }
                    Err(RecvError::Closed) => return None,
                }
            }
        })
        .boxed()
    }
}
