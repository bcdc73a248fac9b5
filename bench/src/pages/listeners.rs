//! Many watchers of the home page: when the last of them has a new head with its parts, and what one costs.

use std::{net::Ipv4Addr, sync::Arc, time::Instant};

use anyhow::{Context, Result, ensure};
use parking_lot::Mutex;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
};

use super::Explorer;
use crate::{
    heads::{Heard, listen, subscribe, worst_delay},
    load::Server,
    progress,
    table::{Row, Target, Unit},
    usage,
};

/// Bytes that a watcher may take.
const MOST_BYTES: f64 = 20_000.0;
/// Milliseconds after a head within which the last watcher has it.
const MOST_MILLIS: f64 = 300.0;
/// What stands in front of a head's number in an event.
const NUMBER: &[u8] = br#""number":"#;
/// What ends an event.
const END: &[u8] = b"\n\n";
const READ: usize = 32 * 1024;

/// Watches `count` times and lets some heads go by.
pub(super) async fn measure(explorer: &Explorer, count: usize) -> Result<Vec<Row>> {
    let node = explorer.app.node().context("the product runs without its node")?;
    let heard = Arc::new(Mutex::new(Heard::default()));
    let mut listeners = JoinSet::new();
    let reference = subscribe(node.address(), Ipv4Addr::LOCALHOST, None).await?;
    listeners.spawn(listen(reference, Arc::clone(&heard), Heard::note_node));

    let before = usage::resident_bytes(explorer.server.pid)?;
    let bar = progress::bar(count, "watchers".to_owned());
    for index in 0..count {
        let stream = watch(explorer.server, u16::try_from(index)?).await?;
        let heard = Arc::clone(&heard);
        listeners.spawn(async move {
            // A watcher that is cut off is missed by the count.
            let _ = follow(stream, &heard).await;
        });
        bar.inc(1);
    }
    bar.finish_and_clear();
    *heard.lock() = Heard::default();
    let worst = worst_delay(&heard, count).await?;
    let grown = usage::resident_bytes(explorer.server.pid)?.saturating_sub(before);
    let row = |metric, unit, ours, limit| Row {
        metric,
        unit,
        ours: Some(ours),
        peer: None,
        target: Target::AtMost(limit),
    };
    Ok(vec![
        row(
            format!("last of {count} watchers shown a head after the node told it"),
            Unit::Millis,
            worst,
            MOST_MILLIS,
        ),
        row("memory per watcher".to_owned(), Unit::Bytes, grown as f64 / count as f64, MOST_BYTES),
    ])
}

/// Opens a stream of events and reads its head.
async fn watch(server: Server, visitor: u16) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(server.address).await?;
    stream.write_all(&super::get("/live?view=home", visitor)).await?;
    let mut start = [0; 12];
    stream.read_exact(&mut start).await?;
    ensure!(start == *b"HTTP/1.1 200", "not watching: {}", String::from_utf8_lossy(&start));
    Ok(stream)
}

/// Notes every head whose event has come to its end.
async fn follow(mut stream: TcpStream, heard: &Mutex<Heard>) -> Result<()> {
    let mut buffer = Vec::with_capacity(READ);
    loop {
        ensure!(stream.read_buf(&mut buffer).await? > 0, "the stream has ended");
        let now = Instant::now();
        while let Some((number, rest)) = take_event(&buffer) {
            heard.lock().by_listener(format!("{number:#x}"), now);
            buffer.drain(..rest);
        }
    }
}

/// The first whole event: the number of its head, and where what follows begins.
fn take_event(bytes: &[u8]) -> Option<(u64, usize)> {
    let start = find(bytes, NUMBER)? + NUMBER.len();
    let after = bytes.get(start..)?;
    let end = find(after, END)?;
    let digits = after.iter().take_while(|byte| byte.is_ascii_digit());
    let number = digits.fold(0, |number: u64, digit| number * 10 + u64::from(digit - b'0'));
    Some((number, start + end + END.len()))
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_counts_once_it_is_whole() {
        let events = b"1f\r\nevent: head\ndata: {\"number\":412,\"parts\":{}}\n\n\r\n1f\r\nevent: head\ndata: {\"number\":41";
        let (number, rest) = take_event(events).unwrap();
        assert_eq!(number, 412);
        assert!(take_event(&events[rest..]).is_none());
    }
}
