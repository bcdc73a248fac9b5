//! What holds for any bytes.

use bytes::Bytes;
use proptest::prelude::*;
use serde_json::Value;

use crate::{
    Answer, Message, Params, Request, read_answer, read_answers, read_message, write_batch, write_request,
};

/// Any JSON, a few levels deep.
fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("\\PC{0,8}", inner, 0..4)
                .prop_map(|members| members.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

/// Text that is nearly a request.
fn nearly_a_request() -> impl Strategy<Value = String> {
    let member = prop_oneof![
        Just("jsonrpc"),
        Just("id"),
        Just("method"),
        Just("params"),
        Just("Method"),
        Just("\\u006dethod"),
    ];
    let value = prop_oneof![
        Just("\"2.0\"".to_owned()),
        Just("1".to_owned()),
        Just("\"eth_call\"".to_owned()),
        Just("\"\\u0065th_call\"".to_owned()),
        Just("[]".to_owned()),
        json().prop_map(|json| json.to_string()),
    ];
    let members = prop::collection::vec((member, value), 0..6);
    (members, "[ \n\t]{0,2}", "(|,|x|\\}|\\{\\})").prop_map(|(members, blank, end)| {
        let members: Vec<_> =
            members.iter().map(|(name, value)| format!("\"{name}\"{blank}:{value}")).collect();
        format!("{blank}{{{}}}{end}", members.join(","))
    })
}

fn check(request: &Request<'_>) -> Result<(), TestCaseError> {
    let mut sent = Vec::new();
    write_request(&mut sent, 1, "eth_call", request.params.text());
    let again = read_message(&sent, 1);
    let Ok(Message::Single(Ok(again))) = again else {
        return Err(TestCaseError::fail(format!("{again:?}")));
    };
    prop_assert_eq!((again.id, again.method.as_ref()), (Some("1"), "eth_call"));
    prop_assert_eq!(again.params.text(), request.params.text());
    let value: Value = serde_json::from_slice(&sent).expect("JSON");
    prop_assert_eq!(value.as_object().expect("an object").len(), 4);
    prop_assert_eq!(&value["method"], "eth_call");
    Ok(())
}

proptest! {
    #[test]
    fn any_bytes_are_a_message_or_none(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_message(&bytes, 3);
        let _ = read_answers(&bytes, 1, 3);
        let _ = read_answer(&Bytes::from(bytes), 1);
    }

    #[test]
    fn what_is_taken_for_a_request_is_sent_on_as_meant(text in nearly_a_request()) {
        let Ok(Message::Single(Ok(request))) = read_message(text.as_bytes(), 3) else { return Ok(()) };
        let other: Value = serde_json::from_str(&text).expect("another reader reads it too");
        prop_assert_eq!(other["method"].as_str(), Some(request.method.as_ref()));
        check(&request)?;
    }

    #[test]
    fn every_proper_request_is_read(id in json(), method in "[a-zA-Z_]{1,40}", params in json()) {
        let text = serde_json::json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string();
        let Ok(Message::Single(read)) = read_message(text.as_bytes(), 3) else { panic!("{text}") };
        let is_id = id.is_string() || id.is_number() || id.is_null();
        let is_params = params.is_array() || params.is_object() || params.is_null();
        prop_assert_eq!(read.is_ok(), is_id && is_params, "{}", text);
        let Ok(request) = read else { return Ok(()) };
        prop_assert_eq!(request.method.as_ref(), method);
        let id_text = id.to_string();
        prop_assert_eq!(request.id, Some(id_text.as_str()));
        if let (Params::List(_), Some(elements)) = (request.params, request.params.elements()) {
            let cut: Vec<Value> = elements.iter().map(|e| serde_json::from_str(e).expect("JSON")).collect();
            prop_assert_eq!(Value::from(cut), params);
        }
        check(&request)?;
    }

    #[test]
    fn results_are_cut_out_whole(result in json(), blank in "[ \n]{0,2}") {
        let text = result.to_string();
        let body = Bytes::from(format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{text}}}{blank}"));
        prop_assert_eq!(read_answer(&body, 1), Ok(Answer::Result(Bytes::from(text.clone()))));
        let other = Bytes::from(format!("{{\"id\":1,\"result\":{text},\"jsonrpc\":\"2.0\"}}"));
        prop_assert_eq!(read_answer(&other, 1), Ok(Answer::Result(Bytes::from(text))));
    }

    #[test]
    fn batches_are_read_as_written_and_answered_in_their_order(
        results in prop::collection::vec(json(), 1..5),
        order in any::<prop::sample::Index>(),
    ) {
        let texts: Vec<String> = results.iter().map(|result| Value::from(vec![result.clone()]).to_string()).collect();
        let mut batch = Vec::new();
        write_batch(&mut batch, 1, texts.iter().map(|text| ("eth_call", text.as_str())));
        let Ok(Message::Batch(requests)) = read_message(&batch, 5) else { panic!("a batch") };
        let mut answers: Vec<String> = requests.iter().zip(&results).map(|(request, result)| {
            let request = request.as_ref().expect("a request");
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}", request.id.expect("an id"))
        }).collect();
        answers.rotate_left(order.index(results.len()));
        let body = format!("[{}]", answers.join(","));
        let expected = results.iter().map(|result| Answer::Result(Bytes::from(result.to_string()))).collect();
        prop_assert_eq!(read_answers(body.as_bytes(), 1, results.len()), Ok(expected));
    }
}
