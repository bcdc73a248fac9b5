//! Requests, events and endings over WebSocket.

use std::{sync::Arc, time::Duration};

use alloy_consensus::{SignableTransaction, TxEnvelope, TxLegacy, transaction::Recovered};
use alloy_primitives::{Address, Signature};
use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Message, protocol::frame::coding::CloseCode},
};

use super::{Response, Server};
use crate::{
    block::Transaction,
    rpc::config::{Cors, Hosts, Limits},
};

async fn open(server: &Server) -> WebSocketStream<TcpStream> {
    client_async("ws://localhost/", server.connect().await).await.unwrap().0
}

async fn ask(socket: &mut WebSocketStream<TcpStream>, request: &str) -> String {
    socket.send(Message::text(request)).await.unwrap();
    next_text(socket).await
}

async fn next_text(socket: &mut WebSocketStream<TcpStream>) -> String {
    match socket.next().await.unwrap().unwrap() {
        Message::Text(text) => text.to_string(),
        other => panic!("{other:?} instead of text"),
    }
}

fn transaction(nonce: u64) -> Arc<Transaction> {
    let signed = TxLegacy { nonce, ..TxLegacy::default() }.into_signed(Signature::test_signature());
    Arc::new(Recovered::new_unchecked(TxEnvelope::Legacy(signed), Address::ZERO))
}

#[tokio::test]
async fn requests_and_batches_are_answered_and_notifications_are_not() {
    let server = Server::start(Limits::default()).await;
    let mut socket = open(&server).await;
    socket.send(Message::text(r#"{"method":"echo"}"#)).await.unwrap();
    assert_eq!(
        ask(&mut socket, r#"{"id":1,"method":"echo"}"#).await,
        r#"{"jsonrpc":"2.0","id":1,"result":null}"#
    );
    assert_eq!(
        ask(&mut socket, r#"[{"id":2,"method":"echo","params":[]}]"#).await,
        r#"[{"jsonrpc":"2.0","id":2,"result":[]}]"#
    );
    assert!(ask(&mut socket, "nope").await.contains("-32700"));
}

#[tokio::test]
async fn subscribed_events_arrive_until_unsubscribed_connections_hear_nothing() {
    let server = Server::start(Limits::default()).await;
    let mut socket = open(&server).await;
    assert_eq!(
        ask(&mut socket, r#"{"id":1,"method":"pending"}"#).await,
        r#"{"jsonrpc":"2.0","id":1,"result":"0x1"}"#
    );
    let tx = transaction(1);
    server.feed.announce_pending(Arc::clone(&tx));
    assert_eq!(
        next_text(&mut socket).await,
        format!(
            r#"{{"jsonrpc":"2.0","method":"eth_subscription","params":{{"subscription":"0x1","result":"{}"}}}}"#,
            tx.tx_hash()
        )
    );
}

#[tokio::test]
async fn subscriptions_are_bounded_per_connection() {
    let server = Server::start(Limits::default()).await;
    let mut socket = open(&server).await;
    for _ in 0..2 {
        assert!(ask(&mut socket, r#"{"id":1,"method":"pending"}"#).await.contains("result"));
    }
    assert!(ask(&mut socket, r#"{"id":1,"method":"pending"}"#).await.contains("-32005"));
}

#[tokio::test]
async fn a_reader_that_falls_behind_is_closed_with_the_reason() {
    let server = Server::start(Limits { max_queued_events: 1, ..Limits::default() }).await;
    let mut socket = open(&server).await;
    ask(&mut socket, r#"{"id":1,"method":"pending"}"#).await;
    // Announced without a pause, so that the connection's task cannot take any before the queue overflows.
    for nonce in 0..100 {
        server.feed.announce_pending(transaction(nonce));
    }
    loop {
        match socket.next().await.unwrap().unwrap() {
            Message::Close(Some(frame)) => {
                assert_eq!(frame.code, CloseCode::Policy);
                assert_eq!(frame.reason.as_str(), "too slow: events were not read in time");
                break;
            }
            Message::Text(_) => {}
            other => panic!("{other:?} instead of a close"),
        }
    }
}

#[tokio::test]
async fn an_oversized_message_closes_the_socket_with_the_reason() {
    let server = Server::start(Limits { max_body_bytes: 64, ..Limits::default() }).await;
    let mut socket = open(&server).await;
    socket.send(Message::text("x".repeat(65))).await.unwrap();
    match socket.next().await.unwrap().unwrap() {
        Message::Close(Some(frame)) => assert_eq!(frame.code, CloseCode::Size),
        other => panic!("{other:?} instead of a close"),
    }
}

#[tokio::test]
async fn a_reader_that_takes_nothing_is_given_up() {
    let limits =
        Limits { transfer_timeout: Duration::from_millis(50), max_connections: 1, ..Limits::default() };
    let server = Server::start(limits).await;
    let mut socket = open(&server).await;
    // The answers are far more than socket buffers hold, and nobody reads them.
    for _ in 0..400 {
        socket.send(Message::text(r#"{"id":1,"method":"big"}"#)).await.unwrap();
    }
    // The only place is free again once the server has given up.
    while server.post(r#"{"id":1,"method":"echo"}"#).await.status == 503 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_bad_handshake_is_refused() {
    let server = Server::start(Limits::default()).await;
    let request =
        b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close, Upgrade\r\nUpgrade: websocket\r\n\
        Sec-WebSocket-Version: 8\r\nSec-WebSocket-Key: x\r\n\r\n";
    assert_eq!(Response::read(&server.exchange(request).await).status, 400);
}

#[tokio::test]
async fn a_page_of_a_foreign_origin_cannot_connect() {
    let cors = Cors::Origins(vec!["https://good.example".to_owned()]);
    let server = Server::start_with(Limits::default(), cors, Hosts::default()).await;
    let request = b"GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\nConnection: close, Upgrade\r\n\
        Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x\r\n\r\n";
    assert_eq!(Response::read(&server.exchange(request).await).status, 403);
}

#[tokio::test]
async fn a_stopping_server_says_goodbye() {
    let server = Server::start(Limits::default()).await;
    let mut socket = open(&server).await;
    ask(&mut socket, r#"{"id":1,"method":"echo"}"#).await;
    server.stop.cancel();
    match socket.next().await.unwrap().unwrap() {
        Message::Close(Some(frame)) => assert_eq!(frame.code, CloseCode::Away),
        other => panic!("{other:?} instead of a close"),
    }
    drop(socket);
    server.task.await.unwrap().unwrap();
}
