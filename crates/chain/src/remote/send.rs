//! Sending transactions: to two nodes at once, because a node that takes one may die before it passes it on.

use std::sync::Arc;

use alloy_primitives::{B256, Bytes, keccak256};
use futures_util::{StreamExt, stream::FuturesUnordered};

use super::{Shared, decode::DecodeError, node::Node, reads::plain, verdict::Verdict};
use crate::{ChainError, Rejection, SendError, Sent};

/// Nodes that are handed a transaction at the same time.
const AT_ONCE: usize = 2;

impl Shared {
    /// Hands a signed transaction to the best two nodes, and to the next two as long as nobody has understood it.
    pub(super) async fn send(&self, raw: Bytes) -> Result<Sent, SendError> {
        let mut doubt = None;
        let mut refusal = None;
        for nodes in self.candidates(self.served.number().unwrap_or_default()).chunks(AT_ONCE) {
            match send_to(nodes, &raw).await {
                Ok(sent) => return Ok(sent),
                Err(error @ SendError::Unknown(_)) => doubt = Some(error),
                Err(error @ SendError::Rejected { .. }) => {
                    refusal = Some(error);
                    break;
                }
            }
        }
        // One node that may have it outweighs all that do not.
        Err(doubt.or(refusal).unwrap_or(SendError::Unknown(ChainError::Unavailable(None))))
    }
}

/// The first success, or what is worst to know. The slower node is not waited for after a success, but gets its copy.
async fn send_to(nodes: &[&Arc<Node>], raw: &Bytes) -> Result<Sent, SendError> {
    let mut answers: FuturesUnordered<_> =
        nodes.iter().map(|node| tokio::spawn(send_to_one(Arc::clone(node), raw.clone()))).collect();
    let mut doubt = None;
    let mut refusal = None;
    while let Some(answer) = answers.next().await {
        let lost = |error| SendError::Unknown(ChainError::Unavailable(Some(Box::new(error))));
        match answer.map_err(lost).and_then(|answer| answer) {
            Ok(sent) => return Ok(sent),
            Err(error @ SendError::Unknown(_)) => doubt = Some(error),
            Err(error @ SendError::Rejected { .. }) => refusal = Some(error),
        }
    }
    Err(doubt.or(refusal).unwrap_or(SendError::Unknown(ChainError::Unavailable(None))))
}

async fn send_to_one(node: Arc<Node>, raw: Bytes) -> Result<Sent, SendError> {
    const METHOD: &str = "eth_sendRawTransaction";
    let expected = keccak256(&raw);
    let read = move |json: &serde_json::value::RawValue| {
        let found: B256 = plain(json)?;
        if found == expected {
            return Ok(());
        }
        Err(DecodeError::Other { asked: expected.to_string(), found: found.to_string() })
    };
    match node.ask(METHOD, [raw], read).await {
        Ok(()) => Ok(Sent::Accepted),
        Err(ChainError::Refused { code, message }) => match Verdict::of(code, &message) {
            Verdict::Known => Ok(Sent::Known),
            Verdict::Rejected(reason) => Err(SendError::Rejected { reason, message }),
            Verdict::Unclear => Err(SendError::Unknown(ChainError::Refused { code, message })),
        },
        // Only calls revert.
        Err(ChainError::Reverted { .. }) => {
            Err(SendError::Rejected { reason: Rejection::Other, message: "reverted".to_owned() })
        }
        Err(
            error @ (ChainError::Unavailable(_) | ChainError::TimedOut | ChainError::NotUnderstood { .. }),
        ) => Err(SendError::Unknown(error)),
    }
}
