//! HTTP itself: paths, methods, pages in browsers, and the end.

use std::time::Duration;

use chainnet_gateway::{Cors, GatewayConfig, Limits};
use hyper::StatusCode;
use prometheus_client::encoding::text::encode;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::{
    front::{Front, open},
    recorder::Recorder,
    world::{World, in_time},
};

fn metrics(front: &Front) -> String {
    let mut text = String::new();
    encode(&mut text, &front.gateway.registry().lock()).unwrap();
    text
}

#[tokio::test]
async fn paths_and_methods_that_do_not_exist_are_refused() {
    let world = World::new();
    let front = Front::new(open(), world.in_process()).await;
    assert_eq!(front.get("/nothing").await.status, StatusCode::NOT_FOUND);
    let reply = front.get("/").await;
    assert_eq!(
        (reply.status, reply.header("allow")),
        (StatusCode::METHOD_NOT_ALLOWED, Some("POST, OPTIONS"))
    );
    assert_eq!(front.post_with("/health", &[], "").await.status, StatusCode::METHOD_NOT_ALLOWED);
    let health = front.get("/health").await.json();
    assert_eq!((&health["status"], &health["head"]), (&json!("ok"), &json!(0)));
}

#[tokio::test]
async fn pages_may_call_if_they_are_listed() {
    let world = World::new();
    let cors = Cors::Origins(vec!["https://explorer.example".to_owned()]);
    let front = Front::new(GatewayConfig { cors, ..open() }, world.in_process()).await;
    let mut connection = front.connect().await;
    let listed = [("origin", "https://explorer.example")];
    let reply = connection.send("OPTIONS", "/", &listed, "").await;
    assert_eq!(reply.status, StatusCode::NO_CONTENT);
    assert_eq!(reply.header("access-control-allow-origin"), Some("https://explorer.example"));
    assert!(reply.header("access-control-allow-headers").unwrap().contains("X-API-Key"));
    let reply = connection.send("POST", "/", &[("origin", "https://evil.example")], "{").await;
    assert_eq!((reply.status.as_u16(), reply.header("access-control-allow-origin")), (400, None));
    let reply = connection.send("POST", "/", &listed, "{").await;
    assert_eq!(reply.header("access-control-allow-origin"), Some("https://explorer.example"));
}

#[tokio::test]
async fn the_end_lets_open_requests_finish_and_says_so() {
    let world = World::new();
    let recorder = Recorder::over(world.in_process());
    let front = Front::new(open(), recorder.clone()).await;
    recorder.hold();
    let mut waiting = front.connect().await;
    let asking = tokio::spawn(async move { waiting.call("eth_gasPrice", json!([])).await });
    in_time(async {
        while recorder.asked("eth_gasPrice") == 0 {
            tokio::task::yield_now().await
        }
    })
    .await;
    front.stop.cancel();
    in_time(async { while tokio::net::TcpStream::connect(front.address).await.is_ok() {} }).await;
    recorder.release();
    let reply = in_time(asking).await.unwrap();
    assert_eq!(reply.status, StatusCode::OK);
}

#[tokio::test]
async fn the_end_is_announced_while_requests_are_still_taken() {
    let world = World::new();
    let front = Front::new(open(), world.in_process()).await;
    assert_eq!(front.get("/ready").await.status, StatusCode::OK);
    front.gateway.drain();
    let told = front.get("/ready").await;
    assert_eq!((told.status, &told.json()["reason"]), (StatusCode::SERVICE_UNAVAILABLE, &json!("draining")));
    assert_eq!(told.header("connection"), Some("close"));
    assert_eq!(front.ask("eth_chainId", json!([])).await, "0x228d");
}

#[tokio::test]
async fn who_sends_too_slowly_is_cut_off() {
    let world = World::new();
    let limits = Limits {
        transfer_timeout: Duration::from_millis(100),
        idle_timeout: Duration::from_millis(200),
        ..Limits::default()
    };
    let front = Front::new(GatewayConfig { limits, ..open() }, world.in_process()).await;
    for start in ["POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{", "POST / HTT", ""] {
        let mut stream = tokio::net::TcpStream::connect(front.address).await.unwrap();
        stream.write_all(start.as_bytes()).await.unwrap();
        let mut rest = Vec::new();
        // Ends only because the gateway closes.
        let _ = in_time(stream.read_to_end(&mut rest)).await;
    }
}

