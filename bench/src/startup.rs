//! Time from starting the process with an empty folder to its first answer.

use std::{
    net::{Ipv4Addr, SocketAddr},
    process::Stdio,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use tempfile::TempDir;
use testkit::process::free_port;
use tokio::time::sleep;

use crate::{
    http::{Connection, request},
    peer::Peer,
};

const LIMIT: Duration = Duration::from_secs(30);

pub(crate) async fn first_answer(peer: &Peer) -> Result<Duration> {
    let folder = TempDir::new()?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()?));
    let mut command = peer.command(address.port(), folder.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let question = request("eth_chainId", "[]");
    let started = Instant::now();
    let mut server = command.spawn()?;
    let elapsed = loop {
        if ask(address, &question).await.is_ok() {
            break started.elapsed();
        }
        ensure!(server.try_wait()?.is_none() && started.elapsed() < LIMIT, "{} does not start", peer.name());
        sleep(Duration::from_millis(1)).await;
    };
    server.kill().await?;
    Ok(elapsed)
}

async fn ask(address: SocketAddr, question: &[u8]) -> Result<()> {
    Connection::open(address).await?.exchange_ok(question).await.map(drop)
}
