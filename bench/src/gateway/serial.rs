//! A node that behaves as Besu does with batches: it runs one call after the other, while single calls run side by side.
//!
//! It stands before a real node and lets every call take as long as a call of a contract takes on a busy validator.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use anyhow::{Context, Result};
use axum::{
    Router,
    extract::State,
    http::{StatusCode, header::CONTENT_TYPE},
    response::IntoResponse,
};
use bytes::Bytes;
use clap::Args;
use serde_json::Value;
use testkit::{ServerProcess, process::Ready};
use tokio::{net::TcpListener, process::Command, sync::Mutex};

use crate::http::{Connection, post};

/// What the server prints in front of its address.
const MARKER: &str = "listening";
/// How long a call takes.
const CALL: Duration = Duration::from_millis(2);

/// `bench serial-node`.
#[derive(Debug, Args)]
pub(crate) struct SerialOptions {
    /// The node that answers.
    node: SocketAddr,
}

struct Node {
    address: SocketAddr,
    idle: Mutex<Vec<Connection>>,
}

/// Serves until it is killed.
pub(crate) async fn serve(options: SerialOptions) -> Result<()> {
    let node = Arc::new(Node { address: options.node, idle: Mutex::default() });
    let listener = TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).await?;
    println!("{MARKER} {}", listener.local_addr()?);
    let app = Router::new().fallback(answer).with_state(node);
    axum::serve(listener, app).await.context("the serial node ended")
}

/// Starts this program again as such a node.
pub(super) async fn start(node: SocketAddr) -> Result<ServerProcess> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("serial-node").arg(node.to_string());
    Ok(ServerProcess::start(command, Ready::Announced(MARKER)).await?)
}

async fn answer(State(node): State<Arc<Node>>, body: Bytes) -> impl IntoResponse {
    match node.answer_all(&body).await {
        Ok(answer) => (StatusCode::OK, [(CONTENT_TYPE, "application/json")], answer),
        Err(error) => (StatusCode::BAD_GATEWAY, [(CONTENT_TYPE, "text/plain")], format!("{error:#}").into()),
    }
}

impl Node {
    async fn answer_all(&self, body: &[u8]) -> Result<Vec<u8>> {
        match serde_json::from_slice(body)? {
            Value::Array(calls) => {
                let mut answers = Vec::with_capacity(calls.len());
                for call in calls {
                    answers.push(self.answer_one(&call.to_string()).await?);
                }
                let list = answers.join(&b',');
                Ok([b"[".as_slice(), &list, b"]"].concat())
            }
            call => self.answer_one(&call.to_string()).await,
        }
    }

    async fn answer_one(&self, call: &str) -> Result<Vec<u8>> {
        tokio::time::sleep(CALL).await;
        let kept = self.idle.lock().await.pop();
        let mut connection = match kept {
            Some(connection) => connection,
            None => Connection::open(self.address).await?,
        };
        let answer = connection.exchange(&post("/", &[], call)).await?.to_vec();
        self.idle.lock().await.push(connection);
        Ok(answer)
    }
}
