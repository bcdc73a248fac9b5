//! The product as a child process: `chainnet up`, or one of its roles.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    process::ExitStatus,
};

use tokio::process::Command;

use crate::{HttpClient, RpcClient, ServerProcess, StartError, process::Ready};

/// What a process prints in front of the API's address.
const API: &str = "REST";
/// What a process prints in front of the embedded node's address.
const JSON_RPC: &str = "JSON-RPC";

/// A process that serves the API on a free port; killed when dropped.
#[derive(Debug)]
pub struct AppProcess {
    binary: PathBuf,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    /// What the process prints last when it is up.
    marker: &'static str,
    server: ServerProcess,
    api: HttpClient,
}

impl AppProcess {
    /// Starts `chainnet up` on the embedded chain, with free ports, in the data directory.
    pub async fn up(
        binary: impl Into<PathBuf>,
        data: &Path,
        arguments: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Result<Self, StartError> {
        Self::up_with(binary, data, arguments, Vec::new()).await
    }

    /// The same, with these variables in its environment.
    pub async fn up_with(
        binary: impl Into<PathBuf>,
        data: &Path,
        arguments: impl IntoIterator<Item = impl Into<OsString>>,
        environment: Vec<(OsString, OsString)>,
    ) -> Result<Self, StartError> {
        let ports = [
            "--api-port",
            "--rpc-port",
            "--gateway-port",
            "--faucet-port",
            "--explorer-port",
            "--metrics-port",
        ];
        // Tests start from an empty chain.
        let own = ["up", "--demo", "false", "--data"].into_iter().map(OsString::from).chain([data.into()]);
        let own = own.chain(ports.into_iter().flat_map(|port| [port.into(), "0".into()]));
        let arguments = own.chain(arguments.into_iter().map(Into::into)).collect();
        Self::launch(binary.into(), arguments, environment, JSON_RPC).await
    }

    /// Starts a process that has no embedded chain: `chainnet api …`, or `chainnet up` with a node's address.
    pub async fn start(
        binary: impl Into<PathBuf>,
        arguments: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Result<Self, StartError> {
        Self::launch(binary.into(), arguments.into_iter().map(Into::into).collect(), Vec::new(), API).await
    }

    async fn launch(
        binary: PathBuf,
        arguments: Vec<OsString>,
        environment: Vec<(OsString, OsString)>,
        marker: &'static str,
    ) -> Result<Self, StartError> {
        let mut command = Command::new(&binary);
        command.args(&arguments).envs(environment.iter().map(|(name, value)| (name, value)));
        let server = ServerProcess::start(command, Ready::Announced(marker)).await?;
        let api = HttpClient::new(server.announced(API).unwrap_or_else(|| server.address()));
        Ok(Self { binary, arguments, environment, marker, server, api })
    }

    /// A client of the API as it runs now.
    pub fn api(&self) -> HttpClient {
        self.api
    }

    /// A client of the embedded node, if one runs inside.
    pub fn node(&self) -> Option<RpcClient> {
        self.server.announced(JSON_RPC).map(RpcClient::new)
    }

    /// The process itself: its number and output.
    pub fn server(&self) -> &ServerProcess {
        &self.server
    }

    /// Ends the process at once (`kill -9`).
    pub async fn kill9(&mut self) -> io::Result<ExitStatus> {
        self.server.kill9().await
    }

    /// Whether the process has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        self.server.has_ended()
    }

    /// Waits until the process has ended.
    pub async fn ended(&mut self) -> io::Result<ExitStatus> {
        self.server.ended().await
    }

    /// Asks the process to end and waits until it did.
    pub async fn stop(&mut self) -> io::Result<ExitStatus> {
        self.server.stop().await
    }

    /// Starts it again as it was started before.
    pub async fn restart(&mut self) -> Result<(), StartError> {
        *self =
            Self::launch(self.binary.clone(), self.arguments.clone(), self.environment.clone(), self.marker)
                .await?;
        Ok(())
    }
}
