//! Our node as a child process, with a data directory that outlives restarts.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use tempfile::TempDir;
use tokio::{process::Command, time::sleep};

use crate::{RpcClient, ServerProcess, StartError, process::Ready};

/// What the node prints in front of its JSON-RPC address.
const ANNOUNCEMENT: &str = "JSON-RPC";

/// A `chainnet node` on a free port with its own data directory; killed and cleaned up when dropped.
#[derive(Debug)]
pub struct NodeProcess {
    binary: PathBuf,
    arguments: Vec<OsString>,
    client: RpcClient,
    // Dropped in this order: the process is gone before its directory is removed.
    server: ServerProcess,
    data: TempDir,
}

impl NodeProcess {
    /// Starts a node with a fresh data directory. `binary` is `env!("CARGO_BIN_EXE_chainnet")` in the product's tests;
    /// `arguments` follow `node --data DIR --rpc-port 0 --metrics-port 0`.
    pub async fn start(
        binary: impl Into<PathBuf>,
        arguments: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Result<Self, StartError> {
        let binary = binary.into();
        let data = TempDir::new()
            .map_err(|source| StartError::Spawn { program: binary.display().to_string(), source })?;
        Self::start_in(binary, arguments, data).await
    }

    /// Starts a node on a data directory that has been prepared.
    pub async fn start_in(
        binary: impl Into<PathBuf>,
        arguments: impl IntoIterator<Item = impl Into<OsString>>,
        data: TempDir,
    ) -> Result<Self, StartError> {
        let binary = binary.into();
        let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
        let server = launch(&binary, &arguments, data.path(), 0).await?;
        let client = RpcClient::new(server.address());
        Ok(Self { binary, arguments, client, server, data })
    }

    /// A client of the node as it runs now.
    pub fn client(&self) -> &RpcClient {
        &self.client
    }

    /// The node's data directory.
    pub fn data(&self) -> &Path {
        self.data.path()
    }

    /// The process itself: its number, address and output.
    pub fn server(&self) -> &ServerProcess {
        &self.server
    }

    /// Ends the node at once (`kill -9`).
    pub async fn kill9(&mut self) -> io::Result<ExitStatus> {
        self.server.kill9().await
    }

    /// Asks the node to end and waits until it did.
    pub async fn stop(&mut self) -> io::Result<ExitStatus> {
        self.server.stop().await
    }

    /// Starts the node again on the same data directory, after [`Self::kill9`] or [`Self::stop`].
    pub async fn restart(&mut self) -> Result<(), StartError> {
        self.launch_again(0).await
    }

    /// The same at the address it had, for those who look for it there.
    pub async fn restart_in_place(&mut self) -> Result<(), StartError> {
        self.launch_again(self.server.address().port()).await
    }

    async fn launch_again(&mut self, port: u16) -> Result<(), StartError> {
        self.server = launch(&self.binary, &self.arguments, self.data.path(), port).await?;
        self.client = RpcClient::new(self.server.address());
        Ok(())
    }

    /// Starts the node again on the same data directory and ends it (`kill -9`) after this time, ready or not.
    pub async fn start_and_kill9(&self, after: Duration) -> io::Result<()> {
        let mut command = command(&self.binary, &self.arguments, self.data.path(), 0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        let mut child = command.spawn()?;
        sleep(after).await;
        child.kill().await
    }
}

async fn launch(
    binary: &Path,
    arguments: &[OsString],
    data: &Path,
    port: u16,
) -> Result<ServerProcess, StartError> {
    ServerProcess::start(command(binary, arguments, data, port), Ready::Announced(ANNOUNCEMENT)).await
}

fn command(binary: &Path, arguments: &[OsString], data: &Path, port: u16) -> Command {
    let mut command = Command::new(binary);
    command.arg("node").arg("--data").arg(data);
    command.args(["--rpc-port", &port.to_string(), "--metrics-port", "0"]).args(arguments);
    command
}
