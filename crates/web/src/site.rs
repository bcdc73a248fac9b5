//! What pages are made from. Built once by the binary; everything in it is shared.

use std::sync::Arc;

use alloy_primitives::Address;
use api::{ApiState, Edge};
use chain::Head;
use domain::deployment::Deployment;

use crate::{door::Visitors, live::Live, parts::AddressLink};

/// What pages are made from.
pub struct Site {
    /// The chain, the index, the validators and the portal.
    pub api: Arc<ApiState>,
    /// The API, which answers under the pages' origin too.
    pub edge: Edge,
    /// The faucet as its own port serves it; none where it cannot be claimed from these pages.
    pub faucet: Option<Edge>,
    /// Who may look at the pages.
    pub visitors: Visitors,
    /// What changes with every block.
    pub live: Arc<Live>,
}

impl Site {
    /// The network that is shown.
    pub(crate) fn deployment(&self) -> &Deployment {
        &self.api.deployment
    }

    /// The symbol of the coin.
    pub(crate) fn symbol(&self) -> &str {
        &self.deployment().wallet.native_currency.symbol
    }

    /// The newest head that was ever seen, whether or not a node answers now.
    pub(crate) fn last_head(&self) -> Option<Arc<Head>> {
        self.api.chain.heads().borrow().clone()
    }

    /// Whether a node answers.
    pub(crate) fn is_chain_reachable(&self) -> bool {
        self.api.chain.is_reachable()
    }

    /// Unix seconds.
    pub(crate) fn now(&self) -> u64 {
        u64::try_from(self.api.clock.now().as_second()).unwrap_or(0)
    }

    /// A link to an address under the name that the network knows it by: a validator's, or a contract's.
    pub(crate) fn address_link(&self, address: Address) -> AddressLink {
        let board = self.api.boards.borrow();
        let validator =
            board.as_ref().and_then(|board| board.find(address)).map(|record| record.moniker.clone());
        let name = validator.filter(|name| !name.is_empty()).or_else(|| self.api.label(address));
        AddressLink::new(address, name)
    }

    /// A link to the validator whose node has this address.
    pub(crate) fn proposer_link(&self, node: Address) -> AddressLink {
        let board = self.api.boards.borrow();
        let name =
            board.as_ref().and_then(|board| board.find_node(node)).map(|record| record.moniker.clone());
        AddressLink::new(node, name.filter(|name| !name.is_empty())).of_validator()
    }
}
