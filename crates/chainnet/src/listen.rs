//! Opening ports. One that is taken is named with the setting that changes it.

use std::{io::ErrorKind, net::SocketAddr};

use anyhow::{Context, bail};
use tokio::net::TcpListener;

/// The settings that choose an address, for messages.
pub(crate) struct AddressSettings {
    pub(crate) host: (&'static str, &'static str),
    pub(crate) port: (&'static str, &'static str),
}

/// The embedded node's JSON-RPC.
pub(crate) const NODE_RPC: AddressSettings =
    AddressSettings { host: ("--rpc-host", "NODE_RPC_HOST"), port: ("--rpc-port", "NODE_RPC_PORT") };
/// REST and GraphQL.
pub(crate) const API: AddressSettings =
    AddressSettings { host: ("--api-host", "API_HOST"), port: ("--api-port", "API_PORT") };
/// The JSON-RPC gateway.
pub(crate) const GATEWAY: AddressSettings =
    AddressSettings { host: ("--gateway-host", "GATEWAY_HOST"), port: ("--gateway-port", "GATEWAY_PORT") };
/// The faucet.
pub(crate) const FAUCET: AddressSettings =
    AddressSettings { host: ("--faucet-host", "FAUCET_HOST"), port: ("--faucet-port", "FAUCET_PORT") };

/// The explorer.
pub(crate) const EXPLORER: AddressSettings = AddressSettings {
    host: ("--explorer-host", "EXPLORER_HOST"),
    port: ("--explorer-port", "EXPLORER_PORT"),
};

/// Metrics.
pub(crate) const METRICS: AddressSettings =
    AddressSettings { host: ("--metrics-host", "METRICS_HOST"), port: ("--metrics-port", "METRICS_PORT") };

/// Listens on an address.
pub(crate) async fn listen(address: SocketAddr, settings: &AddressSettings) -> anyhow::Result<TcpListener> {
    let (host, port) = (address.ip(), address.port());
    let (port_flag, port_variable) = settings.port;
    match ::listen::bind(address) {
        Ok(listener) => Ok(listener),
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            bail!(
                "port {port} on {host} is already in use; choose another with {port_flag} or {port_variable}"
            )
        }
        Err(error) => {
            let (host_flag, host_variable) = settings.host;
            Err(error).with_context(|| {
                format!(
                    "cannot listen on {host} port {port}; choose others with {host_flag} and {port_flag} ({host_variable}, {port_variable})"
                )
            })
        }
    }
}
