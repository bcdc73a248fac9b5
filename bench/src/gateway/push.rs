//! Many WebSocket subscribers of `newHeads`: when the last of them has heard of a head, and what one costs.

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
    task::JoinSet,
    time::sleep,
};
use tokio_tungstenite::{
    WebSocketStream, client_async_with_config,
    tungstenite::{ClientRequestBuilder, Message, protocol::WebSocketConfig},
};

use super::front::Front;
use crate::{
    http::call,
    progress,
    table::{Row, Target, Unit},
    usage,
};

/// Subscribers with one key and from one loopback address: a gateway lets nobody have all its connections.
const CROWD: usize = 1_000;
/// How long a gateway may take to hear of a new key.
const KEY_DELAY: Duration = Duration::from_secs(1);
/// Heads that are waited for.
const HEADS: usize = 6;
const PATIENCE: Duration = Duration::from_secs(60);

type Socket = WebSocketStream<TcpStream>;

/// When heads were heard of.
#[derive(Default)]
struct Heard {
    /// By the one who asks the node directly.
    first: HashMap<String, Instant>,
    /// By the subscribers: how many, and when the last.
    all: HashMap<String, (usize, Instant)>,
}

/// Subscribes `count` times and watches some heads go by.
pub(super) async fn measure(front: &Front, node: SocketAddr, count: usize) -> Result<Vec<Row>> {
    let server = front.server();
    let heard = Arc::new(Mutex::new(Heard::default()));
    let mut listeners = JoinSet::new();
    let reference = subscribe(node, Ipv4Addr::LOCALHOST, None).await?;
    listeners.spawn(listen(reference, Arc::clone(&heard), |heard, number, now| {
        heard.first.insert(number, now);
    }));

    let before = usage::resident_bytes(server.pid)?;
    let bar = progress::bar(count, "subscribers".to_owned());
    let mut key = String::new();
    for index in 0..count {
        if index.is_multiple_of(CROWD) {
            key = front.issue_key().await?;
            sleep(KEY_DELAY).await;
        }
        let from = Ipv4Addr::new(127, 0, 1, u8::try_from(1 + index / CROWD)?);
        let socket = subscribe(server.address, from, Some(&key)).await?;
        listeners.spawn(listen(socket, Arc::clone(&heard), |heard, number, now| {
            let seen = heard.all.entry(number).or_insert((0, now));
            *seen = (seen.0 + 1, now);
        }));
        bar.inc(1);
    }
    bar.finish_and_clear();
    *heard.lock() = Heard::default();
    let worst = worst_delay(&heard, count).await?;
    let grown = usage::resident_bytes(server.pid)?.saturating_sub(before);
    Ok(vec![
        row(format!("last of {count} subscribers served after the head"), Unit::Millis, worst, 250.0),
        row("memory per subscriber".to_owned(), Unit::Bytes, grown as f64 / count as f64, 20_000.0),
    ])
}

fn row(metric: String, unit: Unit, ours: f64, limit: f64) -> Row {
    Row { metric, unit, ours: Some(ours), peer: None, target: Target::AtMost(limit) }
}

/// The longest time, in milliseconds, between the node's word and the last subscriber's, over some heads.
async fn worst_delay(heard: &Mutex<Heard>, count: usize) -> Result<f64> {
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
        ensure!(started.elapsed() < PATIENCE, "only {} heads reached all subscribers", delays.len());
    }
}

async fn subscribe(address: SocketAddr, from: Ipv4Addr, key: Option<&str>) -> Result<Socket> {
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

async fn listen(mut socket: Socket, heard: Arc<Mutex<Heard>>, note: fn(&mut Heard, String, Instant)) {
    while let Some(Ok(message)) = socket.next().await {
        let now = Instant::now();
        let number =
            message.to_text().ok().and_then(|text| text.split(r#""number":""#).nth(1)?.split('"').next());
        if let Some(number) = number {
            note(&mut heard.lock(), number.to_owned(), now);
        }
    }
}
