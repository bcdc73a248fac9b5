//! What an operator decides about a network of Besu nodes, and what follows from it: names, addresses, ports.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use anyhow::{Context, bail};
use domain::{Network, Wei};
use serde::{Deserialize, Serialize};

use crate::cli::ForkChoice;

/// P2P port of the first node; the others follow one by one.
const P2P_PORT: u16 = 30303;
/// Metrics port of the first node; the others follow one by one.
const METRICS_PORT: u16 = 9545;
/// JSON-RPC ports are so far apart, which leaves the one behind each for WebSocket.
const RPC_STEP: u16 = 2;

/// What an operator decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) network: Network,
    /// Newest fork of the chain.
    pub(crate) fork: ForkChoice,
    /// Coin at genesis beside stakes and working capital: the faucet's, on mainnet the treasury's.
    pub(crate) supply: Wei,
    /// Least price of gas that the nodes take, in wei.
    pub(crate) min_gas_price: u64,
    /// The validators' nodes; the first is the bootnode.
    pub(crate) nodes: Vec<NodePlan>,
}

/// One node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NodePlan {
    /// `v1`, `v2`, …
    pub(crate) name: String,
    /// Where the others and the service reach it.
    pub(crate) host: IpAddr,
    pub(crate) rpc_port: u16,
    pub(crate) ws_port: u16,
    pub(crate) p2p_port: u16,
    pub(crate) metrics_port: u16,
}

impl Plan {
    /// Plans `validators` nodes at `hosts`: none for this machine, one for all nodes, or one for each.
    pub(crate) fn new(
        network: Network,
        fork: ForkChoice,
        supply: Wei,
        min_gas_price: u64,
        validators: u16,
        hosts: &[IpAddr],
    ) -> anyhow::Result<Self> {
        if hosts.len() > 1 && hosts.len() != usize::from(validators) {
            bail!(
                "{} hosts for {validators} validators: name one for all of them, or one for each",
                hosts.len()
            );
        }
        if let Some(problem) = hosts.iter().find_map(|host| unusable(*host)) {
            bail!(problem);
        }
        let this_machine = IpAddr::from(Ipv4Addr::LOCALHOST);
        let host_of = |index: u16| match hosts {
            [] => this_machine,
            [all] => *all,
            each => each.get(usize::from(index)).copied().unwrap_or(this_machine),
        };
        let nodes = (0..validators).zip(1_u16..).map(|(index, number)| {
            let rpc_port = network.node_rpc_port() + index * RPC_STEP;
            NodePlan {
                name: format!("v{number}"),
                host: host_of(index),
                rpc_port,
                ws_port: rpc_port + 1,
                p2p_port: P2P_PORT + index,
                metrics_port: METRICS_PORT + index,
            }
        });
        Ok(Self { network, fork, supply, min_gas_price, nodes: nodes.collect() })
    }

    /// The same network with every port so much higher.
    pub(crate) fn with_port_offset(mut self, offset: u16) -> anyhow::Result<Self> {
        for node in &mut self.nodes {
            for port in [&mut node.rpc_port, &mut node.ws_port, &mut node.p2p_port, &mut node.metrics_port] {
                *port = port.checked_add(offset).context("there are no ports that high")?;
            }
        }
        Ok(self)
    }

    /// How much higher the ports are than the network's own.
    pub(crate) fn port_offset(&self) -> u16 {
        self.nodes.first().map_or(0, |node| node.rpc_port.saturating_sub(self.network.node_rpc_port()))
    }
}

/// Why no node can be at an address. Besu asks the machine whether it has its P2P address, and Linux tells Java of the
/// first loopback address alone.
pub(crate) fn unusable(host: IpAddr) -> Option<String> {
    let is_first_loopback = host == Ipv4Addr::LOCALHOST || host == Ipv6Addr::LOCALHOST;
    if host.is_loopback() && !is_first_loopback {
        return Some(format!(
            "Besu does not start at {host}: of the loopback addresses it takes 127.0.0.1 and ::1 alone; a second network \
             on one machine takes --port-offset"
        ));
    }
    let is_nowhere = host.is_unspecified() || host.is_multicast();
    is_nowhere.then(|| format!("{host} is no address that others could reach a node at"))
}

