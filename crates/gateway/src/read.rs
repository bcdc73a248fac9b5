//! The way of a read: pinned to a block, looked up, and asked of a node if nobody knows.

use std::sync::Arc;

use alloy_primitives::U128;
use chain::{RawCall, RawError};
use jsonrpc::{Answer, Params};
use serde::Deserialize;

use crate::{
    cache::{Question, Tier, Verdict},
    caller::Caller,
    gateway::Gateway,
    head::Served,
    method::{Class, Found, Known},
    metrics::Way,
    pin::{self, AtHead, Pinned},
    refusal::Refusal,
};

/// geth's and Anvil's code for a reverted call.
const GETH_REVERTED: i64 = 3;
/// Besu's code for a reverted call, and for many other things.
const BESU_REVERTED: i64 = -32000;

const GAS_PRICE: &str = "eth_gasPrice";
/// A method that Besu has since 24.7.0 only, and that wallets ask for.
const PRIORITY_FEE: &str = "eth_maxPriorityFeePerGas";
/// The codes of a method that a node does not know, or knows and has switched off (Besu).
const NO_SUCH_METHOD: [i64; 2] = [-32601, -32604];

/// The parameters are an object.
const NAMED_PARAMS: Refusal = Refusal::InvalidParams { reason: "named_params" };

impl Gateway {
    /// Answers a read of a node's data for a caller, who needs a place only if a node is asked.
    pub(crate) async fn read_for(
        &self,
        caller: &Caller,
        known: Known,
        params: Params<'_>,
        head: &Served,
    ) -> Result<(Answer, Way), Refusal> {
        let pinned = settle(known, params, head)?;
        if let Some(answer) = self.kept(known, &pinned, head) {
            return Ok((answer, Way::Kept));
        }
        let _place = self.enter(caller)?;
        self.ask(known, pinned, head).await
    }

    /// Answers a read of a node's data.
    pub(crate) async fn read(
        &self,
        known: Known,
        params: Params<'_>,
        head: &Served,
    ) -> Result<(Answer, Way), Refusal> {
        self.read_pinned(known, settle(known, params, head)?, head).await
    }

    /// Answers a read whose block is settled.
    pub(crate) async fn read_pinned(
        &self,
        known: Known,
        pinned: Pinned<'_>,
        head: &Served,
    ) -> Result<(Answer, Way), Refusal> {
        match self.kept(known, &pinned, head) {
            Some(answer) => Ok((answer, Way::Kept)),
            None => self.ask(known, pinned, head).await,
        }
    }

    /// The answer to a read that was asked before.
    fn kept(&self, known: Known, pinned: &Pinned<'_>, head: &Served) -> Option<Answer> {
        let question =
            Question { line: head.line, tier: pinned.tier?, method: known.index, params: &pinned.params };
        let found = self.caches.get(&question);
        if found.is_some() || !is_by_hash(known) {
            return found;
        }
        self.caches.get(&missing(question, head))
    }

    /// Asks a node, unless somebody does so already.
    async fn ask(&self, known: Known, pinned: Pinned<'_>, head: &Served) -> Result<(Answer, Way), Refusal> {
        let Pinned { params, tier, at } = pinned;
        let Some(tier) = tier else {
            return Ok((self.pass_on(known, params.into(), at).await?, Way::Passed));
        };
        let question = Question { line: head.line, tier, method: known.index, params: &params };
        let class = known.method.class;
        let ask = |params| self.pass_on(known, params, at);
        let asking = self.caches.ask(&question, ask, |answer| judge(class, answer, head));
        let answer = tokio::time::timeout(self.config.limits.node_timeout, asking).await;
        let answer = answer.map_err(|_| Refusal::TimedOut)??;
        let is_null = matches!(&answer, Answer::Result(json) if json.as_ref() == b"null");
        if is_null && is_until_next_head(class) {
            self.caches.keep_missing(&missing(question, head), &answer);
        }
        Ok((answer, Way::Asked))
    }

    /// Asks a node.
    pub(crate) async fn pass_on(&self, known: Known, params: Arc<str>, at: u64) -> Result<Answer, Refusal> {
        let call = RawCall { method: known.method.name, params, lane: known.method.lane, at };
        let answer = self.upstream.call(call).await.map_err(|error| match error {
            RawError::Unavailable => Refusal::Unavailable { reason: "no_node" },
            RawError::Busy => Refusal::Unavailable { reason: "overloaded" },
            RawError::TimedOut => Refusal::TimedOut,
            RawError::TooLong => Refusal::LongAnswer { most: self.config.limits.max_answer_bytes },
        })?;
        let answer = self.suggested(known, answer);
        let (Answer::Result(json) | Answer::Error(json)) = &answer;
        let most = self.config.limits.max_answer_bytes;
        if json.len() > most { Err(Refusal::LongAnswer { most }) } else { Ok(answer) }
    }

    /// The price that a node suggests, but no less than is taken here. A node that is too old to suggest a tip is answered for.
    fn suggested(&self, known: Known, answer: Answer) -> Answer {
        let least = match known.method.name {
            GAS_PRICE => u128::from(self.config.min_gas_price),
            PRIORITY_FEE => u128::from(self.config.min_gas_price.saturating_sub(self.base_fee())),
            _ => return answer,
        };
        let is_less = match &answer {
            Answer::Result(json) => {
                serde_json::from_slice::<U128>(json).is_ok_and(|found| found < U128::from(least))
            }
            Answer::Error(error) => known.method.name == PRIORITY_FEE && is_unknown_method(error),
        };
        if is_less { Answer::Result(format!("\"{least:#x}\"").into()) } else { answer }
    }
}

