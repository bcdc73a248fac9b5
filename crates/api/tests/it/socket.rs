//! Real sockets: connections, the end, and subscriptions.

use std::{net::SocketAddr, time::Duration};

use chainnet_api::{EdgeConfig, serve};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use store::testing::TestDb;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Message, client::IntoClientRequest},
};
use tokio_util::sync::CancellationToken;

use crate::rig::{Rig, on_both_engines};

on_both_engines! {
    a_connection_serves_many_requests_and_ends_gracefully,
    every_new_block_reaches_a_subscriber_in_order,
    operations_of_a_socket_are_bounded_and_counted,
    limits_hold_on_a_socket_too,
    one_client_does_not_take_all_sockets,
    a_socket_is_told_at_the_end_to_connect_again,
}

const PATIENCE: Duration = Duration::from_secs(20);

/// The rig's API on a port.
async fn listen(rig: &Rig) -> (SocketAddr, CancellationToken, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let server = tokio::spawn(serve(listener, rig.edge.clone(), stop.clone()));
    (address, stop, server)
}

async fn connect(address: SocketAddr) -> WebSocketStream<TcpStream> {
    let mut request = format!("ws://{address}/graphql").into_client_request().unwrap();
    request.headers_mut().insert("sec-websocket-protocol", "graphql-transport-ws".parse().unwrap());
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut socket, response) = client_async(request, stream).await.unwrap();
    assert_eq!(response.headers()["sec-websocket-protocol"], "graphql-transport-ws");
    send(&mut socket, json!({ "type": "connection_init" })).await;
    assert_eq!(receive(&mut socket).await.unwrap()["type"], "connection_ack");
    socket
}

async fn send(socket: &mut WebSocketStream<TcpStream>, message: Value) {
    socket.send(Message::text(message.to_string())).await.unwrap();
}

/// The next message, or the code with which the server closed.
async fn receive(socket: &mut WebSocketStream<TcpStream>) -> Result<Value, u16> {
    loop {
        match tokio::time::timeout(PATIENCE, socket.next()).await.expect("a message in time") {
            Some(Ok(Message::Text(text))) => return Ok(serde_json::from_str(&text).unwrap()),
            Some(Ok(Message::Close(Some(frame)))) => return Err(frame.code.into()),
            Some(Ok(_)) => {}
            Some(Err(_)) | None => return Err(0),
        }
    }
}

fn subscribe(id: &str, query: &str) -> Value {
    json!({ "id": id, "type": "subscribe", "payload": { "query": query } })
}

async fn a_connection_serves_many_requests_and_ends_gracefully(test: &TestDb) {
    let rig = Rig::new(test).await;
    let (address, stop, server) = listen(&rig).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    for path in ["/api/v1/chain", "/api/v1/chain", "/nowhere"] {
        stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes()).await.unwrap();
        let mut buffer = vec![0; 8192];
        let length = tokio::time::timeout(PATIENCE, stream.read(&mut buffer)).await.unwrap().unwrap();
        let text = String::from_utf8_lossy(&buffer[..length]).into_owned();
        assert!(text.starts_with(if path == "/nowhere" { "HTTP/1.1 404" } else { "HTTP/1.1 200" }), "{text}");
        assert!(text.contains("content-length: "), "{text}");
    }
    stop.cancel();
    tokio::time::timeout(PATIENCE, server).await.expect("an end in time").unwrap();
    assert!(TcpStream::connect(address).await.is_err(), "nobody listens any more");
}

async fn every_new_block_reaches_a_subscriber_in_order(test: &TestDb) {
    let rig = Rig::new(test).await;
    let (address, stop, server) = listen(&rig).await;
    let mut socket = connect(address).await;
    send(&mut socket, subscribe("1", "subscription { newBlocks { number hash } }")).await;
    // The answer to a second operation shows that the first has begun.
    send(&mut socket, subscribe("2", "{ chain { blockNumber } }")).await;
    assert_eq!(receive(&mut socket).await.unwrap()["payload"]["data"]["chain"]["blockNumber"], 0);
    assert_eq!(receive(&mut socket).await.unwrap()["type"], "complete");
    for number in 1..=5 {
        rig.control.mine(None).await.unwrap();
        if number % 2 == 0 {
            continue;
        }
        for expected in if number == 1 { 1..=1 } else { number - 1..=number } {
            let message = receive(&mut socket).await.unwrap();
            assert_eq!(message["payload"]["data"]["newBlocks"]["number"], expected, "{message}");
        }
    }
    drop(socket);
    stop.cancel();
    tokio::time::timeout(PATIENCE, server).await.expect("an end in time").unwrap();
}

