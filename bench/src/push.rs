//! Thousands of WebSockets on a running gateway: how long after a head the last of them hears of it, and what each costs.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use clap::Args;
use futures_util::{SinkExt, StreamExt};
use tokio::{net::TcpStream, sync::mpsc};
use tokio_tungstenite::{
    WebSocketStream, client_async_with_config,
    tungstenite::{Message, client::IntoClientRequest, protocol::WebSocketConfig},
};

use crate::{
    machine, progress,
    table::{self, Row, Target, Unit},
    usage,
};

const SUBSCRIBE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}"#;
/// How long a head may take to come.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Args)]
pub(crate) struct Options {
    /// The gateway's address.
    #[arg(long)]
    gateway: SocketAddr,
    /// A node's address, which says when a head is there; without it, the first subscriber does.
    #[arg(long)]
    node: Option<SocketAddr>,
    /// The gateway's process, whose memory is measured.
    #[arg(long)]
    pid: Option<i32>,
    /// A key for the gateway.
    #[arg(long)]
    key: Option<String>,
    /// Subscribers. The gateway's limits must allow so many of one address.
    #[arg(long, default_value_t = 5_000)]
    peers: usize,
    /// Heads that are waited for.
    #[arg(long, default_value_t = 10)]
    heads: usize,
}

/// A head that somebody heard of.
struct Heard {
    number: u64,
    at: Instant,
    is_node: bool,
}

/// Measures and prints.
pub(crate) async fn run(options: Options) -> Result<()> {
    println!("{}", machine::description());
    table::print(&measure(&options).await?, "–");
    Ok(())
}

/// The figures of one run.
pub(crate) async fn measure(options: &Options) -> Result<Vec<Row>> {
    let before = options.pid.map(usage::resident_bytes).transpose()?;
    let (tell, heard) = mpsc::unbounded_channel();
    if let Some(node) = options.node {
        let socket = subscribe(node, None).await.context("the node")?;
        tokio::spawn(listen(socket, true, tell.clone()));
    }
    let bar = progress::bar(options.peers, "subscribing".to_owned());
    for _ in 0..options.peers {
        let socket = subscribe(options.gateway, options.key.as_deref()).await.context("the gateway")?;
        tokio::spawn(listen(socket, false, tell.clone()));
        bar.inc(1);
    }
    bar.finish_and_clear();
    drop(tell);
    let delays = collect(heard, options).await?;
    let after = options.pid.map(usage::resident_bytes).transpose()?;
    let each =
        before.zip(after).map(|(before, after)| after.saturating_sub(before) as f64 / options.peers as f64);
    let worst = delays.iter().copied().max_by(f64::total_cmp);
    let row =
        |metric: &str, unit, ours, target| Row { metric: metric.to_owned(), unit, ours, peer: None, target };
    Ok(vec![
        row(
            "last subscriber after a head, median",
            Unit::Millis,
            table::median(delays),
            Target::AtMost(250.0),
        ),
        row("last subscriber after a head, worst", Unit::Millis, worst, Target::None),
        row("memory per subscriber", Unit::Bytes, each, Target::AtMost(20_000.0)),
    ])
}

async fn subscribe(address: SocketAddr, key: Option<&str>) -> Result<WebSocketStream<TcpStream>> {
    let stream = TcpStream::connect(address).await?;
    let mut request = format!("ws://{address}/").into_client_request()?;
    if let Some(key) = key {
        request.headers_mut().insert("x-api-key", key.parse()?);
    }
    let config = WebSocketConfig::default().read_buffer_size(4096).write_buffer_size(0);
    let (mut socket, _) = client_async_with_config(request, stream, Some(config)).await?;
    socket.send(Message::text(SUBSCRIBE)).await?;
    match socket.next().await.context("no answer")?? {
        Message::Text(answer) if answer.contains("\"result\"") => Ok(socket),
        other => bail!("refused: {other}"),
    }
}

async fn listen(mut socket: WebSocketStream<TcpStream>, is_node: bool, tell: mpsc::UnboundedSender<Heard>) {
    while let Some(Ok(message)) = socket.next().await {
        let at = Instant::now();
        if let Message::Text(text) = message
            && let Some(number) = number(&text)
            && tell.send(Heard { number, at, is_node }).is_err()
        {
            return;
        }
    }
}

/// The head's number, without reading the rest: thousands of clients share the machine with what is measured.
fn number(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once("\"number\":\"0x")?;
    u64::from_str_radix(rest.split('"').next()?, 16).ok()
}

/// Milliseconds from a head until the last subscriber heard of it, for each head that came after all had subscribed.
async fn collect(mut heard: mpsc::UnboundedReceiver<Heard>, options: &Options) -> Result<Vec<f64>> {
    // What came while subscribing says nothing.
    while heard.try_recv().is_ok() {}
    let mut delays = Vec::with_capacity(options.heads);
    // The first may have come to some of them before.
    let mut skipped = None;
    let mut current: Option<(u64, Instant, usize)> = None;
    while delays.len() < options.heads {
        let news = tokio::time::timeout(PATIENCE, heard.recv()).await.context("no head came")?;
        let news = news.context("all connections are closed")?;
        if *skipped.get_or_insert(news.number) == news.number {
            continue;
        }
        let (number, start, count) = current.get_or_insert((news.number, news.at, 0));
        if *number != news.number {
            bail!("head {} came before all had heard of {number}: {count} had", news.number);
        }
        if news.is_node {
            *start = news.at;
            continue;
        }
        *count += 1;
        if *count == options.peers {
            delays.push(news.at.duration_since(*start).as_secs_f64() * 1000.0);
            current = None;
        }
    }
    Ok(delays)
}
