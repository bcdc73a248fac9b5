//! The gateway as a process of its own before one node, and a key that no load exhausts.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;
use testkit::{HttpClient, ServerProcess, process::Ready};
use tokio::process::Command;

use crate::{
    http::{call, post},
    load::Server,
};

/// What the process prints in front of the gateway's address.
const MARKER: &str = "Gateway";
/// A minute's limit that no load reaches.
const NO_LIMIT: &str = "800000000";

/// A gateway that runs; killed, and its folder removed, when dropped.
pub(super) struct Front {
    process: ServerProcess,
    key: String,
    binary: PathBuf,
    data: TempDir,
}

impl Front {
    /// Starts a gateway before this node.
    pub(super) async fn start(binary: &Path, node: SocketAddr) -> Result<Self> {
        let data = TempDir::new()?;
        let key = issue_key(binary, data.path()).await?;
        let mut command = Command::new(binary);
        command.args(["gateway", "--gateway-port", "0", "--metrics-port", "0", "--data"]).arg(data.path());
        command.env("PLATFORM_RPC_URL", format!("http://{node}"));
        let process = ServerProcess::start(command, Ready::Announced(MARKER)).await?;
        HttpClient::new(process.address()).wait_for("/ready", |answer| answer.status.is_success()).await?;
        Ok(Self { process, key, binary: binary.to_owned(), data })
    }

    pub(super) fn server(&self) -> Server {
        Server { address: self.process.address(), pid: self.process.pid() }
    }

    /// Another key that it lets in.
    pub(super) async fn issue_key(&self) -> Result<String> {
        issue_key(&self.binary, self.data.path()).await
    }

    /// A call as it goes over the wire, with the key.
    pub(super) fn request(&self, method: &str, params: &str) -> Vec<u8> {
        self.post(&call(method, params))
    }

    /// A body as it goes over the wire, with the key.
    pub(super) fn post(&self, body: &str) -> Vec<u8> {
        post("/", &[("x-api-key", &self.key)], body)
    }
}

async fn issue_key(binary: &Path, data: &Path) -> Result<String> {
    let mut command = Command::new(binary);
    command.args(["keys", "issue", "--team", "bench", "--permissions", "rpc", "--limit", NO_LIMIT]);
    let output = command.arg("--data").arg(data).output().await?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "no key was issued: {}", String::from_utf8_lossy(&output.stderr));
    let key = text.split_whitespace().find(|word| word.starts_with("cnk_"));
    key.map(str::to_owned).context("no key was printed")
}
