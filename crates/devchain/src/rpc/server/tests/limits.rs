//! Every bound of the transport, reached.

use std::time::Duration;

use tokio::{io::AsyncWriteExt, net::TcpSocket};

use super::{Response, Server, read_to_end};
use crate::rpc::config::{Cors, Hosts, Limits};

#[tokio::test]
async fn a_body_over_the_limit_is_refused_whether_announced_or_streamed() {
    let server = Server::start(Limits { max_body_bytes: 64, ..Limits::default() }).await;
    let answer = server.post(&"x".repeat(65)).await;
    assert_eq!((answer.status, answer.body.as_str()), (413, r#"{"message":"Request body too large."}"#));

    let mut request = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for _ in 0..3 {
        request.extend_from_slice(format!("20\r\n{}\r\n", "x".repeat(32)).as_bytes());
    }
    assert_eq!(Response::read(&server.exchange(&request).await).status, 413);
}

#[tokio::test]
async fn a_batch_over_the_limit_gets_one_error() {
    let server = Server::start(Limits { max_batch: 2, ..Limits::default() }).await;
    let answer = server.post(r#"[{"id":1,"method":"echo"},{},{}]"#).await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.body,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"Number of requests exceeds max batch size"}}"#
    );
}

#[tokio::test]
async fn a_connection_over_the_limit_is_told_503_and_a_freed_place_is_used_again() {
    let server = Server::start(Limits { max_connections: 1, ..Limits::default() }).await;
    let mut first = server.connect().await;
    let body = r#"{"id":1,"method":"echo"}"#;
    let request =
        format!("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    first.write_all(request.as_bytes()).await.unwrap();
    first.readable().await.unwrap();

    let refused = server.post(body).await;
    assert_eq!((refused.status, refused.body.as_str()), (503, r#"{"message":"Too many connections."}"#));

    drop(first);
    while server.post(body).await.status == 503 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn one_address_does_not_take_all_connections() {
    let limits = Limits { max_connections: 2, max_connections_per_address: 1, ..Limits::default() };
    let server = Server::start(limits).await;
    let body = r#"{"id":1,"method":"echo"}"#;
    let mut first = server.connect().await;
    first.write_all(post(body).as_bytes()).await.unwrap();
    first.readable().await.unwrap();
    assert_eq!(server.post(body).await.status, 503);
    // Who waits to be told so takes nothing from others.
    let _refused = server.connect().await;

    let other = TcpSocket::new_v4().unwrap();
    other.bind("127.0.0.2:0".parse().unwrap()).unwrap();
    let mut other = other.connect(server.address).await.unwrap();
    other.write_all(post(body).replace("Host", "Connection: close\r\nHost").as_bytes()).await.unwrap();
    assert_eq!(Response::read(&read_to_end(&mut other).await).status, 200, "others are not concerned");
}

#[tokio::test]
async fn an_address_that_is_not_listed_is_told_403() {
    let others = vec!["10.0.0.0/8".parse().unwrap()];
    let server = Server::start_for(others, Limits::default(), Cors::Any, Hosts::default()).await;
    let refused = server.post(r#"{"id":1,"method":"echo"}"#).await;
    assert_eq!((refused.status, refused.body.as_str()), (403, r#"{"message":"Address not authorized."}"#));
}

#[tokio::test]
async fn a_body_that_does_not_arrive_closes_the_connection() {
    let limits = Limits { transfer_timeout: Duration::from_millis(40), ..Limits::default() };
    let server = Server::start(limits).await;
    let mut stream = server.connect().await;
    stream.write_all(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{").await.unwrap();
    assert_eq!(read_to_end(&mut stream).await, "");
}

#[tokio::test]
async fn an_idle_connection_and_one_that_trickles_its_head_are_closed() {
    let server = Server::start(Limits { idle_timeout: Duration::from_millis(40), ..Limits::default() }).await;
    let mut idle = server.connect().await;
    let mut trickling = server.connect().await;
    trickling.write_all(b"POST / HTTP/1.1\r\nHos").await.unwrap();
    assert_eq!(read_to_end(&mut idle).await, "");
    assert_eq!(read_to_end(&mut trickling).await, "");
}

#[tokio::test]
async fn work_on_a_request_is_no_idleness() {
    let limits = Limits {
        idle_timeout: Duration::from_millis(30),
        transfer_timeout: Duration::from_millis(30),
        ..Limits::default()
    };
    let server = Server::start(limits).await;
    let mut stream = server.connect().await;
    let body = r#"{"id":1,"method":"hang"}"#;
    let request =
        format!("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    stream.write_all(request.as_bytes()).await.unwrap();
    let closed = tokio::time::timeout(Duration::from_millis(200), read_to_end(&mut stream)).await;
    assert!(closed.is_err(), "the connection was closed during work");
}

#[tokio::test]
async fn too_many_headers_are_refused() {
    let server = Server::start(Limits::default()).await;
    let mut request = b"POST / HTTP/1.1\r\nHost: localhost\r\n".to_vec();
    for n in 0..70 {
        request.extend_from_slice(format!("X-{n}: 1\r\n").as_bytes());
    }
    request.extend_from_slice(b"\r\n");
    assert_eq!(Response::read(&server.exchange(&request).await).status, 431);
}

#[tokio::test]
async fn answers_to_a_batch_that_grow_too_large_are_no_longer_made() {
    let server = Server::start(Limits::default()).await;
    let requests = [r#"{"id":1,"method":"big"}"#; 4].join(",");
    let answer = server.post(&format!("[{requests},{{\"method\":\"big\"}}]")).await;
    let answers: Vec<serde_json::Value> = serde_json::from_str(&answer.body).unwrap();
    let made = answers.iter().filter(|answer| answer["result"].is_string()).count();
    assert_eq!((answers.len(), made), (4, 3));
    assert_eq!(answers[3]["error"]["message"], "Answers to the batch exceed max batch answer size");
}

fn post(body: &str) -> String {
    format!("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

#[tokio::test]
async fn a_body_for_which_there_is_no_room_is_refused() {
    let server = Server::start(Limits { max_buffer_bytes: 200_000, ..Limits::default() }).await;
    let mut waiting = server.connect().await;
    let head = b"POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 90000\r\n\r\n";
    waiting.write_all(head).await.unwrap();
    waiting.readable().await.unwrap();
    let refused = server.post(&" ".repeat(20_000)).await;
    assert_eq!(refused.status, 429);
    assert!(
        refused.head.contains("\r\nretry-after: 1\r\n") && refused.body.contains("-32005"),
        "{refused:?}"
    );
    drop(waiting);
    while server.post(&" ".repeat(20_000)).await.status == 429 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn an_answer_for_which_there_is_no_room_is_not_sent() {
    let server = Server::start(Limits { max_buffer_bytes: 150_000, ..Limits::default() }).await;
    let mut stream = server.connect().await;
    stream.write_all(post(r#"{"id":1,"method":"big"}"#).as_bytes()).await.unwrap();
    stream.write_all(b"GET /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await.unwrap();
    let answers = read_to_end(&mut stream).await;
    assert!(answers.starts_with("HTTP/1.1 429 ") && answers.contains("-32005"), "{answers}");
    assert!(answers.contains("HTTP/1.1 404 "), "the connection stays: {answers}");
}
