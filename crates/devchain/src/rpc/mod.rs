//! JSON-RPC over HTTP and WebSocket, as Besu answers it.
//!
//! `server` is the transport, `jsonrpc` the protocol, `methods` the table of methods, `wire` what records look
//! like outside, `subscriptions` and `filters` what is pushed and polled. Besu's behaviour is followed to its
//! error codes; where a development chain is more lenient, the method says so.

mod config;
mod error;
mod failure;
mod filters;
mod in_process;
mod jsonrpc;
mod methods;
mod server;
mod service;
mod subscriptions;
mod wire;

#[cfg(test)]
mod tests;

use std::{io, sync::Arc};

use listen::Budget;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use config::{ApiGroups, Cors, Group, Hosts, Limits, RpcConfig, UnknownGroup};
pub use error::{Param, RpcError};
pub use in_process::InProcess;
pub use methods::{MethodEntry, method_entries};

use self::{server::Shared, service::Service};
use crate::{chain::Chain, produce::Control};

/// The node that the methods ask.
pub struct Node {
    /// Blocks, state and pool.
    pub chain: Arc<Chain>,
    /// The validators.
    pub control: Control,
}

/// Answers JSON-RPC on a listener until told to stop, then lets open requests finish. Fails if the threads that serve cannot be started.
pub async fn serve(
    listener: TcpListener,
    node: Arc<Node>,
    config: RpcConfig,
    stop: CancellationToken,
) -> io::Result<()> {
    let buffer = config.limits.max_buffer_bytes;
    let shared = Shared {
        clients: Budget::per_party(config.limits.max_connections_per_address),
        buffers: Budget::new(buffer / 2, buffer),
        cors: config.cors.clone(),
        hosts: config.hosts.clone(),
        peers: config.peers.clone(),
        limits: config.limits.clone(),
        methods: Arc::new(Service::new(node, config)),
    };
    let feeding = shared.methods.follow_chain();
    tokio::select! {
        served = server::run(listener, shared, stop) => served,
        () = feeding => Ok(()),
    }
}
