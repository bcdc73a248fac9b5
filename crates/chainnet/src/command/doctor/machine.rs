//! The machine: who has our ports, what is left of the disk, whether Redis answers.

use std::{
    io::ErrorKind,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::Path,
    time::Duration,
};

use domain::Network;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::timeout,
};

use crate::{config::Config, finding::Finding};

/// How long whoever has a port may take to say who they are.
const PATIENCE: Duration = Duration::from_secs(2);
/// Bytes of an answer that are looked at.
const LONGEST_ANSWER: u64 = 16 * 1024;
/// Less than this is nothing: a database that cannot write stops.
const FULL_BYTES: u64 = 256 * 1024 * 1024;
/// Less than this is soon nothing.
const LOW_BYTES: u64 = 1024 * 1024 * 1024;

/// How a server is asked who it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ask {
    /// By `GET /health`.
    Health,
    /// By `web3_clientVersion`.
    Node,
}

/// Our ports are free, or have us behind them.
pub(super) async fn ports(config: &Config) -> Finding {
    let (mut served, mut free, mut taken) = (Vec::new(), Vec::new(), Vec::new());
    for (name, address, ask) in places(config) {
        let port = address.port();
        match TcpListener::bind(address).await {
            Ok(_) => free.push(port.to_string()),
            Err(error) if error.kind() == ErrorKind::AddrInUse => match is_ours(address, ask).await {
                true => served.push(port.to_string()),
                false => taken.push(format!("port {port} ({name}) is taken by another program")),
            },
            Err(error) => taken.push(format!("{address} ({name}) cannot be listened on: {error}")),
        }
    }
    if taken.is_empty() {
        let list = |ports: &[String]| if ports.is_empty() { "none".to_owned() } else { ports.join(", ") };
        return Finding::ok("ports", format!("served by us: {}; free: {}", list(&served), list(&free)));
    }
    Finding::fail("ports", taken.join("; "), "stop that program, or choose another port with that variable")
}

/// The ports that processes with this configuration open. Port 0 is any, which is always free.
fn places(config: &Config) -> Vec<(&'static str, SocketAddr, Ask)> {
    let mut places = vec![
        ("API_PORT", config.api.listen, Ask::Health),
        ("GATEWAY_PORT", config.gateway.listen, Ask::Health),
        ("EXPLORER_PORT", config.explorer.listen, Ask::Health),
        ("METRICS_PORT", config.metrics, Ask::Health),
    ];
    if config.network != Network::Mainnet {
        places.push(("FAUCET_PORT", config.faucet.listen, Ask::Health));
    }
    if config.nodes.is_empty() {
        places.push(("NODE_RPC_PORT", config.node.rpc, Ask::Node));
    }
    places.retain(|(_, address, _)| address.port() != 0);
    places
}

/// Whether what listens there says that it is chainnet.
async fn is_ours(address: SocketAddr, ask: Ask) -> bool {
    let host = match address.ip() {
        IpAddr::V4(any) if any.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(any) if any.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        host => host,
    };
    let answer = timeout(PATIENCE, question(SocketAddr::new(host, address.port()), ask)).await;
    let Ok(Ok(answer)) = answer else { return false };
    let Some((head, body)) = answer.split_once("\r\n\r\n") else { return false };
    let is_well = head.starts_with("HTTP/1.1 200");
    let says = match ask {
        Ask::Health => body.contains("\"status\"") && body.contains(env!("CARGO_PKG_VERSION")),
        Ask::Node => body.contains("chainnet/v"),
    };
    is_well && says
}

async fn question(address: SocketAddr, ask: Ask) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let request = match ask {
        Ask::Health => format!("GET /health HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"),
        Ask::Node => {
            let call = r#"{"jsonrpc":"2.0","id":1,"method":"web3_clientVersion","params":[]}"#;
            let length = call.len();
            format!(
                "POST / HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
                 Connection: close\r\n\r\n{call}"
            )
        }
    };
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(LONGEST_ANSWER).read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// What is left where the data is.
pub(super) fn disk(config: &Config) -> Finding {
    // A folder that is not there yet will be made on the disk of the next one above it.
    let place = config.data.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("."));
    match rustix::fs::statvfs(place) {
        Ok(about) => judge_disk(about.f_bavail.saturating_mul(about.f_frsize)),
        Err(error) => Finding::warn("disk", format!("cannot be looked at: {error}"), "look with df"),
    }
}

fn judge_disk(free: u64) -> Finding {
    let found = format!("{} MiB free where the data is", free >> 20);
    if free < FULL_BYTES {
        Finding::fail("disk", found, "make room: chain and database stop when nothing is left")
    } else if free < LOW_BYTES {
        Finding::warn("disk", found, "make room soon")
    } else {
        Finding::ok("disk", found)
    }
}

/// Redis answers, where one is configured.
pub(super) async fn redis(config: &Config) -> Option<Finding> {
    let url = config.access.redis.as_ref()?;
    let place = url.masked();
    Some(match access::ping_redis(url.expose()).await {
        Ok(()) => Finding::ok("redis", format!("{place} answers")),
        Err(error) => {
            let found = format!("{place}: {:#}", anyhow::Error::from(error));
            let advice =
                "start Redis, or name another with REDIS_URL; until then every gateway counts for itself";
            Finding::fail("redis", found, advice)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Verdict;

    #[test]
    fn a_disk_that_fills_up_is_told_of_in_time() {
        assert_eq!(judge_disk(10 << 30).verdict, Verdict::Ok);
        assert_eq!(judge_disk(500 << 20).verdict, Verdict::Warn);
        assert_eq!(judge_disk(1 << 20).verdict, Verdict::Fail);
    }
}
