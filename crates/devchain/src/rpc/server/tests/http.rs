//! Requests, batches, headers and shutdown over HTTP.

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{Response, Server};
use crate::rpc::config::{Cors, Hosts, Limits};

#[tokio::test]
async fn a_request_is_answered_with_its_id_byte_for_byte() {
    let server = Server::start(Limits::default()).await;
    for id in ["1", "-7", "1.50", "1e3", "\"a\\u0041\"", "null", "123456789012345678901234567890"] {
        let answer =
            server.post(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"echo","params":[1]}}"#)).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.body, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":[1]}}"#));
        assert!(answer.head.contains("content-type: application/json"));
    }
}

#[tokio::test]
async fn unknown_and_repeated_members_are_tolerated() {
    let server = Server::start(Limits::default()).await;
    let answer = server.post(r#" {"x":{"y":[]},"id":1,"method":"nope","method":"echo","id":2} "#).await;
    assert_eq!(answer.body, r#"{"jsonrpc":"2.0","id":2,"result":null}"#);
}

#[tokio::test]
async fn a_batch_is_answered_in_order_without_its_notifications() {
    let server = Server::start(Limits::default()).await;
    let answer = server
        .post(r#"[{"id":1,"method":"echo","params":["a"]},{"method":"echo"},7,{"id":2,"method":"none"}]"#)
        .await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.body,
        concat!(
            r#"[{"jsonrpc":"2.0","id":1,"result":["a"]},"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}},"#,
            r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"Method not found"}}]"#
        )
    );
}

#[tokio::test]
async fn notifications_get_an_empty_body() {
    let server = Server::start(Limits::default()).await;
    for body in [r#"{"method":"echo"}"#, r#"{"method":"none"}"#, r#"[{"method":"echo"}]"#] {
        let answer = server.post(body).await;
        assert_eq!((answer.status, answer.body.as_str()), (200, ""), "{body}");
    }
}

#[tokio::test]
async fn big_shared_pieces_arrive_whole_and_in_place() {
    let server = Server::start(Limits::default()).await;
    let answer = server.post(r#"[{"id":1,"method":"big"},{"id":2,"method":"echo"}]"#).await;
    let big = format!(r#"{{"jsonrpc":"2.0","id":1,"result":"{}"}}"#, "x".repeat(100_000));
    assert_eq!(answer.body, format!(r#"[{big},{{"jsonrpc":"2.0","id":2,"result":null}}]"#));
}

#[tokio::test]
async fn pipelined_requests_are_answered_on_one_connection() {
    let server = Server::start(Limits::default()).await;
    let body = r#"{"id":1,"method":"echo"}"#;
    let one = format!("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let last = one.replacen("Host", "Connection: close\r\nHost", 1);
    let answer = server.exchange(format!("{one}{one}{last}").as_bytes()).await;
    assert_eq!(answer.matches(r#""result":null"#).count(), 3);
}

#[tokio::test]
async fn a_chunked_body_is_read() {
    let server = Server::start(Limits::default()).await;
    let answer = server
        .exchange(
            b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n\
              8\r\n{\"id\":1,\r\n10\r\n\"method\":\"echo\"}\r\n0\r\n\r\n",
        )
        .await;
    assert!(answer.ends_with(r#"{"jsonrpc":"2.0","id":1,"result":null}"#), "{answer}");
}

#[tokio::test]
async fn browsers_may_ask_from_any_page_by_default() {
    let server = Server::start(Limits::default()).await;
    assert!(server.post(r#"{"id":1,"method":"echo"}"#).await.head.contains("access-control-allow-origin: *"));
    let preflight = server
        .exchange(b"OPTIONS / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://a\r\nConnection: close\r\n\r\n")
        .await;
    let preflight = Response::read(&preflight);
    assert_eq!(preflight.status, 204);
    assert!(preflight.head.contains("access-control-allow-methods: post"));
    assert!(preflight.head.contains("access-control-allow-headers: *"));
}

#[tokio::test]
async fn with_a_list_of_origins_only_those_may_read_answers() {
    let cors = Cors::Origins(vec!["https://good.example".to_owned()]);
    let server = Server::start_with(Limits::default(), cors, Hosts::default()).await;
    for (origin, allowed) in [("https://good.example", true), ("https://evil.example", false)] {
        let request =
            format!("OPTIONS / HTTP/1.1\r\nHost: localhost\r\nOrigin: {origin}\r\nConnection: close\r\n\r\n");
        let answer = Response::read(&server.exchange(request.as_bytes()).await);
        assert_eq!(answer.head.contains(&format!("access-control-allow-origin: {origin}")), allowed);
    }
}

#[tokio::test]
async fn a_foreign_host_name_is_refused() {
    let server = Server::start(Limits::default()).await;
    for (host, status) in
        [("localhost:8545", 200), ("LOCALHOST", 200), ("127.0.0.1", 200), ("rebound.example", 403), ("", 403)]
    {
        let request = format!("GET /liveness HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        let answer = Response::read(&server.exchange(request.as_bytes()).await);
        assert_eq!(answer.status, status, "{host}");
        if status == 403 {
            assert_eq!(answer.body, r#"{"message":"Host not authorized."}"#);
        }
    }
}

#[tokio::test]
async fn any_host_name_is_allowed_if_configured_so() {
    let server = Server::start_with(Limits::default(), Cors::Any, Hosts::Any).await;
    let answer = server.exchange(b"GET /readiness HTTP/1.0\r\n\r\n").await;
    assert_eq!(Response::read(&answer).body, r#"{"status":"UP"}"#);
}

#[tokio::test]
async fn other_paths_and_verbs_are_refused() {
    let server = Server::start(Limits::default()).await;
    for (line, status) in [("GET / ", 405), ("PUT / ", 405), ("GET /x ", 404), ("POST /x ", 404)] {
        let request = format!("{line}HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        assert_eq!(Response::read(&server.exchange(request.as_bytes()).await).status, status, "{line}");
    }
}

#[tokio::test]
async fn a_stopping_server_closes_idle_connections_and_ends() {
    let server = Server::start(Limits::default()).await;
    let mut stream = server.connect().await;
    let body = r#"{"id":1,"method":"echo"}"#;
    let request =
        format!("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut some = [0u8; 16];
    stream.read_exact(&mut some).await.unwrap();
    server.stop.cancel();
    super::read_to_end(&mut stream).await;
    server.task.await.unwrap().unwrap();
}
