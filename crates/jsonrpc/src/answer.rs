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

/// Why bytes are no answer to what was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerError {
    /// They are something else.
    Malformed,
    /// They answer another request: one that was answered before, or of somebody else.
    OtherRequest,
    /// The JSON of an error that names no request: whoever wrote it has not understood ours.
    Unnamed(Bytes),
}

impl std::fmt::Display for AnswerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Malformed => "not a JSON-RPC answer",
            Self::OtherRequest => "an answer to another request",
            Self::Unnamed(_) => "an error that names no request",
        })
    }
}

impl std::error::Error for AnswerError {}

const HEAD: &[u8] = br#"{"jsonrpc":"2.0","id":"#;
const BEFORE_RESULT: &[u8] = br#","result":"#;

/// What follows the head of a result of this request.
fn after_head(text: &[u8], id: u64) -> Option<&[u8]> {
    let mut digits = itoa::Buffer::new();
    text.strip_prefix(HEAD)?.strip_prefix(digits.format(id).as_bytes())?.strip_prefix(BEFORE_RESULT)
}

/// Cuts the result or the error out of a node's answer to the request with this id.
pub fn read_answer(body: &Bytes, id: u64) -> Result<Answer, AnswerError> {
    if let Some(result) = after_head(body, id).and_then(result_before_end) {
        return Ok(Answer::Result(body.slice_ref(result)));
    }
    // A list would do for serde, which fills fields in their order.
    if body.trim_ascii_start().first() != Some(&b'{') {
        return Err(AnswerError::Malformed);
    }
    let envelope: Envelope<'_> = serde_json::from_slice(body).map_err(|_| AnswerError::Malformed)?;
    let named = envelope.id.map(RawValue::get).filter(|id| *id != "null").map(str::parse::<u64>);
    match (named, envelope.answer(|json| body.slice_ref(json.as_bytes()))?) {
        (Some(Ok(named)), answer) if named == id => Ok(answer),
        (None, Answer::Error(error)) => Err(AnswerError::Unnamed(error)),
        (Some(_) | None, _) => Err(AnswerError::OtherRequest),
    }
}

/// Cuts the answers to a batch of [`crate::write_batch`] out of what a node said, in the order of the requests. Each is copied: one that
/// is kept would keep all of them.
pub fn read_answers(body: &[u8], first_id: u64, asked: usize) -> Result<Vec<Answer>, AnswerError> {
    if let Some(answers) = read_texts(body, first_id, asked) {
        return Ok(answers);
    }
    let envelopes: Vec<Envelope<'_>> = serde_json::from_slice(body).map_err(|_| AnswerError::Malformed)?;
    let mut answers = vec![None; asked];
    for envelope in envelopes {
        let id = envelope.id.and_then(|id| id.get().parse::<u64>().ok()).ok_or(AnswerError::Malformed)?;
        let place = id.checked_sub(first_id).and_then(|place| usize::try_from(place).ok());
        let place = place.and_then(|place| answers.get_mut(place)).ok_or(AnswerError::OtherRequest)?;
        let answer = envelope.answer(|json| Bytes::copy_from_slice(json.as_bytes()))?;
        if place.replace(answer).is_some() {
            return Err(AnswerError::Malformed);
        }
    }
    answers.into_iter().collect::<Option<_>>().ok_or(AnswerError::Malformed)
}

/// The answers if they look as they nearly always do: in order, each a string without escapes.
fn read_texts(body: &[u8], first_id: u64, asked: usize) -> Option<Vec<Answer>> {
    let mut answers = Vec::with_capacity(asked);
    let mut rest = body.strip_prefix(b"[")?;
    for id in (first_id..).take(asked) {
        let text = after_head(rest, id)?;
        let inside = text.strip_prefix(b"\"")?;
        let length = memchr2(b'"', b'\\', inside)? + 2;
        let (result, after) = text.split_at_checked(length).filter(|(result, _)| result.ends_with(b"\""))?;
        let end: &[u8] = if answers.len() + 1 == asked { b"}]" } else { b"}," };
        rest = after.strip_prefix(end)?;
        std::str::from_utf8(result).ok()?;
        answers.push(Answer::Result(Bytes::copy_from_slice(result)));
    }
    rest.trim_ascii().is_empty().then_some(answers)
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
    id: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

impl Envelope<'_> {
    fn answer(&self, cut: impl FnOnce(&str) -> Bytes) -> Result<Answer, AnswerError> {
        match (self.error.map(RawValue::get), self.result) {
            (Some(error), _) if error.starts_with('{') => Ok(Answer::Error(cut(error))),
            (Some(error), _) if error != "null" => Err(AnswerError::Malformed),
            (_, Some(result)) => Ok(Answer::Result(cut(result.get()))),
            (_, None) => Err(AnswerError::Malformed),
        }
    }
}

