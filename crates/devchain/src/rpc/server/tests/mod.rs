//! The transport against real sockets, with methods that only echo.

mod http;
mod limits;
mod malformed;
mod websocket;

use std::{net::SocketAddr, sync::Arc};

use ipnet::IpNet;
use listen::Budget;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use super::{Shared, run};
use crate::rpc::{
    config::{Cors, Hosts, Limits, RpcConfig},
    error::RpcError,
    jsonrpc::{Answer, Caller, Methods, Params},
    subscriptions::{Feed, Session, Topic},
};

/// Answers with what it was given.
pub(crate) struct Echo {
    feed: Arc<Feed>,
    max_batch: usize,
}

impl Methods for Echo {
    async fn call(
        self: &Arc<Self>,
        method: &str,
        params: Params<'_>,
        caller: Caller<'_>,
        out: &mut Answer,
    ) -> Result<(), RpcError> {
        match method {
            "echo" => out.text(params.raw().map_or("null", |raw| raw.get())),
            "big" => out.shared(bytes::Bytes::from(format!("\"{}\"", "x".repeat(100_000)))),
            "hang" => std::future::pending().await,
            "pending" => match caller.session {
                Some(session) => out.quantity(session.subscribe(Topic::Pending { full: false })?),
                None => return Err(RpcError::MethodNotEnabled),
            },
            _ => return Err(RpcError::MethodNotFound),
        }
        Ok(())
    }

    fn session(&self) -> Session {
        Session::new(Arc::clone(&self.feed), 2)
    }

    fn is_ready(&self) -> bool {
        true
    }

    fn max_batch(&self) -> usize {
        self.max_batch
    }

    fn max_batch_answer_bytes(&self) -> usize {
        250_000
    }
}

/// A server on a port of its own.
struct Server {
    address: SocketAddr,
    feed: Arc<Feed>,
    stop: CancellationToken,
    task: JoinHandle<std::io::Result<()>>,
}

impl Server {
    async fn start(limits: Limits) -> Self {
        Self::start_with(limits, Cors::Any, Hosts::default()).await
    }

    async fn start_with(limits: Limits, cors: Cors, hosts: Hosts) -> Self {
        Self::start_for(RpcConfig::default().peers, limits, cors, hosts).await
    }

    async fn start_for(peers: Vec<IpNet>, limits: Limits, cors: Cors, hosts: Hosts) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let feed = Arc::new(Feed::new(limits.max_queued_events));
        let methods = Arc::new(Echo { feed: Arc::clone(&feed), max_batch: limits.max_batch });
        let stop = CancellationToken::new();
        let buffers = Budget::new(limits.max_buffer_bytes / 2, limits.max_buffer_bytes);
        let clients = Budget::per_party(limits.max_connections_per_address);
        let shared = Shared { methods, cors, hosts, peers, limits, clients, buffers };
        let task = tokio::spawn(run(listener, shared, stop.clone()));
        Self { address, feed, stop, task }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends bytes and reads until the server closes.
    async fn exchange(&self, request: &[u8]) -> String {
        let mut stream = self.connect().await;
        stream.write_all(request).await.unwrap();
        read_to_end(&mut stream).await
    }

    async fn post(&self, body: &str) -> Response {
        let request = format!(
            "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        Response::read(&self.exchange(request.as_bytes()).await)
    }
}

async fn read_to_end(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8(answer).unwrap()
}

/// A response taken apart.
#[derive(Debug)]
struct Response {
    status: u16,
    head: String,
    body: String,
}

impl Response {
    fn read(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").expect("a complete response");
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }
}
