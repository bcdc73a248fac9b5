//! The JSON-RPC envelope: requests as bytes, answers as borrowed results.
//!
//! Foreign bytes end here: whatever a node sends becomes a result, an error of the node, or an [`AnswerError`].

use alloy_primitives::Bytes as HexBytes;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::ChainError;

/// geth's and Anvil's code for a reverted call.
const GETH_REVERTED: i64 = 3;
/// Besu's code for a reverted call, and for many other things.
const BESU_REVERTED: i64 = -32000;
/// The codes of a method that the node does not know, or knows and has switched off (Besu).
const NO_SUCH_METHOD: [i64; 2] = [-32601, -32604];

/// One request of a batch, or the only one.
#[derive(Serialize)]
pub(super) struct Request<P> {
    jsonrpc: &'static str,
    id: u64,
    method: &'static str,
    params: P,
}

impl<P: Serialize> Request<P> {
    pub(super) fn new(id: u64, method: &'static str, params: P) -> Self {
        Self { jsonrpc: "2.0", id, method, params }
    }
}

/// What an answer says.
#[derive(Debug)]
pub(super) enum Answer<'a> {
    /// `result`, `null` included.
    Result(&'a RawValue),
    /// `error`.
    Error(NodeError),
}

/// A node's `error` object.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct NodeError {
    code: i64,
    #[serde(default)]
    message: String,
    /// The output of a reverted call, if it is that; nodes put other things here too.
    #[serde(default, deserialize_with = "hex_or_nothing")]
    data: Option<HexBytes>,
}

impl NodeError {
    /// The error of a method that cannot revert.
    pub(super) fn into_refusal(self) -> ChainError {
        ChainError::Refused { code: self.code, message: self.message }
    }
}

/// Whether the node said that it does not have a method.
pub(super) fn is_unknown_method(error: &ChainError) -> bool {
    matches!(error, ChainError::Refused { code, .. } if NO_SUCH_METHOD.contains(code))
}

impl From<NodeError> for ChainError {
    fn from(error: NodeError) -> Self {
        match (error.code, error.data) {
            (GETH_REVERTED, output) => Self::Reverted { output: output.unwrap_or_default() },
            (BESU_REVERTED, Some(output)) => Self::Reverted { output },
            (code, _) => Self::Refused { code, message: error.message },
        }
    }
}

/// Why bytes are not an answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum AnswerError {
    #[error("not JSON-RPC")]
    Json(#[from] serde_json::Error),
    #[error("not an object")]
    NoObject,
    #[error("neither result nor error")]
    Empty,
    #[error("{found} answers to {asked} questions")]
    Count { asked: usize, found: usize },
    #[error("question {0} has no answer")]
    Unanswered(usize),
    #[error("an answer to another question")]
    Other,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default)]
    id: Option<u64>,
    #[serde(default, borrow, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<NodeError>,
}

impl<'a> Envelope<'a> {
    fn answer(self) -> Result<Answer<'a>, AnswerError> {
        match (self.error, self.result) {
            (Some(error), _) => Ok(Answer::Error(error)),
            (None, Some(result)) => Ok(Answer::Result(result)),
            (None, None) => Err(AnswerError::Empty),
        }
    }
}

/// A field that is there counts as present even if it is `null`.
fn present<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

fn hex_or_nothing<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<HexBytes>, D::Error> {
    let data = <Box<RawValue>>::deserialize(deserializer)?;
    Ok(serde_json::from_str(data.get()).ok())
}

/// Reads the answer to a single request. An error may name no request, if the node has not understood ours.
pub(super) fn read_answer(body: &[u8], id: u64) -> Result<Answer<'_>, AnswerError> {
    let envelope = read_envelope(body)?;
    match (envelope.id, &envelope.error) {
        (Some(named), _) if named == id => envelope.answer(),
        (None, Some(_)) => envelope.answer(),
        (Some(_) | None, _) => Err(AnswerError::Other),
    }
}

/// Reads the answers to a batch of requests with this id and those after it, in that order. A node may refuse a batch as a whole.
pub(super) fn read_batch(body: &[u8], first_id: u64, asked: usize) -> Result<Vec<Answer<'_>>, AnswerError> {
    if is_object(body) {
        return match read_answer(body, first_id)? {
            Answer::Error(error) => Ok(vec![Answer::Error(error)]),
            Answer::Result(_) => Err(AnswerError::Count { asked, found: 1 }),
        };
    }
    let found: Vec<&RawValue> = serde_json::from_slice(body)?;
    if found.len() != asked {
        return Err(AnswerError::Count { asked, found: found.len() });
    }
    let mut places: Vec<Option<Envelope<'_>>> = (0..asked).map(|_| None).collect();
    for json in found {
        let envelope = read_envelope(json.get().as_bytes())?;
        let place = envelope.id.and_then(|id| usize::try_from(id.checked_sub(first_id)?).ok());
        let place = place.and_then(|place| places.get_mut(place)).ok_or(AnswerError::Other)?;
        *place = Some(envelope);
    }
    let answers = places.into_iter().enumerate();
    answers.map(|(id, envelope)| envelope.ok_or(AnswerError::Unanswered(id))?.answer()).collect()
}

