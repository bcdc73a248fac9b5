//! The nodes under measurement: how each is started so that both do the same work.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use domain::Network;
use tempfile::TempDir;
use testkit::{
    RpcClient, ServerProcess, anvil,
    process::{Ready, free_port},
};
use tokio::process::Command;

use crate::load::Server;

/// A kind of node.
#[derive(Debug, Clone)]
pub(crate) enum Peer {
    /// Our node, by the path of its binary.
    Ours(PathBuf),
    /// Anvil, by the path of its binary.
    Anvil(PathBuf),
}

impl Peer {
    /// Our node, see [`our_binary`].
    pub(crate) async fn ours(binary: Option<PathBuf>) -> Result<Self> {
        our_binary(binary).await.map(Self::Ours)
    }

    pub(crate) fn anvil() -> Result<Self> {
        Ok(Self::Anvil(anvil::binary()?))
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Ours(_) => "ours",
            Self::Anvil(_) => "Anvil",
        }
    }

    /// The command that starts the node on this port, with its files below `folder`.
    pub(crate) fn command(&self, port: u16, folder: &Path) -> Command {
        match self {
            Self::Ours(binary) => {
                let mut command = Command::new(binary);
                command.arg("node").arg("--data").arg(folder.join("data"));
                command.args(["--rpc-port", &port.to_string(), "--metrics-port", "0"]);
                command
            }
            Self::Anvil(binary) => {
                let mut command = Command::new(binary);
                // Quiet and first-in-first-out spare it work; the gas limit lets a block take every waiting transfer.
                command.args([
                    "--quiet",
                    "--order",
                    "fifo",
                    "--block-time",
                    "2",
                    "--gas-limit",
                    "100000000000",
                ]);
                command.args([
                    "--hardfork",
                    "shanghai",
                    "--chain-id",
                    &Network::Devnet.chain_id().to_string(),
                ]);
                command
                    .args(["--port", &port.to_string()])
                    .arg("--dump-state")
                    .arg(folder.join("state.json"));
                command
            }
        }
    }

    /// Starts the node with a fresh folder.
    pub(crate) async fn start(&self) -> Result<Running> {
        let folder = TempDir::new()?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()?));
        let server =
            ServerProcess::start(self.command(address.port(), folder.path()), Ready::Listening(address))
                .await?;
        Ok(Running { server, client: RpcClient::new(address), folder })
    }
}

/// Our binary: the one given, else the one cargo builds into the folder this program runs from.
pub(crate) async fn our_binary(binary: Option<PathBuf>) -> Result<PathBuf> {
    if let Some(binary) = binary {
        ensure!(binary.is_file(), "no chainnet at {}", binary.display());
        return Ok(binary);
    }
    let folder = std::env::current_exe()?.parent().context("this program has no folder")?.to_owned();
    let mut build = Command::new(env!("CARGO"));
    build.args([
        "build",
        "--package",
        "chainnet",
        "--manifest-path",
        concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
    ]);
    if !cfg!(debug_assertions) {
        build.arg("--release");
    }
    ensure!(build.status().await?.success(), "chainnet does not build");
    Ok(folder.join("chainnet"))
}

/// A node that runs; killed, and its folder removed, when dropped.
pub(crate) struct Running {
    pub(crate) server: ServerProcess,
    pub(crate) client: RpcClient,
    pub(crate) folder: TempDir,
}

impl Running {
    pub(crate) fn address(&self) -> SocketAddr {
        self.server.address()
    }

    pub(crate) fn pid(&self) -> i32 {
        self.server.pid()
    }

    pub(crate) fn server(&self) -> Server {
        Server { address: self.address(), pid: self.pid() }
    }
}
