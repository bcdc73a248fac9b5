//! `nodes/NAME/config.toml`: a node's settings, in the keys that Besu 24.x takes.
//!
//! Paths are relative to the network's folder, where Besu is started, so that the folder can be moved and mounted.

use std::net::IpAddr;

use super::plan::{NodePlan, Plan};

/// Most gas of an `eth_call` or `eth_estimateGas`; Besu's own default is no limit at all.
const RPC_GAS_CAP: u64 = 50_000_000;

/// The file's text. `bootnode` is the enode of the first node.
pub(super) fn text(plan: &Plan, node: &NodePlan, bootnode: &str) -> String {
    let NodePlan { name, host, rpc_port, ws_port, p2p_port, metrics_port } = node;
    let (network, folder) = (plan.network.title(), node.folder());
    let is_bootnode = plan.nodes.first() == Some(node);
    let bootnodes = if is_bootnode { String::new() } else { format!("bootnodes=[\"{bootnode}\"]\n") };
    // Behind a translated address the interface is not the host.
    let interface = match host {
        host if host.is_loopback() => host.to_string(),
        IpAddr::V4(_) => "0.0.0.0".to_owned(),
        IpAddr::V6(_) => "::".to_owned(),
    };
    let price = price(plan.min_gas_price);
    let own = node.host_name();
    let allowed = if own == "127.0.0.1" { String::new() } else { format!(", \"{own}\"") };
    format!(
        r#"# {network}, node {name}. Besu is started in the network's folder: besu --config-file={folder}/config.toml

data-path="{folder}"
genesis-file="genesis.json"
# An archive: every state stays readable.
data-storage-format="FOREST"
sync-mode="FULL"
{price}revert-reason-enabled=true
logging="INFO"

# Peers: {folder}/static-nodes.json lists the other validators.
p2p-host="{host}"
p2p-interface="{interface}"
p2p-port={p2p_port}
nat-method="NONE"
{bootnodes}max-peers=50
remote-connections-limit-enabled=false

# Room for accounts that send many transactions at once, such as the faucet.
tx-pool="SEQUENCED"
tx-pool-limit-by-account-percentage=0.15

# JSON-RPC is for the service, never for the world: IBFT lets its caller vote validators in and out.
host-allowlist=["localhost", "127.0.0.1"{allowed}]
rpc-http-enabled=true
rpc-http-host="{host}"
rpc-http-port={rpc_port}
rpc-http-api=["ETH", "NET", "WEB3", "IBFT", "TXPOOL"]
rpc-gas-cap={RPC_GAS_CAP}
rpc-ws-enabled=true
rpc-ws-host="{host}"
rpc-ws-port={ws_port}
rpc-ws-api=["ETH", "NET", "WEB3"]

# For Prometheus.
metrics-enabled=true
metrics-host="{host}"
metrics-port={metrics_port}
"#
    )
}

/// What gas costs. Besu lets transactions that come through its own JSON-RPC be cheaper, unless told otherwise.
fn price(min_gas_price: u64) -> String {
    match min_gas_price {
        0 => "# Gas is free. A node that lacks this drops such transactions silently.\nmin-gas-price=0\n".to_owned(),
        price => format!(
            "# Least price of gas, in wei, also for transactions that the service passes on; MIN_GAS_PRICE is the service's part of it.
min-gas-price={price}
min-priority-fee={price}
tx-pool-no-local-priority=true
"
        ),
    }
}

/// Keys whose value must be the one that [`text`] writes; the others are the operator's to tune.
pub(super) const FIXED: [&str; 15] = [
    "data-path",
    "genesis-file",
    "data-storage-format",
    "sync-mode",
    "min-gas-price",
    "min-priority-fee",
    "tx-pool-no-local-priority",
    "p2p-host",
    "p2p-port",
    "bootnodes",
    "rpc-http-enabled",
    "rpc-http-port",
    "rpc-ws-enabled",
    "rpc-ws-port",
    "metrics-port",
];

#[cfg(test)]
mod tests {
    use domain::{Network, Wei};

    use super::*;
    use crate::cli::ForkChoice;

    #[test]
    fn only_the_first_node_has_no_bootnode_and_every_fixed_key_is_written() {
        let hosts = ["10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap()];
        let plan = |price| {
            Plan::new(Network::Testnet, ForkChoice::default(), Wei::from_coin(1), price, 2, &hosts).unwrap()
        };
        let (free, plan) = (plan(0), plan(1_000_000_000));
        let table = |node: &NodePlan| text(&plan, node, "enode://aa@10.0.0.1:30303").parse::<toml::Table>();
        let (first, second) = (table(&plan.nodes[0]).unwrap(), table(&plan.nodes[1]).unwrap());
        assert!(!first.contains_key("bootnodes"));
        for key in FIXED {
            assert!(second.contains_key(key), "{key}");
        }
        assert_eq!(second["min-gas-price"].as_integer(), Some(1_000_000_000));
        assert_eq!(second["min-priority-fee"].as_integer(), Some(1_000_000_000));
        assert_eq!(second["tx-pool-no-local-priority"].as_bool(), Some(true));
        let free = text(&free, &free.nodes[0], "").parse::<toml::Table>().unwrap();
        assert_eq!(free["min-gas-price"].as_integer(), Some(0));
        assert!(!free.contains_key("min-priority-fee") && !free.contains_key("tx-pool-no-local-priority"));
        assert_eq!(second["rpc-http-port"].as_integer(), Some(8567));
        assert_eq!(second["p2p-interface"].as_str(), Some("0.0.0.0"));
        assert_eq!(second["host-allowlist"].as_array().unwrap().len(), 3);
    }

    #[test]
    fn an_ipv6_host_is_allowed_in_the_brackets_that_requests_put_around_it() {
        for (host, interface) in [("fd00::1", "::"), ("::1", "::1")] {
            let hosts = [host.parse().unwrap()];
            let plan =
                Plan::new(Network::Testnet, ForkChoice::default(), Wei::from_coin(1), 0, 1, &hosts).unwrap();
            let table: toml::Table = text(&plan, &plan.nodes[0], "").parse().unwrap();
            let allowed = table["host-allowlist"].as_array().unwrap();
            assert_eq!(allowed[2].as_str(), Some(format!("[{host}]").as_str()));
            assert_eq!(table["p2p-interface"].as_str(), Some(interface));
        }
    }
}
