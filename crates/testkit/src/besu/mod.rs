//! A node that behaves like Besu: our own node's JSON-RPC, with Besu's habits put in front of it.
//!
//! Besu itself needs Java and minutes; this needs neither, so every suite that reads or proxies a chain can run on it.
//! What it does differently from the embedded chain is written down in `settings` (what a version has), `admit` (what is
//! refused before it is tried), `shape` (what answers look like), `pool` (what it says of waiting transactions) and `http`/`socket` (what the ports do). Blocks, state and
//! execution are the real ones behind it.

mod admit;
mod exchange;
mod http;
mod methods;
mod pool;
mod seats;
mod settings;
mod shape;
mod socket;
mod tally;
mod test_node;

use std::{io, net::SocketAddr, sync::Arc};

use tokio::{net::TcpListener, task::JoinSet};

use self::{exchange::Exchange, tally::Tally};

pub use self::{methods::Group, settings::BesuSettings, test_node::TestNode};

/// Besu in front of a node; gone when dropped.
#[derive(Debug)]
pub struct Besu {
    http: SocketAddr,
    socket: SocketAddr,
    tally: Arc<Tally>,
    _servers: JoinSet<()>,
}

impl Besu {
    /// Starts on two free ports, as Besu has them: one for HTTP, one for WebSocket. `node` is our own node's port.
    pub async fn start(node: SocketAddr, settings: BesuSettings) -> io::Result<Self> {
        let (http, socket) =
            (TcpListener::bind("127.0.0.1:0").await?, TcpListener::bind("127.0.0.1:0").await?);
        let tally = Arc::new(Tally::default());
        let exchange = Arc::new(Exchange { settings, node, tally: Arc::clone(&tally) });
        let addresses = (http.local_addr()?, socket.local_addr()?);
        let mut servers = JoinSet::new();
        servers.spawn(http::serve(http, Arc::clone(&exchange)));
        servers.spawn(socket::serve(socket, exchange));
        Ok(Self { http: addresses.0, socket: addresses.1, tally, _servers: servers })
    }

    /// Where requests go.
    pub fn http(&self) -> SocketAddr {
        self.http
    }

    /// Where WebSockets go.
    pub fn socket(&self) -> SocketAddr {
        self.socket
    }

    /// Both ports, as `PLATFORM_RPC_URL` takes them.
    pub fn url(&self) -> String {
        format!("http://{}|ws://{}", self.http, self.socket)
    }

    /// How often a method was asked for.
    pub fn asked(&self, method: &str) -> usize {
        self.tally.asked(method)
    }

    /// Connections to the HTTP port that were closed because there were too many.
    pub fn turned_away(&self) -> usize {
        self.tally.turned_away()
    }

    /// The requests that Besu does not understand, in the order they came: what no well-meaning caller sends.
    pub fn faults(&self) -> Vec<String> {
        self.tally.faults()
    }
}
