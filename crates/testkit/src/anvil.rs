//! Anvil, the peer our node is compared with, as a child process.
//!
//! The version is pinned in `tests/peers/`; `npm ci` there installs it.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use tokio::process::Command;

use crate::{RpcClient, ServerProcess, StartError, process::Ready};

/// Names another Anvil binary than the pinned one.
const BINARY_VARIABLE: &str = "ANVIL_BIN";

/// An Anvil on a free port; killed when dropped.
#[derive(Debug)]
pub struct Anvil {
    server: ServerProcess,
    client: RpcClient,
}

/// No Anvil is installed.
#[derive(Debug, thiserror::Error)]
#[error("no Anvil at {}: run `npm ci` in tests/peers, or name a binary in {BINARY_VARIABLE}", .0.display())]
pub struct AnvilMissing(PathBuf);

/// Why Anvil did not come up.
#[derive(Debug, thiserror::Error)]
pub enum AnvilError {
    /// It is not installed.
    #[error(transparent)]
    Missing(#[from] AnvilMissing),
    /// It did not start.
    #[error("anvil did not start")]
    Start(#[from] StartError),
}

impl Anvil {
    /// Starts Anvil with these arguments on a port of its own choice.
    pub async fn start(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Result<Self, AnvilError> {
        let mut command = Command::new(binary()?);
        command.args(["--port", "0"]).args(arguments);
        let server = ServerProcess::start(command, Ready::Announced("Listening on")).await?;
        let client = RpcClient::new(server.address());
        Ok(Self { server, client })
    }

    /// Starts Anvil as the differential tests need it: our chain id, Shanghai rules, free gas, blocks on demand.
    pub async fn start_on_demand() -> Result<Self, AnvilError> {
        let chain_id = domain::Network::Devnet.chain_id().to_string();
        Self::start([
            "--chain-id",
            &chain_id,
            "--hardfork",
            "shanghai",
            "--base-fee",
            "0",
            "--gas-price",
            "0",
            "--disable-min-priority-fee",
            "--no-mining",
        ])
        .await
    }

    /// A client of it.
    pub fn client(&self) -> &RpcClient {
        &self.client
    }

    /// The process itself.
    pub fn server(&self) -> &ServerProcess {
        &self.server
    }
}

/// Where Anvil is: what `ANVIL_BIN` names, else the one installed in `tests/peers`.
pub fn binary() -> Result<PathBuf, AnvilMissing> {
    if let Some(named) = std::env::var_os(BINARY_VARIABLE) {
        return Some(PathBuf::from(named))
            .filter(|path| path.is_file())
            .ok_or_else(|| missing(BINARY_VARIABLE));
    }
    let architecture = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
    let system = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
    let pinned = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/peers/node_modules/@foundry-rs")
        .join(format!("anvil-{system}-{architecture}/bin/anvil"));
    if pinned.is_file() { Ok(pinned) } else { Err(AnvilMissing(pinned)) }
}

fn missing(path: impl Into<PathBuf>) -> AnvilMissing {
    AnvilMissing(path.into())
}
