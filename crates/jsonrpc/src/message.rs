//! A message from a stranger: one request or a batch, read in one pass.

use std::fmt;

use serde::{
    Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};

use crate::request::{BadRequest, Element, Fault, Members, Request};

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message<'a> {
    /// One request, or something in its place.
    Single(Result<Request<'a>, BadRequest<'a>>),
    /// Requests to be answered together, in this order.
    Batch(Vec<Result<Request<'a>, BadRequest<'a>>>),
}

/// Why a message cannot be answered request by request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreadable {
    /// It is not JSON, or more than one value.
    Json,
    /// A batch of nothing.
    EmptyBatch,
    /// A batch of more requests than allowed.
    LongBatch {
        /// The most that are allowed.
        most: usize,
    },
}

/// Reads a message in one pass; what it says is borrowed from the bytes.
pub fn read_message(bytes: &[u8], max_batch: usize) -> Result<Message<'_>, Unreadable> {
    let text = std::str::from_utf8(bytes).map_err(|_| Unreadable::Json)?;
    let mut reader = serde_json::Deserializer::from_str(text);
    let message = reader.deserialize_any(MessageVisitor { max_batch }).map_err(|_| Unreadable::Json)?;
    reader.end().map_err(|_| Unreadable::Json)?;
    match &message {
        Message::Batch(requests) if requests.is_empty() => Err(Unreadable::EmptyBatch),
        Message::Batch(requests) if requests.len() > max_batch => {
            Err(Unreadable::LongBatch { most: max_batch })
        }
        Message::Batch(_) | Message::Single(_) => Ok(message),
    }
}

struct MessageVisitor {
    max_batch: usize,
}

fn no_object<'a>() -> Message<'a> {
    Message::Single(Err(BadRequest { id: None, fault: Fault::NoObject }))
}

impl<'de> Visitor<'de> for MessageVisitor {
    type Value = Message<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC request or a batch")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Members::read(map).map(|members| Message::Single(members.into_request()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut requests = Vec::new();
        // One more than allowed tells that it is too long; the rest need only be JSON.
        while requests.len() <= self.max_batch {
            match seq.next_element::<Element<'de>>()? {
                Some(Element(request)) => requests.push(request),
                None => return Ok(Message::Batch(requests)),
            }
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Message::Batch(requests))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(no_object())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(no_object())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(no_object())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(no_object())
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(no_object())
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(no_object())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Params;

    fn single(json: &str) -> Result<Request<'_>, BadRequest<'_>> {
        match read_message(json.as_bytes(), 3).expect("JSON") {
            Message::Single(request) => request,
            Message::Batch(batch) => panic!("{batch:?}"),
        }
    }

    fn fault(json: &str) -> Fault {
        single(json).expect_err(json).fault
    }

    #[test]
    fn a_request_is_borrowed_as_it_came() {
        let request = single(
            r#" {"jsonrpc":"2.0", "id" : 1.50 ,"method":"eth_call","params":[ {"to":"0x1"} ,"latest"],"origin":"x"} "#,
        );
        let request = request.expect("a request");
        assert_eq!((request.id, request.method.as_ref()), (Some("1.50"), "eth_call"));
        assert_eq!(request.params, Params::List(r#"[ {"to":"0x1"} ,"latest"]"#));
    }

    #[test]
    fn ids_are_strings_numbers_or_null_byte_for_byte() {
        for id in ["1", "9223372036854775808", "-0.5e3", "\"a\\u0041\"", "null", "\"\""] {
            let json = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
            assert_eq!(single(&json).expect("a request").id, Some(id));
        }
        for id in ["[]", "{}", "true", &format!("\"{}\"", "x".repeat(300))] {
            assert_eq!(fault(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#)), Fault::Id);
        }
        assert_eq!(single(r#"{"jsonrpc":"2.0","method":"m"}"#).expect("a notification").id, None);
    }

    #[test]
    fn escapes_are_resolved_before_anything_is_compared() {
        let request = single(r#"{"jsonrpc":"2.0","id":1,"method":"\u0064ebug_x"}"#).expect("a request");
        assert_eq!(request.method, "debug_x");
        let twice = r#"{"jsonrpc":"2.0","id":1,"method":"eth_call","\u006dethod":"debug_x"}"#;
        assert_eq!(fault(twice), Fault::Repeated);
    }

    #[test]
    fn what_is_no_request_says_why() {
        for (json, expected) in [
            ("1", Fault::NoObject),
            ("null", Fault::NoObject),
            ("\"x\"", Fault::NoObject),
            ("{}", Fault::Version),
            (r#"{"jsonrpc":"1.0","method":"m"}"#, Fault::Version),
            (r#"{"jsonrpc":2.0,"method":"m"}"#, Fault::Version),
            (r#"{"jsonrpc":"2.0"}"#, Fault::Method),
            (r#"{"jsonrpc":"2.0","Method":"m"}"#, Fault::Method),
            (r#"{"jsonrpc":"2.0","method":["m"]}"#, Fault::Method),
            (r#"{"jsonrpc":"2.0","method":"m","params":"x"}"#, Fault::Params),
            (r#"{"jsonrpc":"2.0","method":"m","method":"m"}"#, Fault::Repeated),
        ] {
            assert_eq!(fault(json), expected, "{json}");
        }
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"m","params":{}{}}}"#,
            "[".repeat(40),
            "]".repeat(40)
        );
        assert_eq!(single(&deep).expect_err("deep"), BadRequest { id: Some("7"), fault: Fault::Depth });
    }

    #[test]
    fn batches_are_counted_and_their_elements_judged_alone() {
        let batch = read_message(br#"[{"jsonrpc":"2.0","id":1,"method":"m"},[{}],7]"#, 3).expect("a batch");
        let Message::Batch(requests) = batch else { panic!("{batch:?}") };
        assert!(requests[0].is_ok());
        assert!(requests[1..].iter().all(|r| r.as_ref().is_err_and(|bad| bad.fault == Fault::NoObject)));
        assert_eq!(read_message(b"[]", 3), Err(Unreadable::EmptyBatch));
        assert_eq!(read_message(b"[1,2,3,4,5]", 3), Err(Unreadable::LongBatch { most: 3 }));
        assert_eq!(read_message(b"[1,2,3,4,5", 3), Err(Unreadable::Json));
    }

    #[test]
    fn anything_but_one_json_value_is_unreadable() {
        for bytes in [
            &b""[..],
            b"{",
            b"{}{}",
            b"{} x",
            b"\xef\xbb\xbf{}",
            b"{\"a\":\"\xc0\xaf\"}",
            b"{\"a\":01}",
            b"{\"a\":1,}",
            b"{/**/}",
            b"{\"a\":\"\0\"}",
            b"{}\0",
            b"NaN",
            b"'x'",
        ] {
            assert_eq!(read_message(bytes, 3), Err(Unreadable::Json), "{:?}", String::from_utf8_lossy(bytes));
        }
    }
}
