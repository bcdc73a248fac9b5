//! Many WebSocket subscribers of `newHeads`: when the last of them has heard of a head, and what one costs.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use anyhow::Result;
use parking_lot::Mutex;
use tokio::{task::JoinSet, time::sleep};

use super::front::Front;
use crate::{
    heads::{Heard, listen, subscribe, worst_delay},
    progress,
    table::{Row, Target, Unit},
    usage,
};

/// Subscribers with one key and from one loopback address: a gateway lets nobody have all its connections.
const CROWD: usize = 1_000;
/// How long a gateway may take to hear of a new key.
const KEY_DELAY: Duration = Duration::from_secs(1);

/// Subscribes `count` times and watches some heads go by.
pub(super) async fn measure(front: &Front, node: SocketAddr, count: usize) -> Result<Vec<Row>> {
    let server = front.server();
    let heard = Arc::new(Mutex::new(Heard::default()));
    let mut listeners = JoinSet::new();
    let reference = subscribe(node, Ipv4Addr::LOCALHOST, None).await?;
    listeners.spawn(listen(reference, Arc::clone(&heard), Heard::note_node));

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
        listeners.spawn(listen(socket, Arc::clone(&heard), Heard::by_listener));
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
