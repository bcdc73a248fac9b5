//! Pages of strangers in the browser of somebody who runs a node: they may read, and drive nothing.

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_tungstenite::{
    client_async,
    tungstenite::{Message, client::IntoClientRequest},
};

use super::{LOG, Rig};

/// Everything that changes the node.
const DRIVING: [(&str, &str); 11] = [
    ("chainnet_stopValidator", r#"["V1"]"#),
    ("chainnet_startValidator", r#"["V1"]"#),
    ("chainnet_proposeVote", r#"["V1","0x0000000000000000000000000000000000000007",true]"#),
    ("chainnet_discardVote", r#"["V1","0x0000000000000000000000000000000000000007"]"#),
    ("ibft_proposeValidatorVote", r#"["0x0000000000000000000000000000000000000007",true]"#),
    ("ibft_discardValidatorVote", r#"["0x0000000000000000000000000000000000000007"]"#),
    ("evm_mine", "[]"),
    ("evm_increaseTime", "[1]"),
    ("evm_setNextBlockTimestamp", "[4000000000]"),
    ("evm_snapshot", "[]"),
    ("evm_revert", r#"["0x1"]"#),
];

/// Posts as a browser does for a page, and gives the JSON back.
async fn post(rig: &Rig, headers: &str, body: &str) -> Value {
    let mut stream = TcpStream::connect(rig.address).await.unwrap();
    let length = body.len();
    let request = format!(
        "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
}

fn request(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#)
}

/// The chain and the validators have not moved.
async fn is_untouched(rig: &Rig) {
    assert_eq!(rig.get("eth_blockNumber", json!([])).await, "0x0");
    assert_eq!(rig.get("chainnet_validators", json!([])).await[0]["running"], true);
    assert_eq!(rig.get("ibft_getPendingVotes", json!([])).await, json!({}));
}

#[tokio::test]
async fn no_page_drives_the_node() {
    let rig = Rig::start().await;
    for (method, params) in DRIVING {
        let body = request(method, params);
        for headers in [
            "Origin: https://evil.example\r\nContent-Type: text/plain\r\n",
            "Origin: null\r\nContent-Type: text/plain\r\n",
            "Origin: http://localhost:3000\r\nContent-Type: application/json\r\n",
            "Sec-Fetch-Site: cross-site\r\nContent-Type: text/plain\r\n",
        ] {
            for body in [body.clone(), format!("[{body}]")] {
                let answer = post(&rig, headers, &body).await;
                let error = answer.pointer("/error").or(answer.pointer("/0/error"));
                let error = error.unwrap_or_else(|| panic!("{method} {headers}: {answer}"));
                assert_eq!(error["code"], -32604, "{method} {headers}");
                assert_eq!(error["message"], "Method not available to web pages", "{method} {headers}");
            }
        }
    }
    is_untouched(&rig).await;
}

#[tokio::test]
async fn no_page_drives_the_node_over_a_websocket() {
    let rig = Rig::start().await;
    let mut handshake = "ws://localhost/".into_client_request().unwrap();
    handshake.headers_mut().insert("origin", "https://evil.example".parse().unwrap());
    let stream = TcpStream::connect(rig.address).await.unwrap();
    let (mut socket, _) = client_async(handshake, stream).await.unwrap();
    for (method, params) in DRIVING {
        socket.send(Message::text(request(method, params))).await.unwrap();
        let Message::Text(answer) = socket.next().await.unwrap().unwrap() else { panic!("no text") };
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["error"]["code"], -32604, "{method}: {answer}");
    }
    is_untouched(&rig).await;
}

/// What programs without a browser do goes on working, whatever type they give their body.
#[tokio::test]
async fn programs_drive_the_node() {
    let rig = Rig::start().await;
    for headers in
        ["", "Content-Type: application/json\r\n", "Content-Type: application/x-www-form-urlencoded\r\n"]
    {
        for (method, params) in [
            ("chainnet_stopValidator", r#"["V1"]"#),
            ("chainnet_startValidator", r#"["V1"]"#),
            ("evm_mine", "[]"),
        ] {
            let answer = post(&rig, headers, &request(method, params)).await;
            assert!(answer.get("result").is_some(), "{method} {headers}: {answer}");
        }
    }
    assert_eq!(rig.get("eth_blockNumber", json!([])).await, "0x3");
}

/// A page that shows the chain or sends what its visitor has signed needs nobody's leave.
#[tokio::test]
async fn pages_read_and_send_what_is_signed() {
    let rig = Rig::start().await;
    let page = "Origin: https://dapp.example\r\nContent-Type: application/json\r\n";
    let raw = rig.sign(rig.transaction(0, LOG, &[]));
    let sent = post(&rig, page, &request("eth_sendRawTransaction", &json!([raw]).to_string())).await;
    assert!(sent["result"].is_string(), "{sent}");
    for (method, params) in [
        ("eth_blockNumber", "[]"),
        ("chainnet_validators", "[]"),
        ("ibft_getPendingVotes", "[]"),
        ("txpool_status", "[]"),
    ] {
        let answer = post(&rig, page, &request(method, params)).await;
        assert!(answer.get("result").is_some(), "{method}: {answer}");
    }
}

/// A name that was pointed at this machine for the occasion is not ours.
#[tokio::test]
async fn a_rebound_name_is_refused_and_the_machines_own_names_are_not() {
    let rig = Rig::start().await;
    for (host, status) in
        [("evil.example:8545", "403"), ("[::1]:8545", "200"), ("127.0.0.1:8545", "200"), ("localhost", "200")]
    {
        let mut stream = TcpStream::connect(rig.address).await.unwrap();
        let body = request("eth_blockNumber", "[]");
        let head = format!(
            "POST / HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{host}: {answer}");
    }
}