async fn a_socket_is_told_at_the_end_to_connect_again(test: &TestDb) {
    let stop = CancellationToken::new();
    let config = EdgeConfig { stop: stop.clone(), ..EdgeConfig::default() };
    let rig = Rig::with(test, config).await;
    let (address, end, server) = listen(&rig).await;
    let mut socket = connect(address).await;
    send(&mut socket, subscribe("1", "subscription { newBlocks { number } }")).await;
    stop.cancel();
    assert_eq!(receive(&mut socket).await, Err(1012));
    tokio::time::timeout(PATIENCE, rig.edge.see_out()).await.expect("everybody has gone");
    end.cancel();
    tokio::time::timeout(PATIENCE, server).await.expect("an end in time").unwrap();
}

async fn operations_of_a_socket_are_bounded_and_counted(test: &TestDb) {
    let rig = Rig::new(test).await;
    let (address, _stop, _server) = listen(&rig).await;
    let mut socket = connect(address).await;
    for number in 0..17 {
        send(&mut socket, subscribe(&number.to_string(), "subscription { newBlocks { number } }")).await;
    }
    assert_eq!(receive(&mut socket).await, Err(4429));

    let limited = Rig::with(test, EdgeConfig { requests_per_minute: 3, ..EdgeConfig::default() }).await;
    let (address, _stop, _server) = listen(&limited).await;
    let mut socket = connect(address).await;
    for id in ["a", "b"] {
        send(&mut socket, subscribe(id, "{ chain { blockNumber } }")).await;
        assert_eq!(receive(&mut socket).await.unwrap()["type"], "next");
        assert_eq!(receive(&mut socket).await.unwrap()["type"], "complete");
    }
    send(&mut socket, subscribe("c", "{ chain { blockNumber } }")).await;
    assert_eq!(receive(&mut socket).await, Err(4429), "the upgrade and two operations were three requests");
}

async fn one_client_does_not_take_all_sockets(test: &TestDb) {
    let trusted_proxies = vec!["127.0.0.1/32".parse().unwrap()];
    let config = EdgeConfig { requests_per_minute: 1_000_000, trusted_proxies, ..EdgeConfig::default() };
    let rig = Rig::with(test, config).await;
    let (address, _stop, _server) = listen(&rig).await;
    // Clients behind a proxy are told apart.
    let upgrade = async |client: &str| {
        let mut request = format!("ws://{address}/graphql").into_client_request().unwrap();
        request.headers_mut().insert("sec-websocket-protocol", "graphql-transport-ws".parse().unwrap());
        request.headers_mut().insert("x-forwarded-for", client.parse().unwrap());
        let stream = TcpStream::connect(address).await.unwrap();
        client_async(request, stream).await.map(|(socket, _)| socket)
    };
    let mut open = Vec::new();
    for _ in 0..100 {
        open.push(upgrade("203.0.113.7").await.unwrap());
    }
    match upgrade("203.0.113.7").await {
        Err(tokio_tungstenite::tungstenite::Error::Http(refused)) => assert_eq!(refused.status(), 429),
        other => panic!("{other:?}"),
    }
    assert!(upgrade("203.0.113.8").await.is_ok(), "others are not concerned");
}

async fn limits_hold_on_a_socket_too(test: &TestDb) {
    let rig = Rig::new(test).await;
    let (address, _stop, _server) = listen(&rig).await;
    let mut socket = connect(address).await;
    let deep = "{ a ".repeat(9) + &"} ".repeat(9);
    send(&mut socket, subscribe("1", &deep)).await;
    let message = receive(&mut socket).await.unwrap();
    assert!(message.to_string().contains("query_too_large"), "{message}");
}