impl NodePlan {
    /// The node's folder, and Besu's data path, inside the network's folder.
    pub(crate) fn folder(&self) -> String {
        format!("nodes/{}", self.name)
    }

    /// Its ports with the keys of Besu's configuration that name them.
    pub(crate) fn ports(&self) -> [(&'static str, u16); 4] {
        [
            ("rpc-http-port", self.rpc_port),
            ("rpc-ws-port", self.ws_port),
            ("p2p-port", self.p2p_port),
            ("metrics-port", self.metrics_port),
        ]
    }

    /// The node as `PLATFORM_RPC_URL` names it: Besu's WebSocket has a port of its own.
    pub(crate) fn url(&self) -> String {
        let (http, ws) = (self.address(self.rpc_port), self.address(self.ws_port));
        format!("http://{http}|ws://{ws}")
    }

    /// Its host as requests name it: IPv6 in brackets, which is how Besu compares it.
    pub(crate) fn host_name(&self) -> String {
        match self.host {
            IpAddr::V4(host) => host.to_string(),
            IpAddr::V6(host) => format!("[{host}]"),
        }
    }

    /// One of its ports, with the host; IPv6 in brackets.
    pub(crate) fn address(&self, port: u16) -> SocketAddr {
        SocketAddr::new(self.host, port)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn plan(network: Network, validators: u16) -> Plan {
        Plan::new(network, ForkChoice::default(), Wei::from_coin(1), 0, validators, &[]).unwrap()
    }

    #[test]
    fn ports_are_those_of_the_specification() {
        let ports = |network| {
            let nodes = plan(network, 5).nodes;
            nodes.iter().map(|node| (node.rpc_port, node.p2p_port)).collect::<Vec<_>>()
        };
        let expected = [(8545, 30303), (8547, 30304), (8549, 30305), (8551, 30306), (8553, 30307)];
        assert_eq!(ports(Network::Devnet), expected);
        assert_eq!(ports(Network::Mainnet), expected);
        assert_eq!(ports(Network::Testnet), expected.map(|(rpc, p2p)| (rpc + 20, p2p)));
    }

    #[test]
    fn no_two_ports_of_a_network_are_the_same() {
        for network in Network::ALL {
            let nodes = plan(network, 21).nodes;
            let ports: Vec<_> = nodes.iter().flat_map(NodePlan::ports).map(|(_, port)| port).collect();
            assert_eq!(ports.iter().collect::<BTreeSet<_>>().len(), 84);
            assert!(!ports.contains(&network.gateway_port()));
        }
    }

    #[test]
    fn two_networks_have_room_on_one_machine() {
        let ports = |plan: &Plan| -> BTreeSet<u16> {
            plan.nodes.iter().flat_map(NodePlan::ports).map(|(_, port)| port).collect()
        };
        let first = plan(Network::Testnet, 21);
        let second = plan(Network::Testnet, 21).with_port_offset(100).unwrap();
        assert!(ports(&first).is_disjoint(&ports(&second)));
        assert_eq!((first.port_offset(), second.port_offset()), (0, 100));
        assert!(plan(Network::Testnet, 21).with_port_offset(60_000).is_err());
    }

    #[test]
    fn hosts_are_for_all_nodes_or_for_each() {
        let new = |hosts: &[&str]| {
            let hosts: Vec<_> = hosts.iter().map(|host| host.parse().unwrap()).collect();
            Plan::new(Network::Testnet, ForkChoice::default(), Wei::from_coin(1), 0, 2, &hosts)
        };
        let urls = |plan: Plan| plan.nodes.iter().map(NodePlan::url).collect::<Vec<_>>();
        assert_eq!(
            urls(new(&["10.0.0.1", "fd00::2"]).unwrap()),
            ["http://10.0.0.1:8565|ws://10.0.0.1:8566", "http://[fd00::2]:8567|ws://[fd00::2]:8568"]
        );
        assert!(urls(new(&["10.0.0.9"]).unwrap()).iter().all(|url| url.starts_with("http://10.0.0.9:")));
        let error = new(&["10.0.0.1", "10.0.0.2", "10.0.0.3"]).unwrap_err().to_string();
        assert!(error.contains("3 hosts for 2 validators"), "{error}");
    }
}
