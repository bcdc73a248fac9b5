//! Transactions: sent to two nodes at once, so that one that dies with it in its pool does not lose it.

use std::sync::Arc;

use alloy_primitives::{Bytes as HexBytes, keccak256};
use jsonrpc::Answer;
use serde::Deserialize;
use tokio::task::JoinSet;

use super::choose::Tried;
use crate::{
    RawCall, RawError,
    remote::{Shared, node::Node},
};

/// Nodes that a transaction is sent to at a time.
const COPIES: usize = 2;

/// What Besu and geth say of a transaction that they have already, in lower case. There is no code for it.
const KNOWN: [&str; 3] = ["known transaction", "already known", "already imported"];

/// What came back so far.
#[derive(Default)]
struct Outcome {
    /// A node's own refusal.
    refused: Option<Answer>,
    /// A node has the transaction already.
    known: Option<Answer>,
    /// A node did not answer: it may have taken the transaction and passed it on.
    failed: Option<RawError>,
}

impl Shared {
    /// Sends a transaction.
    pub(super) async fn write(&self, call: &RawCall) -> Result<Answer, RawError> {
        let mut tried = Tried::default();
        let mut outcome = Outcome::default();
        loop {
            let mut sending = JoinSet::new();
            while sending.len() < COPIES
                && let Some(node) = self.choose_now(0, &mut tried)
            {
                sending.spawn(send(Arc::clone(node), call.clone()));
            }
            if sending.is_empty() {
                return outcome.settle(&call.params);
            }
            while let Some(answer) = sending.join_next().await {
                if let Some(taken) = outcome.note(answer.unwrap_or(Err(RawError::Unavailable))) {
                    // The other copy is still on its way, and is to arrive.
                    sending.detach_all();
                    return Ok(taken);
                }
            }
            if outcome.is_decided() {
                return outcome.settle(&call.params);
            }
        }
    }
}

/// Gives a transaction to a node. Sending it again, after a connection was lost, is harmless: it is the same bytes, so it has the same
/// hash and nonce, and a node that has it says that it knows it. Whoever sent it once is then told its hash, as if nothing had been lost.
async fn send(node: Arc<Node>, call: RawCall) -> Result<Answer, RawError> {
    let (answer, is_resent) = node.ask_once_or_twice(&call).await?;
    Ok(match answer {
        Answer::Error(error) if is_resent && is_known(&error) => {
            hash_of(&call.params).unwrap_or(Answer::Error(error))
        }
        answer => answer,
    })
}

impl Outcome {
    /// Takes note of an answer; returns it if the transaction was taken.
    fn note(&mut self, answer: Result<Answer, RawError>) -> Option<Answer> {
        match answer {
            Ok(answer @ Answer::Result(_)) => return Some(answer),
            Ok(Answer::Error(error)) if is_known(&error) => self.known = Some(Answer::Error(error)),
            Ok(error @ Answer::Error(_)) => self.refused = Some(error),
            Err(error) => self.failed = Some(error),
        }
        None
    }

    /// Whether a node has said something that other nodes would repeat.
    fn is_decided(&self) -> bool {
        self.refused.is_some() || self.known.is_some()
    }

    /// What the caller is told.
    fn settle(self, params: &str) -> Result<Answer, RawError> {
        match self {
            // The one that did not answer has passed it on to the one that knows it.
            Self { known: Some(known), failed: Some(_), refused: _ } => Ok(hash_of(params).unwrap_or(known)),
            Self { known: Some(known), failed: None, refused: _ } => Ok(known),
            Self { known: None, refused: Some(refused), failed: _ } => Ok(refused),
            Self { known: None, refused: None, failed } => Err(failed.unwrap_or(RawError::Unavailable)),
        }
    }
}

#[derive(Deserialize)]
struct NodeError<'a> {
    #[serde(borrow, default)]
    message: std::borrow::Cow<'a, str>,
}

fn is_known(error: &[u8]) -> bool {
    let Ok(NodeError { message }) = serde_json::from_slice(error) else { return false };
    let message = message.to_ascii_lowercase();
    KNOWN.iter().any(|known| message.contains(known))
}

/// The hash of the transaction in these parameters, as a node answers it.
fn hash_of(params: &str) -> Option<Answer> {
    let [transaction]: [HexBytes; 1] = serde_json::from_str(params).ok()?;
    Some(Answer::Result(format!("\"{:#x}\"", keccak256(&transaction)).into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(message: &str) -> Answer {
        Answer::Error(format!(r#"{{"code":-32000,"message":"{message}"}}"#).into())
    }

    fn settled(answers: [Result<Answer, RawError>; 2]) -> Result<Answer, RawError> {
        let mut outcome = Outcome::default();
        for answer in answers {
            assert!(outcome.note(answer).is_none());
        }
        outcome.settle(r#"["0x01"]"#)
    }

    #[test]
    fn what_two_nodes_say_becomes_one_answer() {
        let hash = hash_of(r#"["0x01"]"#).expect("a hash");
        let failed = || Err(RawError::Unavailable);
        assert_eq!(settled([failed(), Ok(error("Known transaction"))]), Ok(hash));
        assert_eq!(settled([Ok(error("Nonce too low")), failed()]), Ok(error("Nonce too low")));
        let known = error("already known");
        assert_eq!(settled([Ok(error("Nonce too low")), Ok(known.clone())]), Ok(known.clone()));
        assert_eq!(settled([Ok(known.clone()), Ok(known.clone())]), Ok(known));
        assert_eq!(settled([failed(), Err(RawError::TimedOut)]), Err(RawError::TimedOut));
        let mut outcome = Outcome::default();
        let taken = Answer::Result("\"0x1\"".into());
        assert_eq!(outcome.note(Ok(taken.clone())), Some(taken));
    }
}
