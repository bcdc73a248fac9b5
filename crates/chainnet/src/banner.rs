//! What a newcomer sees after the start: where things listen, which accounts there are, what to try.

use std::{fmt::Write, net::SocketAddr};

use access::Placeholder;
use domain::{Network, devnet};
use ibft::seal::ValidatorKey;

use crate::{config::Config, doors::Addresses, embedded::EmbeddedNode, keys::GENESIS_VALIDATORS};

/// What the start message tells.
pub(crate) struct Banner<'a> {
    pub(crate) config: &'a Config,
    pub(crate) chain_id: u64,
    /// The newest block, if the chain has answered.
    pub(crate) head: Option<u64>,
    pub(crate) node: Option<&'a EmbeddedNode>,
    pub(crate) addresses: Addresses,
    /// Keys that everybody knows.
    pub(crate) placeholders: &'a [&'static Placeholder],
}

impl<'a> Banner<'a> {
    /// The message of a process whose only part is the embedded chain.
    pub(crate) fn of_node(config: &'a Config, node: &'a EmbeddedNode, metrics: SocketAddr) -> Self {
        Self {
            config,
            chain_id: node.chain.spec().chain_id,
            head: Some(node.chain.head().block.number()),
            node: Some(node),
            addresses: Addresses { metrics: Some(metrics), ..Addresses::default() },
            placeholders: &[],
        }
    }

    /// Name, addresses and nothing else.
    pub(crate) fn short(&self) -> String {
        let mut text = String::new();
        // Writing into a String cannot fail.
        let _ = self.write_addresses(&mut text);
        text
    }

    /// Everything a newcomer needs.
    pub(crate) fn with_next_steps(&self) -> String {
        let mut text = self.short();
        if let Some(node) = self.node {
            let _ = write_validators(&mut text, node);
            let _ = write_contracts(&mut text);
            if self.config.network == Network::Devnet {
                let _ = write_accounts(&mut text, self.config.node.demo);
            }
        } else {
            text.push('\n');
        }
        let _ = self.write_keys(&mut text);
        let _ = self.write_steps(&mut text);
        text
    }

    fn write_addresses(&self, out: &mut String) -> std::fmt::Result {
        let Self { config, chain_id, .. } = self;
        let network = config.network;
        let version = env!("CARGO_PKG_VERSION");
        write!(
            out,
            "chainnet {version} · {network} ({}) · chain id {chain_id} ({chain_id:#x})",
            network.title()
        )?;
        match self.head {
            Some(head) => writeln!(out, " · block {head}\n")?,
            None => writeln!(out, " · no node answers yet\n")?,
        }
        let Addresses { api, gateway, faucet, explorer, metrics } = self.addresses;
        if let Some(explorer) = explorer {
            writeln!(out, "  Explorer   http://{explorer}   (pages; open it in a browser)")?;
        }
        if let Some(api) = api {
            writeln!(out, "  REST       http://{api}/api/v1   (documentation at /api/v1/docs)")?;
            writeln!(out, "  GraphQL    http://{api}/graphql")?;
        }
        if let Some(gateway) = gateway {
            let key = if network == Network::Devnet { ", with a key" } else { "" };
            writeln!(out, "  Gateway    http://{gateway}   (HTTP and WebSocket{key})")?;
        }
        if let Some(faucet) = faucet {
            writeln!(out, "  Faucet     http://{faucet}/claim")?;
        }
        if let Some(node) = self.node {
            writeln!(out, "  JSON-RPC   http://{}   (the node itself, for this machine)", node.rpc)?;
        }
        for url in self.config.nodes.iter().filter(|_| self.node.is_none()) {
            writeln!(out, "  Node       {}", url)?;
        }
        if let Some(metrics) = metrics {
            writeln!(
                out,
                "  Metrics    http://{metrics}/metrics   (for Prometheus; /health and /ready of the process)"
            )?;
        }
        if self.node.is_none() || api.is_some() || explorer.is_some() {
            writeln!(out, "  Database   {}", config.database.masked())?;
        }
        writeln!(out, "  Data       {}", config.data.display())
    }

    fn write_keys(&self, out: &mut String) -> std::fmt::Result {
        if self.placeholders.is_empty() {
            return Ok(());
        }
        writeln!(out, "Keys of the gateway. Everybody knows them: replace them before production")?;
        for Placeholder { team, key, permissions } in self.placeholders {
            writeln!(out, "  {team:<12}  {key}  ({permissions})")?;
        }
        writeln!(out)
    }

    fn write_steps(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "Try")?;
        if let Some(api) = self.addresses.api {
            writeln!(out, "  curl -s http://{api}/api/v1/chain")?;
            writeln!(out, "  curl -s http://{api}/api/v1/validators/ranking")?;
        }
        if let Some(gateway) = self.addresses.gateway {
            let key = self
                .placeholders
                .first()
                .map_or(String::new(), |known| format!(" -H 'x-api-key: {}'", known.key));
            writeln!(
                out,
                "  \
                 curl -s http://{gateway} -H 'content-type: application/json'{key} \\\n    \
                 -d '{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"eth_blockNumber\",\"params\":[]}}'",
            )?;
        }
        if self.node.is_some() {
            writeln!(
                out,
                "  \
                 chainnet node ctl stop V3        # watch the chain go on with four validators\n  \
                 chainnet genesis                 # the genesis file, for Besu",
            )?;
        }
        Ok(())
    }
}

fn write_validators(out: &mut String, node: &EmbeddedNode) -> std::fmt::Result {
    writeln!(out, "\nValidators")?;
    for (index, key) in node.keys.validators.iter().enumerate() {
        let standby = if index < GENESIS_VALIDATORS { "" } else { "   standby: seals once voted in" };
        writeln!(out, "  V{}  {}{standby}", index + 1, key.address())?;
    }
    writeln!(out)
}

fn write_contracts(out: &mut String) -> std::fmt::Result {
    writeln!(out, "Contracts")?;
    for (name, address) in contracts::address::PREDEPLOYED {
        writeln!(out, "  {name:<28} {address}")?;
    }
    writeln!(out)
}

fn write_accounts(out: &mut String, has_demo: bool) -> std::fmt::Result {
    writeln!(out, "Accounts, 1000000 PNC each. The keys are public: never use them for anything of value")?;
    for (index, account) in devnet::ACCOUNTS.iter().enumerate() {
        writeln!(out, "  {index}  {}  {}", account.address, account.key)?;
    }
    if has_demo {
        writeln!(
            out,
            "  7 to 9 show a fresh chain in use: a shop, a customer, a visitor of the faucet (--demo false for none)"
        )?;
    }
    writeln!(out)
}
