//! What may be asked: one table, from which lookup, costs, caching, metric labels and documentation come.
//!
//! A method that is not in the table does not exist for a caller. Names are compared letter by letter.

mod table;

use std::{collections::HashMap, fmt::Write as _, sync::LazyLock};

use ahash::RandomState;
use chain::Lane;

pub(crate) use table::METHODS;

/// A row of the table.
#[derive(Debug)]
pub(crate) struct Method {
    pub(crate) name: &'static str,
    pub(crate) class: Class,
    /// Which of the nodes' connections it may use.
    pub(crate) lane: Lane,
    /// What it takes from a caller's unit budget.
    pub(crate) units: u32,
}

/// How a method is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// From memory, without a node.
    Local(Local),
    /// A read of the state at the block that a parameter names. At the served head it is kept until the next head, at an
    /// older block for ever.
    State {
        /// Position of the block parameter.
        block: usize,
    },
    /// A read of a block that a parameter names, kept for ever: blocks are final.
    Block {
        /// Position of the block parameter.
        block: usize,
    },
    /// Something found by its hash: kept for ever once it is in a block, and not found until the next head.
    Hash(Found),
    /// A read that depends on the head alone, kept until the next head.
    Head,
    /// A pure function of its parameters.
    Pure,
    /// Logs of a range of blocks.
    Logs,
    /// A signed transaction.
    Send,
    /// Filters, which live in the gateway.
    Filter(FilterCall),
    /// Subscriptions, which need a WebSocket.
    Session(SessionCall),
}

/// Where the block number of something found by its hash stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// In `number`.
    Block,
    /// In `blockNumber`; until it is mined it may change at any moment.
    Transaction,
    /// In `blockNumber`; it appears with a block.
    Receipt,
    /// Nowhere: it is there or it is null.
    Part,
}

/// What is answered from memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Local {
    /// `eth_accounts`
    Accounts,
    /// `eth_blockNumber`
    BlockNumber,
    /// `eth_chainId`
    ChainId,
    /// `net_listening`
    Listening,
    /// `net_version`
    NetVersion,
    /// `eth_syncing`
    Syncing,
    /// `web3_clientVersion`
    Version,
}

/// A call about filters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FilterCall {
    /// `eth_newFilter`
    NewLogs,
    /// `eth_newBlockFilter`
    NewBlocks,
    /// `eth_newPendingTransactionFilter`
    NewPending,
    /// `eth_getFilterChanges`
    Changes,
    /// `eth_getFilterLogs`
    Logs,
    /// `eth_uninstallFilter`
    Uninstall,
}

/// A call about subscriptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionCall {
    /// `eth_subscribe`
    Subscribe,
    /// `eth_unsubscribe`
    Unsubscribe,
}

/// A method that was looked up, with its place in the table, by which metrics and cache keys know it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    pub(crate) index: u8,
    pub(crate) method: &'static Method,
}

static BY_NAME: LazyLock<HashMap<&'static str, Known, RandomState>> = LazyLock::new(|| {
    let indexed = (0u8..).zip(METHODS);
    indexed.map(|(index, method)| (method.name, Known { index, method })).collect()
});

/// Looks a method up.
pub(crate) fn find(name: &str) -> Option<Known> {
    BY_NAME.get(name).copied()
}

/// A method as the documentation lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MethodEntry {
    /// The name to call.
    pub name: &'static str,
    /// How it is answered.
    pub answered: &'static str,
    /// How long an answer is kept.
    pub kept: &'static str,
    /// Position of the block parameter, from one.
    pub block: Option<usize>,
    /// What it takes from the unit budget.
    pub units: u32,
    /// Which of the nodes' connections it may use.
    pub lane: &'static str,
}

