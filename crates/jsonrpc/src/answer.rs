//! What a node answered: its result or its error, cut out of the answer without reading either.
//!
//! Nodes write `{"jsonrpc":"2.0","id":1,"result":…}` with the result last, so that a megabyte of logs need not be looked
//! at to be passed on. Whatever looks different is read in full.

use bytes::Bytes;
use memchr::memchr2;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// What a node answered to a request of [`crate::write_request`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The JSON of `result`.
    Result(Bytes),
    /// The JSON of `error`.
    Error(Bytes),
}

/// The bytes are no answer to a single request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerError;

impl std::fmt::Display for AnswerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("not a JSON-RPC answer")
    }
}

impl std::error::Error for AnswerError {}

const RESULT_HEAD: &[u8] = br#"{"jsonrpc":"2.0","id":1,"result":"#;

/// Cuts the result or the error out of a node's answer.
pub fn read_answer(body: &Bytes) -> Result<Answer, AnswerError> {
    if let Some(result) = body.strip_prefix(RESULT_HEAD).and_then(result_before_end) {
        return Ok(Answer::Result(body.slice_ref(result)));
    }
    // A list would do for serde, which fills fields in their order.
    if body.trim_ascii_start().first() != Some(&b'{') {
        return Err(AnswerError);
    }
    let envelope: Envelope<'_> = serde_json::from_slice(body).map_err(|_| AnswerError)?;
    let cut = |json: &RawValue| body.slice_ref(json.get().as_bytes());
    match (envelope.error, envelope.result) {
        (Some(error), _) if error.get().starts_with('{') => Ok(Answer::Error(cut(error))),
        (Some(error), _) if error.get() != "null" => Err(AnswerError),
        (_, Some(result)) => Ok(Answer::Result(cut(result))),
        (_, None) => Err(AnswerError),
    }
}

/// The result, if what follows the head is one value and the end of the answer. Lists and objects are taken on trust: who
/// could forge their inside could forge the result.
fn result_before_end(rest: &[u8]) -> Option<&[u8]> {
    let result = rest.trim_ascii_end().strip_suffix(b"}")?;
    let is_whole = match (result.split_first()?, result.last()?) {
        ((b'{', _), b'}') | ((b'[', _), b']') => true,
        ((b'"', text), b'"') => memchr2(b'"', b'\\', text) == Some(text.len() - 1),
        _ => matches!(result, b"null" | b"true" | b"false"),
    };
    is_whole.then_some(result)
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default, borrow, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// A member that is there counts as present even if it is `null`.
fn present<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &'static str) -> Result<Answer, AnswerError> {
        read_answer(&Bytes::from_static(json.as_bytes()))
    }

    fn result(json: &'static str) -> Result<Answer, AnswerError> {
        Ok(Answer::Result(Bytes::from_static(json.as_bytes())))
    }

    #[test]
    fn usual_answers_are_cut_by_their_head() {
        for json in ["null", "true", "false", "\"0x1\"", "\"\"", "{}", "[1,2]", r#"{"a":"}"}"#] {
            for end in ["}", "}\n", "} \r\n"] {
                let body = Bytes::from(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{json}{end}"#));
                assert_eq!(read_answer(&body), result(json), "{json}");
                let cut = body.strip_prefix(RESULT_HEAD).and_then(result_before_end);
                assert_eq!(cut, Some(json.as_bytes()));
            }
        }
    }

    #[test]
    fn unusual_answers_are_read_in_full() {
        for json in [
            r#"{"jsonrpc":"2.0","result":"0x1","id":1}"#,
            r#" { "id" : 1, "result" : "0x1" } "#,
            r#"{"jsonrpc":"2.0","id":1,"result":"0x1","error":null}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":"0x1"}"#,
        ] {
            assert_eq!(read(json), result("\"0x1\""), "{json}");
        }
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":1,"result":12.5}"#), result("12.5"));
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":1,"result":"a\"b"}"#), result(r#""a\"b""#));
        let error = r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":3}}"#;
        assert_eq!(read(error), Ok(Answer::Error(Bytes::from_static(br#"{"code":3}"#))));
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        for json in [
            "",
            "nonsense",
            "[]",
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":"0x1"#,
            r#"{"jsonrpc":"2.0","id":1,"result":}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":"no"}"#,
            r#"[{"jsonrpc":"2.0","id":1,"result":1}]"#,
        ] {
            assert_eq!(read(json), Err(AnswerError), "{json}");
        }
    }
}