/// Reads an object. A list would do for serde, which fills fields in their order.
fn read_envelope(json: &[u8]) -> Result<Envelope<'_>, AnswerError> {
    if is_object(json) { Ok(serde_json::from_slice(json)?) } else { Err(AnswerError::NoObject) }
}

fn is_object(json: &[u8]) -> bool {
    json.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn error(json: &str) -> ChainError {
        match read_answer(json.as_bytes(), 0).expect("an answer") {
            Answer::Error(error) => error.into(),
            Answer::Result(result) => panic!("{result}"),
        }
    }

    #[test]
    fn a_null_result_is_a_result_and_a_missing_one_is_not() {
        let answer = read_answer(br#"{"jsonrpc":"2.0","id":0,"result":null}"#, 0).expect("an answer");
        assert!(matches!(answer, Answer::Result(result) if result.get() == "null"));
        assert!(matches!(read_answer(br#"{"jsonrpc":"2.0","id":0}"#, 0), Err(AnswerError::Empty)));
        assert!(matches!(read_answer(br#"[0,"0x1"]"#, 0), Err(AnswerError::NoObject)));
        assert!(matches!(read_batch(br#"[[0,"0x1"]]"#, 0, 1), Err(AnswerError::NoObject)));
    }

    #[test]
    fn reverts_of_besu_and_geth_carry_the_output() {
        for json in [
            r#"{"id":0,"error":{"code":-32000,"message":"Execution reverted","data":"0x0102"}}"#,
            r#"{"id":0,"error":{"code":3,"message":"execution reverted: no","data":"0x0102"}}"#,
        ] {
            assert!(matches!(error(json), ChainError::Reverted { output } if output[..] == [1, 2]), "{json}");
        }
        let bare = r#"{"id":0,"error":{"code":3,"message":"execution reverted"}}"#;
        assert!(matches!(error(bare), ChainError::Reverted { output } if output.is_empty()));
    }

    #[test]
    fn other_errors_are_refusals_whatever_their_data() {
        for json in [
            r#"{"id":0,"error":{"code":-32000,"message":"Block not found"}}"#,
            r#"{"id":0,"error":{"code":-32000,"message":"x","data":{"a":1}}}"#,
            r#"{"id":0,"error":{"code":-32603,"message":"x","data":"0x01"}}"#,
        ] {
            assert!(matches!(error(json), ChainError::Refused { .. }), "{json}");
        }
    }

    #[test]
    fn batch_answers_come_back_in_the_order_of_the_questions() {
        let answers = read_batch(br#"[{"id":1,"result":"b"},{"id":0,"result":"a"}]"#, 0, 2).expect("answers");
        let texts: Vec<_> = answers
            .iter()
            .map(|answer| match answer {
                Answer::Result(result) => result.get(),
                Answer::Error(error) => panic!("{error:?}"),
            })
            .collect();
        assert_eq!(texts, [r#""a""#, r#""b""#]);
        assert!(matches!(read_batch(br#"[{"id":0,"result":1}]"#, 0, 2), Err(AnswerError::Count { .. })));
        let twice = br#"[{"id":0,"result":1},{"id":0,"result":1}]"#;
        assert!(matches!(read_batch(twice, 0, 2), Err(AnswerError::Unanswered(1))));
        let refused = br#" {"id":null,"error":{"code":-32005,"message":"too large"}}"#;
        assert!(matches!(read_batch(refused, 0, 2).expect("an answer")[..], [Answer::Error(_)]));
    }

    #[test]
    fn answers_to_other_questions_are_none() {
        for json in [r#"{"id":7,"result":1}"#, r#"{"result":1}"#, r#"{"id":7,"error":{"code":1}}"#] {
            assert!(matches!(read_answer(json.as_bytes(), 8), Err(AnswerError::Other)), "{json}");
        }
        let batch = br#"[{"id":8,"result":1},{"id":9,"result":2}]"#;
        assert!(matches!(read_batch(batch, 8, 2).as_deref(), Ok([_, _])));
        for first in [0, 7, 9, 10] {
            assert!(matches!(read_batch(batch, first, 2), Err(AnswerError::Other)), "{first}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_answer_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read_answer(&bytes, 0);
            let _ = read_batch(&bytes, 0, 3);
        }

        #[test]
        fn any_envelope_is_an_answer_or_an_error(
            id in "(0|1|null|\"x\"|-1|1e9)",
            key in "(result|error|Result|method)",
            value in r#"(null|1|"0x"|\{\}|\[\]|\{"code":1\}|\{"code":"x"\}|\{"code":3,"data":\[1\]\})"#,
        ) {
            let one = format!(r#"{{"jsonrpc":"2.0","id":{id},"{key}":{value}}}"#);
            let _ = read_answer(one.as_bytes(), 0);
            let _ = read_batch(format!("[{one},{one}]").as_bytes(), 0, 2);
        }
    }
}