/// All methods, in the order of the table.
pub fn method_entries() -> impl Iterator<Item = MethodEntry> {
    METHODS.iter().map(|method| MethodEntry {
        name: method.name,
        answered: method.class.answered(),
        kept: method.class.kept(),
        block: method.class.block().map(|position| position + 1),
        units: method.units,
        lane: match (method.class.needs_node(), method.lane) {
            (false, _) => "–",
            (true, Lane::Small) => "small",
            (true, Lane::Cheap) => "cheap",
            (true, Lane::Heavy) => "heavy",
            (true, Lane::Write) => "write",
        },
    })
}

/// The table as the documentation shows it.
pub fn method_table() -> String {
    let mut text = String::from(
        "| method | answered by | kept | block parameter | units | lane |\n|---|---|---|---|---:|---|\n",
    );
    for entry in method_entries() {
        let block = entry.block.map_or("–".to_owned(), |position| position.to_string());
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {block} | {} | {} |",
            entry.name, entry.answered, entry.kept, entry.units, entry.lane
        );
    }
    text
}

impl Class {
    fn answered(self) -> &'static str {
        match self {
            Self::Local(_) => "memory",
            Self::State { .. } | Self::Block { .. } | Self::Hash(_) | Self::Head | Self::Pure => {
                "cache, then a node"
            }
            Self::Logs => "new blocks in memory, cache, then a node",
            Self::Send => "two nodes",
            Self::Filter(_) => "the gateway's filters",
            Self::Session(_) => "the gateway, over WebSocket",
        }
    }

    fn kept(self) -> &'static str {
        match self {
            Self::Local(_) | Self::Send | Self::Filter(_) | Self::Session(_) => "–",
            Self::State { .. } => "for ever; at the head until the next head",
            Self::Block { .. } | Self::Pure => "for ever",
            Self::Hash(Found::Transaction) => "for ever once mined",
            Self::Hash(Found::Block | Found::Receipt | Found::Part) => "for ever; null until the next head",
            Self::Head => "until the next head",
            Self::Logs => "for ever; up to the head until the next head",
        }
    }

    fn block(self) -> Option<usize> {
        match self {
            Self::State { block } | Self::Block { block } => Some(block),
            Self::Local(_)
            | Self::Hash(_)
            | Self::Head
            | Self::Pure
            | Self::Logs
            | Self::Send
            | Self::Filter(_)
            | Self::Session(_) => None,
        }
    }

    fn needs_node(self) -> bool {
        match self {
            Self::Local(_) | Self::Filter(_) | Self::Session(_) => false,
            Self::State { .. }
            | Self::Block { .. }
            | Self::Hash(_)
            | Self::Head
            | Self::Pure
            | Self::Logs
            | Self::Send => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_listed_once_and_found_by_its_name_alone() {
        assert_eq!(BY_NAME.len(), METHODS.len());
        assert!(METHODS.len() <= usize::from(u8::MAX));
        for method in METHODS {
            assert_eq!(find(method.name).expect("listed").method.name, method.name);
            assert!(find(&method.name.to_uppercase()).is_none());
            assert!(find(&format!("{} ", method.name)).is_none());
        }
    }

    #[test]
    fn nothing_dangerous_is_listed() {
        let forbidden = ["admin_", "debug_", "miner_", "txpool_", "perm_", "plugins_", "engine_", "testing_"];
        let more = ["trace_", "rpc_", "evm_", "chainnet_", "personal_", "qbft_", "clique_", "priv_", "eea_"];
        for method in METHODS {
            let is_forbidden = forbidden.iter().chain(&more).any(|prefix| method.name.starts_with(prefix));
            assert!(!is_forbidden, "{}", method.name);
        }
        for name in [
            "ibft_proposeValidatorVote",
            "ibft_discardValidatorVote",
            "ibft_getPendingVotes",
            "eth_sendTransaction",
            "eth_sign",
            "eth_coinbase",
            "net_enode",
            "net_services",
        ] {
            assert!(find(name).is_none(), "{name}");
        }
    }

    #[test]
    fn the_documentation_shows_this_table() {
        let page = include_str!("../../../../docs/gateway.md");
        assert!(page.contains(&method_table()), "docs/gateway.md should contain:\n{}", method_table());
    }
}
