//! When heads reach many listeners at once, beside one who asks the node directly.

use std::{
    collections::HashMap,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use futures_util::{SinkExt, StreamExt};
use parking_lot::Mutex;
use tokio::{
    net::{TcpSocket, TcpStream},
    time::sleep,
};
use tokio_tungstenite::{
    WebSocketStream, client_async_with_config,
    tungstenite::{ClientRequestBuilder, Message, protocol::WebSocketConfig},
};

use crate::http::call;

/// Heads that are waited for.
const HEADS: usize = 6;
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) type Socket = WebSocketStream<TcpStream>;

/// When heads were heard of.
#[derive(Default)]
pub(crate) struct Heard {
    /// By the one who asks the node directly.
    first: HashMap<String, Instant>,
    /// By the listeners: how many, and when the last.
    all: HashMap<String, (usize, Instant)>,
}

impl Heard {
    /// The node has told a head, by its number in hexadecimal.
    pub(crate) fn note_node(&mut self, number: String, now: Instant) {
        self.first.insert(number, now);
    }

    /// One more listener has heard of a head.
    pub(crate) fn by_listener(&mut self, number: String, now: Instant) {
        let seen = self.all.entry(number).or_insert((0, now));
        *seen = (seen.0 + 1, now);
    }
}

/// The longest time, in milliseconds, between the node's word and the last listener's, over some heads.
pub(crate) async fn worst_delay(heard: &Mutex<Heard>, count: usize) -> Result<f64> {
    let started = Instant::now();
    loop {
        sleep(Duration::from_millis(100)).await;
        let delays: Vec<f64> = {
            let heard = heard.lock();
            let whole = heard.all.iter().filter(|(_, seen)| seen.0 == count);
            let delay = |(number, seen): (&String, &(usize, Instant))| {
                Some(seen.1.saturating_duration_since(*heard.first.get(number)?).as_secs_f64() * 1e3)
            };
            whole.filter_map(delay).collect()
        };
        if delays.len() >= HEADS {
            return delays.into_iter().reduce(f64::max).context("no head");
        }
        ensure!(started.elapsed() < PATIENCE, "only {} heads reached all listeners", delays.len());
    }
}

/// A subscription to `newHeads`, from a loopback address of the caller's choice.
pub(crate) async fn subscribe(address: SocketAddr, from: Ipv4Addr, key: Option<&str>) -> Result<Socket> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((from, 0).into())?;
    let stream = socket.connect(address).await?;
    let mut request = ClientRequestBuilder::new(format!("ws://{address}/").parse()?);
    if let Some(key) = key {
        request = request.with_header("x-api-key", key);
    }
    let small = WebSocketConfig::default().read_buffer_size(4096).write_buffer_size(0);
    let (mut socket, _) = client_async_with_config(request, stream, Some(small)).await?;
    socket.send(Message::text(call("eth_subscribe", r#"["newHeads"]"#))).await?;
    let answer = socket.next().await.context("closed before it subscribed")??;
    ensure!(answer.to_text()?.contains("result"), "not subscribed: {answer}");
    Ok(socket)
}

/// Notes every head of a subscription until it ends.
pub(crate) async fn listen(
    mut socket: Socket,
    heard: Arc<Mutex<Heard>>,
    note: fn(&mut Heard, String, Instant),
) {
    while let Some(Ok(message)) = socket.next().await {
        let now = Instant::now();
        let number =
            message.to_text().ok().and_then(|text| text.split(r#""number":""#).nth(1)?.split('"').next());
        if let Some(number) = number {
            note(&mut heard.lock(), number.to_owned(), now);
        }
    }
}
