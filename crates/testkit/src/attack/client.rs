//! A hostile client: where it comes from, and how it reaches its targets.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
};

use rand::{Rng, SeedableRng, rngs::StdRng};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
};

use crate::AppProcess;

/// What is attacked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Targets {
    /// Where strangers send JSON-RPC: the gateway, or the node where the gateway needs a key.
    pub(super) rpc: SocketAddr,
    pub(super) api: SocketAddr,
    pub(super) explorer: SocketAddr,
    pub(super) faucet: SocketAddr,
    pub(super) chain_id: u64,
}

impl Targets {
    pub(super) fn of(app: &AppProcess, network: &str) -> Self {
        let api = app.api().address();
        let at = |marker| app.server().announced(marker).unwrap_or(api);
        let (rpc, chain_id) = if network == "devnet" { ("JSON-RPC", 8845) } else { ("Gateway", 8847) };
        Self { rpc: at(rpc), api, explorer: at("Explorer"), faucet: at("Faucet"), chain_id }
    }

    /// Everything that speaks HTTP.
    pub(super) fn all(self) -> [SocketAddr; 4] {
        [self.rpc, self.api, self.explorer, self.faucet]
    }
}

/// A client at an address of its own.
pub(super) struct Attacker {
    pub(super) targets: Targets,
    pub(super) dice: StdRng,
    from: Ipv4Addr,
}

impl Attacker {
    pub(super) fn new(targets: Targets, dice: &mut StdRng) -> Self {
        // All of 127.0.0.0/8 is this machine.
        let from = Ipv4Addr::new(127, 0, dice.random(), dice.random_range(2..=254));
        Self { targets, dice: StdRng::seed_from_u64(dice.random()), from }
    }

    /// Any target.
    pub(super) fn any_target(&mut self) -> SocketAddr {
        let all = self.targets.all();
        all.get(self.dice.random_range(0..all.len())).copied().unwrap_or(self.targets.rpc)
    }

    pub(super) async fn connect(&self, to: SocketAddr) -> io::Result<TcpStream> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::from((self.from, 0)))?;
        socket.connect(to).await
    }

    /// Posts a body on a connection of its own, and reads what comes back to its end.
    pub(super) async fn post(&self, to: SocketAddr, path: &str, body: &str) -> io::Result<usize> {
        let mut stream = self.connect(to).await?;
        stream.write_all(&post_request(path, body, true)).await?;
        let (mut buffer, mut sum) = (vec![0; 64 * 1024], 0);
        loop {
            match stream.read(&mut buffer).await? {
                0 => return Ok(sum),
                read => sum += read,
            }
        }
    }

    /// Posts a JSON-RPC request.
    pub(super) async fn ask(&self, method: &str, params: &Value) -> io::Result<usize> {
        self.post(self.targets.rpc, "/", &rpc_body(method, params)).await
    }
}

pub(super) fn rpc_body(method: &str, params: &Value) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#)
}

pub(super) fn post_request(path: &str, body: &str, is_last: bool) -> Vec<u8> {
    let connection = if is_last { "close" } else { "keep-alive" };
    format!(
        "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nconnection: {connection}\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}
