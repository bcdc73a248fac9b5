//! The three networks and what the specification fixes for each of them.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A network the product can serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// The private testnet: invite-only, the default.
    Devnet,
    /// The public testnet.
    Testnet,
    /// The main network; never runs on the embedded chain.
    Mainnet,
}

/// The name given is none of the networks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown network `{0}` (known: devnet, testnet, mainnet)")]
pub struct UnknownNetwork(String);

impl Network {
    /// All networks, in the order of the specification's table.
    pub const ALL: [Self; 3] = [Self::Devnet, Self::Testnet, Self::Mainnet];

    /// The name used in configuration and paths.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Devnet => "devnet",
            Self::Testnet => "testnet",
            Self::Mainnet => "mainnet",
        }
    }

    /// The name people read.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Devnet => "Private testnet",
            Self::Testnet => "Public testnet",
            Self::Mainnet => "Mainnet",
        }
    }

    /// The EIP-155 chain id.
    pub const fn chain_id(self) -> u64 {
        match self {
            Self::Devnet => 8845,
            Self::Testnet => 8847,
            Self::Mainnet => 8846,
        }
    }

    /// The chain id as wallets write it.
    pub fn chain_id_hex(self) -> String {
        format!("{:#x}", self.chain_id())
    }

    /// JSON-RPC port of the first validator node.
    pub const fn node_rpc_port(self) -> u16 {
        match self {
            Self::Devnet | Self::Mainnet => 8545,
            Self::Testnet => 8565,
        }
    }

    /// Port of the JSON-RPC gateway.
    pub const fn gateway_port(self) -> u16 {
        match self {
            Self::Devnet | Self::Mainnet => 8540,
            Self::Testnet => 8555,
        }
    }

    /// Whether the chain inside the binary may serve this network.
    pub const fn allows_embedded_chain(self) -> bool {
        match self {
            Self::Devnet | Self::Testnet => true,
            Self::Mainnet => false,
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Network {
    type Err = UnknownNetwork;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|network| network.name() == text)
            .ok_or_else(|| UnknownNetwork(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chain_ids_are_those_of_the_specification() {
        assert_eq!(Network::ALL.map(Network::chain_id), [8845, 8847, 8846]);
    }

    #[test]
    fn names_parse_back_and_others_are_named_in_the_error() {
        for network in Network::ALL {
            assert_eq!(network.name().parse(), Ok(network));
        }
        let error = "Devnet".parse::<Network>().unwrap_err();
        assert_eq!(error.to_string(), "unknown network `Devnet` (known: devnet, testnet, mainnet)");
    }
}