#[tokio::test]
async fn what_is_not_quite_http_is_refused() {
    let world = World::new();
    let front = Front::new(open(), world.in_process()).await;
    let chunked = |size: &str, end: &str| {
        format!(
            "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n{size}{{}}{end}"
        )
    };
    let long = format!("2;{}\r\n", "a".repeat(2000));
    for (name, bytes, expected) in [
        ("a good one", chunked("2;a=b\r\n", "\r\n0\r\nx: y\r\n\r\n"), "-32600"),
        ("an empty size", chunked("\r\n", "\r\n0\r\n\r\n"), "broken_body"),
        ("only an extension", chunked(";\r\n", "\r\n0\r\n\r\n"), "broken_body"),
        ("a lone line feed", chunked("2;a\n", "\r\n0\r\n\r\n"), "broken_body"),
        ("a NUL", chunked("2;\0\r\n", "\r\n0\r\n\r\n"), "broken_body"),
        ("a bell", chunked("2;a=\x07\r\n", "\r\n0\r\n\r\n"), "broken_body"),
        ("a long extension", chunked(&long, "\r\n0\r\n\r\n"), "broken_body"),
        ("a trailer that is none", chunked("2\r\n", "\r\n0\r\nno header\r\n\r\n"), "broken_body"),
        ("a trailer without its end", chunked("2\r\n", "\r\n0\r\nx: y\n\r\n"), "broken_body"),
        (
            "no host",
            "POST / HTTP/1.1\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}".to_owned(),
            "Not an HTTP",
        ),
        (
            "line feeds",
            "POST / HTTP/1.1\nHost: a\nConnection: close\nContent-Length: 2\n\n{}".to_owned(),
            "Not an HTTP",
        ),
    ] {
        let mut stream = tokio::net::TcpStream::connect(front.address).await.unwrap();
        stream.write_all(bytes.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        in_time(stream.read_to_end(&mut answer)).await.unwrap();
        let answer = String::from_utf8(answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains(expected), "{name}: {answer}");
    }
}

#[tokio::test]
async fn beyond_the_most_connections_a_caller_is_told_so() {
    let world = World::new();
    let limits = Limits { max_connections: 2, ..Limits::default() };
    let front = Front::new(GatewayConfig { limits, ..open() }, world.in_process()).await;
    // The one that waited until the gateway was ready.
    in_time(async {
        while !metrics(&front).contains("gateway_connections 0") {
            tokio::task::yield_now().await
        }
    })
    .await;
    let (mut one, mut two) = (front.connect().await, front.connect().await);
    for connection in [&mut one, &mut two] {
        in_time(connection.call("eth_chainId", json!([]))).await.result();
    }
    let reply = front.call("eth_chainId", json!([])).await;
    assert_eq!(reply.refusal(), (503, -32002, "too_many_connections".to_owned()));
    assert_eq!(reply.header("retry-after"), Some("1"));
}

#[tokio::test]
async fn one_client_cannot_take_every_connection() {
    let world = World::new();
    let limits = Limits { max_connections_per_client: 1, ..Limits::default() };
    let front = Front::with(GatewayConfig { limits, ..open() }, crate::nodes::headless(&world), |access| {
        access.trusted_proxies = vec!["10.0.0.0/8".parse().unwrap()];
    })
    .await;
    let mut first = front.connect().await;
    first.call("eth_chainId", json!([])).await.result();
    let reply = front.call("eth_chainId", json!([])).await;
    assert_eq!(reply.refusal(), (503, -32002, "too_many_connections".to_owned()));
    first.call("eth_chainId", json!([])).await.result();
}

#[tokio::test]
async fn metrics_have_fixed_labels_only() {
    let world = World::new();
    let front = Front::new(open(), world.in_process()).await;
    front.ask("eth_chainId", json!([])).await;
    front.call("my_ownMethod", json!([])).await;
    let text = metrics(&front);
    assert!(text.contains(r#"gateway_requests_total{method="eth_chainId",way="local"} 1"#), "{text}");
    assert!(text.contains(r#"gateway_requests_total{method="other",way="refused"} 1"#), "{text}");
    assert!(text.contains(r#"gateway_refusals_total{code="-32601"} 1"#), "{text}");
    assert!(text.contains(r#"gateway_node_head{node="embedded"} 0"#), "{text}");
    assert!(!text.contains("ownMethod"));
}
