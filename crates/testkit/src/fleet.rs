//! The product as a fleet: every role a process of its own, on one node, one database and one Redis.

use std::{io, path::PathBuf, process::ExitStatus, sync::Arc};

use tokio::process::Command;

use crate::{HttpClient, ServerProcess, StartError, process::Ready};

/// What all processes of a fleet have in common.
#[derive(Debug, Clone)]
pub struct FleetPlace {
    /// The product's binary.
    pub binary: PathBuf,
    /// The data directory, where secrets are that nobody configured.
    pub data: PathBuf,
    /// The node's URL.
    pub node: String,
    /// The database's URL.
    pub database: String,
    /// The URL of Redis, if there is one.
    pub redis: Option<String>,
    /// More settings, as variables of the environment.
    pub settings: Vec<(&'static str, String)>,
}

/// A role that is a process of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FleetRole {
    /// REST, GraphQL, the portal.
    Api,
    /// JSON-RPC.
    Gateway,
    /// Pages.
    Explorer,
    /// Claims.
    Faucet,
    /// Index, crediting, webhooks, mail.
    Worker,
}

impl FleetRole {
    const fn name(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Gateway => "gateway",
            Self::Explorer => "explorer",
            Self::Faucet => "faucet",
            Self::Worker => "worker",
        }
    }

    /// The variable that chooses its port, if it has one.
    const fn port(self) -> Option<&'static str> {
        match self {
            Self::Api => Some("API_PORT"),
            Self::Gateway => Some("GATEWAY_PORT"),
            Self::Explorer => Some("EXPLORER_PORT"),
            Self::Faucet => Some("FAUCET_PORT"),
            Self::Worker => None,
        }
    }

    /// What it prints in front of its address; a worker has none, and prints the node's.
    const fn marker(self) -> &'static str {
        match self {
            Self::Api => "REST",
            Self::Gateway => "Gateway",
            Self::Explorer => "Explorer",
            Self::Faucet => "Faucet",
            Self::Worker => "Node",
        }
    }
}

/// One process; killed when dropped.
#[derive(Debug)]
pub struct Member {
    role: FleetRole,
    place: Arc<FleetPlace>,
    server: ServerProcess,
}

impl Member {
    /// Starts a process on a free port.
    pub async fn start(place: &Arc<FleetPlace>, role: FleetRole) -> Result<Self, StartError> {
        let server = launch(place, role).await?;
        Ok(Self { role, place: place.clone(), server })
    }

    /// A client of it as it runs now.
    pub fn client(&self) -> HttpClient {
        HttpClient::new(self.server.address())
    }

    /// The process itself.
    pub fn server(&self) -> &ServerProcess {
        &self.server
    }

    /// Ends it at once (`kill -9`).
    pub async fn kill9(&mut self) -> io::Result<ExitStatus> {
        self.server.kill9().await
    }

    /// Asks it to end and waits until it did.
    pub async fn stop(&mut self) -> io::Result<ExitStatus> {
        self.server.stop().await
    }

    /// Another one in its place, on another port; the one before ends if it has not yet.
    pub async fn restart(&mut self) -> Result<(), StartError> {
        self.server = launch(&self.place, self.role).await?;
        Ok(())
    }
}

async fn launch(place: &FleetPlace, role: FleetRole) -> Result<ServerProcess, StartError> {
    let mut command = Command::new(&place.binary);
    command
        .arg(role.name())
        .env("CHAINNET_DATA", &place.data)
        .env("PLATFORM_RPC_URL", &place.node)
        .env("DATABASE_URL", &place.database)
        .env("METRICS_PORT", "0")
        .envs(place.settings.iter().map(|(name, value)| (name, value)));
    if let Some(redis) = &place.redis {
        command.env("REDIS_URL", redis);
    }
    if let Some(port) = role.port() {
        command.env(port, "0");
    }
    ServerProcess::start(command, Ready::Announced(role.marker())).await
}
