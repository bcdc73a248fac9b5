//! What a newcomer sees after the start: where things listen, which accounts there are, what to try.

use std::{fmt::Write, net::SocketAddr};

use domain::{Network, devnet};
use ibft::seal::ValidatorKey;

use crate::{cli::Place, keys::NetworkKeys};

/// What the start message tells.
pub(crate) struct Banner<'a> {
    pub(crate) place: &'a Place,
    pub(crate) keys: &'a NetworkKeys,
    pub(crate) chain_id: u64,
    pub(crate) head: u64,
    pub(crate) rpc: SocketAddr,
}

impl Banner<'_> {
    /// Name, addresses and nothing else.
    pub(crate) fn node_alone(&self) -> String {
        let network = self.place.network;
        format!(
            "chainnet {} · {network} ({}) · chain id {} ({:#x}) · block {}\n\n\
             \x20 JSON-RPC   http://{rpc}   (HTTP and WebSocket)\n\
             \x20 Data       {}\n",
            env!("CARGO_PKG_VERSION"),
            network.title(),
            self.chain_id,
            self.chain_id,
            self.head,
            self.place.data_dir().display(),
            rpc = self.rpc,
        )
    }

    /// Everything a newcomer needs.
    pub(crate) fn with_next_steps(&self) -> String {
        let mut text = self.node_alone();
        // Writing into a String cannot fail.
        let _ = self.write_validators(&mut text);
        let _ = self.write_contracts(&mut text);
        if self.place.network == Network::Devnet {
            let _ = self.write_accounts(&mut text);
        }
        let _ = self.write_steps(&mut text);
        text
    }

    fn write_validators(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "\nValidators")?;
        for (index, key) in self.keys.validators.iter().enumerate() {
            let standby =
                if index < crate::keys::GENESIS_VALIDATORS { "" } else { "   standby: seals once voted in" };
            writeln!(out, "  V{}  {}{standby}", index + 1, key.address())?;
        }
        writeln!(out)
    }

    fn write_contracts(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "Contracts")?;
        for (name, address) in contracts::address::PREDEPLOYED {
            writeln!(out, "  {name:<28} {address}")?;
        }
        writeln!(out)
    }

    fn write_accounts(&self, out: &mut String) -> std::fmt::Result {
        writeln!(
            out,
            "Accounts, 1000000 PNC each. The keys are public: never use them for anything of value"
        )?;
        for (index, account) in devnet::ACCOUNTS.iter().enumerate() {
            writeln!(out, "  {index}  {}  {}", account.address, account.key)?;
        }
        writeln!(out)
    }

    fn write_steps(&self, out: &mut String) -> std::fmt::Result {
        let port = self.rpc.port();
        writeln!(
            out,
            "Try\n  \
             curl -s http://127.0.0.1:{port} -H 'content-type: application/json' \\\n    \
             -d '{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"eth_blockNumber\",\"params\":[]}}'\n  \
             chainnet node ctl stop V3        # watch the chain go on with four validators\n  \
             chainnet genesis                 # the genesis file, for Besu"
        )
    }
}