fn is_unknown_method(error: &[u8]) -> bool {
    serde_json::from_slice::<NodeError>(error).is_ok_and(|error| NO_SUCH_METHOD.contains(&error.code))
}

/// Settles which block a read is about.
fn settle<'a>(known: Known, params: Params<'a>, head: &Served) -> Result<Pinned<'a>, Refusal> {
    let elements = params.elements().ok_or(NAMED_PARAMS)?;
    let text = params.text();
    let compact = |tier| Pinned { params: pin::compact(text, &elements), tier, at: head.number };
    Ok(match known.method.class {
        Class::State { block } => pin::pin(text, &elements, block, AtHead::Passing, head),
        Class::Block { block } => pin::pin(text, &elements, block, AtHead::Lasting, head),
        Class::Hash(_) | Class::Pure => compact(Some(Tier::Final)),
        Class::Head => compact(Some(Tier::Head(head.number))),
        Class::Local(_) | Class::Logs | Class::Send | Class::Filter(_) | Class::Session(_) => compact(None),
    })
}

fn is_by_hash(known: Known) -> bool {
    matches!(known.method.class, Class::Hash(_))
}

/// Where it is kept that something is not found by its hash: it may be after the next head.
fn missing<'a>(question: Question<'a>, head: &Served) -> Question<'a> {
    Question { tier: Tier::Head(head.number), ..question }
}

/// Whether what is not there now appears only with a block.
fn is_until_next_head(class: Class) -> bool {
    match class {
        Class::Hash(Found::Block | Found::Receipt | Found::Part) => true,
        Class::Hash(Found::Transaction)
        | Class::State { .. }
        | Class::Block { .. }
        | Class::Head
        | Class::Pure
        | Class::Local(_)
        | Class::Logs
        | Class::Send
        | Class::Filter(_)
        | Class::Session(_) => false,
    }
}

/// Whether an answer may be kept.
fn judge(class: Class, answer: &Answer, head: &Served) -> Verdict {
    let holds = match (answer, class) {
        (Answer::Error(error), Class::State { .. }) => is_revert(error),
        (Answer::Error(_), _) => false,
        (Answer::Result(json), Class::Hash(found)) => is_final(found, json, head),
        // At or below the head there is such a block; a node that does not know it is behind.
        (Answer::Result(json), Class::Block { .. }) => json.as_ref() != b"null",
        (Answer::Result(_), Class::State { .. } | Class::Head | Class::Pure | Class::Logs) => true,
        (Answer::Result(_), Class::Local(_) | Class::Send | Class::Filter(_) | Class::Session(_)) => false,
    };
    if holds { Verdict::Keep } else { Verdict::Share }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Place<'a> {
    #[serde(default)]
    number: Option<&'a str>,
    #[serde(default)]
    block_number: Option<&'a str>,
}

/// Whether something found by its hash is in a block that is served.
fn is_final(found: Found, json: &[u8], head: &Served) -> bool {
    let place = || serde_json::from_slice::<Place<'_>>(json).ok();
    let number = match found {
        Found::Part => return json != b"null",
        Found::Block => place().and_then(|place| pin::quantity(place.number?)),
        Found::Transaction | Found::Receipt => place().and_then(|place| pin::quantity(place.block_number?)),
    };
    number.is_some_and(|number| number <= head.number)
}

#[derive(Deserialize)]
struct NodeError {
    code: i64,
    #[serde(default)]
    data: Option<serde::de::IgnoredAny>,
}

/// Whether a call reverted, which it does each time at the same block.
fn is_revert(error: &[u8]) -> bool {
    match serde_json::from_slice::<NodeError>(error) {
        Ok(NodeError { code: GETH_REVERTED, .. }) => true,
        Ok(NodeError { code: BESU_REVERTED, data }) => data.is_some(),
        Ok(_) | Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reverts_are_told_from_other_errors() {
        assert!(is_revert(br#"{"code":3,"message":"execution reverted","data":"0x01"}"#));
        assert!(is_revert(br#"{"code":-32000,"message":"Execution reverted","data":"0x"}"#));
        assert!(!is_revert(br#"{"code":-32000,"message":"Block not found"}"#));
        assert!(!is_revert(br#"{"code":-32603,"message":"Internal error","data":"0x"}"#));
        assert!(!is_revert(b"nonsense"));
    }

    #[test]
    fn what_is_in_a_served_block_is_final() {
        let head = Served::new(16, 0);
        assert!(is_final(Found::Transaction, br#"{"hash":"0x1","blockNumber":"0x10"}"#, &head));
        assert!(!is_final(Found::Transaction, br#"{"hash":"0x1","blockNumber":"0x11"}"#, &head));
        assert!(!is_final(Found::Transaction, br#"{"hash":"0x1","blockNumber":null}"#, &head));
        assert!(!is_final(Found::Receipt, b"null", &head));
        assert!(is_final(Found::Block, br#"{"number":"0x1"}"#, &head));
        assert!(is_final(Found::Part, b"\"0x0\"", &head) && !is_final(Found::Part, b"null", &head));
    }
}
