//! What is no request is told so, and nothing that is sent takes the server down.

use std::sync::Arc;

use proptest::prelude::*;

use super::{Echo, Server};
use crate::{
    rpc::{
        config::Limits,
        jsonrpc::{Caller, answer_message},
        subscriptions::Feed,
    },
    workers::Client,
};

#[tokio::test]
async fn what_is_not_json_is_a_parse_error_with_status_400() {
    let server = Server::start(Limits::default()).await;
    for body in ["", " ", "{", "[", "nope", r#"{"id":1,"method":"echo""#, "[1,", "{\"id\":\"\u{1}\"}", "{}x"]
    {
        let answer = server.post(body).await;
        assert_eq!(answer.status, 400, "{body}");
        assert_eq!(
            answer.body, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#,
            "{body}"
        );
    }
}

#[tokio::test]
async fn json_that_is_no_request_is_an_invalid_request_with_status_400() {
    let server = Server::start(Limits::default()).await;
    for (body, id) in [
        ("1", "null"),
        ("\"echo\"", "null"),
        ("[]", "null"),
        ("{}", "null"),
        (r#"{"id":5}"#, "5"),
        (r#"{"id":5,"method":7}"#, "5"),
        (r#"{"id":{},"method":"echo"}"#, "null"),
        (r#"{"id":true,"method":"echo"}"#, "null"),
    ] {
        let answer = server.post(body).await;
        assert_eq!(answer.status, 400, "{body}");
        assert_eq!(
            answer.body,
            format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32600,"message":"Invalid Request"}}}}"#),
            "{body}"
        );
    }
}

#[tokio::test]
async fn deep_nesting_does_not_overflow_the_stack() {
    let server = Server::start(Limits::default()).await;
    let deep = "[".repeat(2_000_000);
    assert_eq!(server.post(&deep).await.status, 400);
    let closed = format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    assert_eq!(server.post(&format!(r#"{{"id":1,"method":"echo","params":{closed}}}"#)).await.status, 200);
    assert_eq!(server.post(&closed).await.status, 200);
}

#[tokio::test]
async fn a_broken_http_head_does_not_disturb_others() {
    let server = Server::start(Limits::default()).await;
    assert!(server.exchange(b"\x00\x01\x02 garbage\r\n\r\n").await.starts_with("HTTP/1.1 400"));
    assert_eq!(server.post(r#"{"id":1,"method":"echo"}"#).await.status, 200);
}

fn answer(message: &[u8]) -> Vec<u8> {
    let methods = Arc::new(Echo { feed: Arc::new(Feed::new(1)), max_batch: 8 });
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let caller = Caller { client: Client::Product, is_page: false, session: None };
    let reply = runtime.block_on(answer_message(&methods, message, caller));
    reply.answer.into_bytes().to_vec()
}

/// Text that looks enough like a request to get past the first checks.
fn nearly_a_request() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("{"),
        Just("}"),
        Just("["),
        Just("]"),
        Just(","),
        Just(":"),
        Just("\"id\""),
        Just("\"method\""),
        Just("\"params\""),
        Just("\"echo\""),
        Just("1"),
        Just("null"),
        Just("\"\\ud800\""),
        Just(" "),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_bytes_get_json_or_nothing(message in prop::collection::vec(any::<u8>(), 0..256)) {
        let answer = answer(&message);
        prop_assert!(answer.is_empty() || serde_json::from_slice::<serde_json::Value>(&answer).is_ok());
    }

    #[test]
    fn anything_like_a_request_gets_json_or_nothing(message in nearly_a_request()) {
        let answer = answer(message.as_bytes());
        prop_assert!(answer.is_empty() || serde_json::from_slice::<serde_json::Value>(&answer).is_ok());
    }
}