/// A member that is there counts as present even if it is `null`.
fn present<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &'static str) -> Result<Answer, AnswerError> {
        read_answer(&Bytes::from_static(json.as_bytes()), 1)
    }

    fn result(json: &'static str) -> Result<Answer, AnswerError> {
        Ok(Answer::Result(Bytes::from_static(json.as_bytes())))
    }

    #[test]
    fn usual_answers_are_cut_by_their_head() {
        for json in ["null", "true", "false", "\"0x1\"", "\"\"", "{}", "[1,2]", r#"{"a":"}"}"#] {
            for end in ["}", "}\n", "} \r\n"] {
                let body = Bytes::from(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{json}{end}"#));
                assert_eq!(read_answer(&body, 1), result(json), "{json}");
                let cut = after_head(&body, 1).and_then(result_before_end);
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
        ] {
            assert_eq!(read(json), result("\"0x1\""), "{json}");
        }
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":1,"result":12.5}"#), result("12.5"));
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":1,"result":"a\"b"}"#), result(r#""a\"b""#));
        let error = r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":3}}"#;
        assert_eq!(read(error), Ok(Answer::Error(Bytes::from_static(br#"{"code":3}"#))));
    }

    #[test]
    fn answers_to_a_batch_are_put_in_its_order() {
        let body = br#" [{"id":2,"error":{"code":-32000}},{"jsonrpc":"2.0","id":1,"result":null},{"result":[1],"id":3}]"#;
        let error = Answer::Error(Bytes::from_static(br#"{"code":-32000}"#));
        let null = Answer::Result(Bytes::from_static(b"null"));
        let list = Answer::Result(Bytes::from_static(b"[1]"));
        assert_eq!(read_answers(body, 1, 3), Ok(vec![null, error, list]));
    }

    #[test]
    fn strings_in_order_are_read_without_a_parser() {
        let body = |last: &str| {
            format!(
                r#"[{{"jsonrpc":"2.0","id":1,"result":"0x1"}},{{"jsonrpc":"2.0","id":2,"result":{last}}}]
"#
            )
        };
        let texts =
            |last| Some(["\"0x1\"", last].map(|text: &str| Answer::Result(text.to_owned().into())).to_vec());
        for (last, is_text) in
            [("\"\"", true), ("\"0x2\"", true), ("\"a\\\"b\"", false), ("null", false), ("[]", false)]
        {
            assert_eq!(read_texts(body(last).as_bytes(), 1, 2), texts(last).filter(|_| is_text));
            assert_eq!(read_answers(body(last).as_bytes(), 1, 2).ok(), texts(last));
        }
    }

    #[test]
    fn a_batch_that_is_not_answered_whole_is_not_answered() {
        for json in [
            "",
            "[]",
            "[1,2]",
            r#"{"jsonrpc":"2.0","id":1,"result":1}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600}}"#,
            r#"[{"id":1,"result":1}]"#,
            r#"[{"id":1,"result":1},{"id":1,"result":1}]"#,
            r#"[{"id":1,"result":1},{"id":3,"result":1}]"#,
            r#"[{"id":0,"result":1},{"id":1,"result":1}]"#,
            r#"[{"id":1,"result":1},{"id":2}]"#,
            r#"[{"id":1,"result":1},{"id":"2","result":1}]"#,
            r#"[{"id":1,"result":1},{"id":2,"result":1},{"id":null,"result":1}]"#,
            r#"[{"id":1,"result":1},{"id":2,"result":1}"#,
            r#"[{"jsonrpc":"2.0","id":1,"result":"0x1"},{"jsonrpc":"2.0","id":2,"result":"0x\}]"#,
            r#"[{"jsonrpc":"2.0","id":1,"result":"0x1"},{"jsonrpc":"2.0","id":2,"result":"0x2"}"#,
            r#"[{"jsonrpc":"2.0","id":1,"result":"0x1"},{"jsonrpc":"2.0","id":2,"result":"0x2"}]]"#,
        ] {
            assert!(read_answers(json.as_bytes(), 1, 2).is_err(), "{json}");
        }
    }

    #[test]
    fn an_answer_to_another_request_is_none() {
        for json in [
            r#"{"jsonrpc":"2.0","id":7,"result":"0x1"}"#,
            r#"{"jsonrpc":"2.0","id":11,"result":"0x1"}"#,
            r#"{"jsonrpc":"2.0","id":"1","result":"0x1"}"#,
            r#"{"jsonrpc":"2.0","id":1.0,"result":"0x1"}"#,
            r#"{"jsonrpc":"2.0","id":null,"result":"0x1"}"#,
            r#"{"jsonrpc":"2.0","result":"0x1"}"#,
            r#"{"jsonrpc":"2.0","id":2,"error":{"code":3}}"#,
        ] {
            assert_eq!(read(json), Err(AnswerError::OtherRequest), "{json}");
        }
        let unnamed = AnswerError::Unnamed(Bytes::from_static(br#"{"code":-32700}"#));
        for json in [r#"{"id":null,"error":{"code":-32700}}"#, r#"{"error":{"code":-32700}}"#] {
            assert_eq!(read(json), Err(unnamed.clone()), "{json}");
        }
        let batch = |first, asked| {
            read_answers(
                br#"[{"jsonrpc":"2.0","id":8,"result":"0x1"},{"jsonrpc":"2.0","id":9,"result":"0x2"}]"#,
                first,
                asked,
            )
        };
        assert_eq!(batch(8, 2).map(|answers| answers.len()), Ok(2));
        for (first, asked) in [(7, 2), (9, 2), (8, 1), (10, 2), (1, 2)] {
            assert_eq!(batch(first, asked), Err(AnswerError::OtherRequest), "{first} {asked}");
        }
        assert_eq!(batch(8, 3), Err(AnswerError::Malformed), "one is missing");
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
            assert_eq!(read(json), Err(AnswerError::Malformed), "{json}");
        }
    }
}
