//! Any bytes as a message of a caller, and as an answer of a node.
//!
//! What is sent on names only a method of ours, says nothing else of the caller's envelope, and is read back as what was
//! meant; whatever we take for a request, another reader of JSON takes for the same request.

#![no_main]

use bytes::Bytes;
use jsonrpc::{Message, Params, Request};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

const MAX_BATCH: usize = 8;

/// Stands for the table of methods: whatever is not listed is not sent on.
const METHODS: [&str; 4] = ["eth_blockNumber", "eth_call", "eth_chainId", "eth_getBalance"];

fuzz_target!(|data: &[u8]| {
    let _ = jsonrpc::read_answer(&Bytes::copy_from_slice(data), 1);
    let Ok(message) = jsonrpc::read_message(data, MAX_BATCH) else { return };
    let other: Option<Value> = serde_json::from_slice(data).ok();
    match message {
        Message::Single(Ok(request)) => check(&request, other.as_ref()),
        Message::Single(Err(_)) => {}
        Message::Batch(requests) => {
            assert!((1..=MAX_BATCH).contains(&requests.len()));
            for (place, request) in requests.iter().enumerate() {
                if let Ok(request) = request {
                    check(request, other.as_ref().map(|batch| &batch[place]));
                }
            }
        }
    }
});

fn check(request: &Request<'_>, other: Option<&Value>) {
    if let Some(other) = other {
        assert_eq!(other["method"].as_str(), Some(request.method.as_ref()), "two readers, two methods");
        assert_eq!(other.get("id").is_some(), request.id.is_some());
    }
    if let Some(id) = request.id {
        let mut answer = Vec::new();
        jsonrpc::write_result(&mut answer, id);
        answer.extend_from_slice(b"null");
        jsonrpc::write_end(&mut answer);
        let text = String::from_utf8(answer).expect("text");
        assert_eq!(text, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":null}}"#));
        serde_json::from_str::<&serde_json::value::RawValue>(&text).expect("JSON");
    }
    if let Some(elements) = request.params.elements() {
        assert!(elements.iter().count() <= elements.count());
    }
    let Some(method) = METHODS.into_iter().find(|known| *known == request.method) else { return };
    let mut sent = Vec::new();
    jsonrpc::write_request(&mut sent, 1, method, request.params.text());
    let Ok(Message::Single(Ok(again))) = jsonrpc::read_message(&sent, MAX_BATCH) else {
        panic!("what is sent on is no request: {}", String::from_utf8_lossy(&sent));
    };
    assert_eq!((again.id, again.method.as_ref()), (Some("1"), method));
    assert_eq!(again.params.text(), request.params.text());
    assert_eq!(matches!(again.params, Params::Named(_)), matches!(request.params, Params::Named(_)));
}
