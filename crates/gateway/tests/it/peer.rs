//! A WebSocket client that keeps events apart from answers.

use std::{collections::VecDeque, net::SocketAddr};

use futures_util::{SinkExt, StreamExt};
use hyper::{StatusCode, header::HeaderName};
use serde_json::{Value, json};
use tokio::net::{TcpSocket, TcpStream};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{
        self, Message,
        client::IntoClientRequest,
        protocol::{CloseFrame, frame::coding::CloseCode},
    },
};

use crate::{front::number, world::in_time};

/// An event: its subscription and what it says.
pub(crate) type Event = (String, Value);

pub(crate) struct Peer {
    socket: WebSocketStream<TcpStream>,
    events: VecDeque<Event>,
    last_id: u64,
}

/// Why a handshake failed: the status, and the error's code and reason.
#[derive(Debug, PartialEq)]
pub(crate) struct Turned {
    pub(crate) status: StatusCode,
    pub(crate) code: i64,
    pub(crate) reason: String,
}

impl Peer {
    pub(crate) async fn open(address: SocketAddr) -> Self {
        Self::open_at(address, "/", &[]).await.expect("a WebSocket")
    }

    /// Opens a path with headers.
    pub(crate) async fn open_at(
        address: SocketAddr,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<Self, Turned> {
        Self::over(TcpStream::connect(address).await.expect("a connection"), address, path, headers).await
    }

    /// A peer whose machine takes little at a time.
    pub(crate) async fn narrow(address: SocketAddr) -> Self {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_recv_buffer_size(4096).expect("a small buffer");
        let stream = socket.connect(address).await.expect("a connection");
        Self::over(stream, address, "/", &[]).await.expect("a WebSocket")
    }

    async fn over(
        stream: TcpStream,
        address: SocketAddr,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<Self, Turned> {
        let mut request = format!("ws://{address}{path}").into_client_request().expect("a request");
        for (name, value) in headers {
            let value = value.parse().expect("a header");
            request.headers_mut().insert(HeaderName::from_static(name), value);
        }
        match in_time(client_async(request, stream)).await {
            Ok((socket, _)) => Ok(Self { socket, events: VecDeque::new(), last_id: 0 }),
            Err(tungstenite::Error::Http(response)) => {
                let body = response.body().as_deref().unwrap_or_default();
                let error: Value = serde_json::from_slice(body).unwrap_or_default();
                Err(Turned {
                    status: response.status(),
                    code: error["error"]["code"].as_i64().unwrap_or_default(),
                    reason: error["error"]["data"]["reason"].as_str().unwrap_or_default().to_owned(),
                })
            }
            Err(other) => panic!("{other}"),
        }
    }

    pub(crate) async fn send(&mut self, message: impl Into<Message>) {
        in_time(self.socket.send(message.into())).await.expect("an open socket");
    }

    /// Waits until something has arrived, without taking it.
    pub(crate) async fn readable(&self) {
        self.socket.get_ref().readable().await.expect("an open socket");
    }

    /// Says goodbye.
    pub(crate) async fn close(&mut self) {
        let frame = CloseFrame { code: CloseCode::Normal, reason: "done".into() };
        in_time(self.socket.close(Some(frame))).await.expect("an open socket");
    }

    /// The next message that is no event.
    pub(crate) async fn answer(&mut self) -> Value {
        serde_json::from_str(&self.answer_text().await).expect("JSON")
    }

    /// The same as it came.
    pub(crate) async fn answer_text(&mut self) -> String {
        loop {
            if let Some(answer) = self.read().await {
                return answer;
            }
        }
    }

    /// Reads a message; events are put aside.
    async fn read(&mut self) -> Option<String> {
        let text = loop {
            match in_time(self.socket.next()).await.expect("an open socket").expect("a message") {
                Message::Text(text) => break text,
                Message::Ping(_) | Message::Pong(_) => {}
                other => panic!("{other:?} instead of text"),
            }
        };
        if !text.starts_with(r#"{"jsonrpc":"2.0","method":"eth_subscription""#) {
            return Some(text.to_string());
        }
        let mut event: Value = serde_json::from_str(&text).expect("JSON");
        let id = event["params"]["subscription"].as_str().expect("a subscription").to_owned();
        self.events.push_back((id, event["params"]["result"].take()));
        None
    }

    /// Asks and gives the whole answer.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let request = json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params });
        self.send(Message::text(request.to_string())).await;
        let answer = self.answer().await;
        assert_eq!(answer["id"], self.last_id, "{answer}");
        answer
    }

    /// Asks what must have a result.
    pub(crate) async fn result(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.ask(method, params).await;
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].take()
    }

    pub(crate) async fn subscribe(&mut self, params: Value) -> String {
        let id = self.result("eth_subscribe", params).await;
        id.as_str().expect("an id").to_owned()
    }

    /// The next event.
    pub(crate) async fn event(&mut self) -> Event {
        loop {
            if let Some(event) = self.events.pop_front() {
                return event;
            }
            if let Some(answer) = self.read().await {
                panic!("{answer} instead of an event");
            }
        }
    }

    /// Heads by number, the next so many.
    pub(crate) async fn heads(&mut self, count: usize) -> Vec<u64> {
        let mut numbers = Vec::with_capacity(count);
        for _ in 0..count {
            let (_, head) = self.event().await;
            numbers.push(number(&head["number"]));
        }
        numbers
    }

    /// Waits until the gateway serves this head.
    pub(crate) async fn at_head(&mut self, head: u64) {
        let reached = async { while number(&self.result("eth_blockNumber", json!([])).await) != head {} };
        in_time(reached).await;
    }

    /// Whether nothing arrives before the answer to a question that is asked now.
    pub(crate) async fn is_quiet(&mut self) -> bool {
        self.result("eth_chainId", json!([])).await;
        self.events.is_empty()
    }

    /// Reads until the gateway says goodbye, whatever comes before.
    pub(crate) async fn goodbye(&mut self) -> (u16, String) {
        loop {
            match in_time(self.socket.next()).await {
                Some(Ok(Message::Close(Some(CloseFrame { code, reason })))) => {
                    return (code.into(), reason.to_string());
                }
                Some(Ok(_)) => {}
                other => panic!("{other:?} instead of a close frame"),
            }
        }
    }
}
