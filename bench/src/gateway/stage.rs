//! A node with something to read: a contract and a large block.

use alloy_primitives::{Address, hex};
use anyhow::{Context, Result};

use crate::{
    peer::{Peer, Running},
    reads::VALUE,
    transfers::{self, Plan, Sizes},
};

/// Transfers of the block that is read.
const TRANSFERS: usize = 1_000;

/// The node and what can be asked of it.
pub(super) struct Stage {
    pub(super) node: Running,
    pub(super) contract: Address,
    /// A block of [`TRANSFERS`] transfers.
    pub(super) full_block: u64,
}

impl Stage {
    /// Starts a node and gives it a history.
    pub(super) async fn prepare(peer: &Peer) -> Result<Self> {
        let sizes = Sizes { senders: TRANSFERS, main: 0, large_block: 0, read_block: TRANSFERS, long: 0 };
        let plan = Plan::sign(sizes)?;
        let node = peer.start().await?;
        plan.set_up(&node, peer.name()).await?;
        let what = format!("{}: a block to read", peer.name());
        let mined = transfers::send_until_mined(&node, &plan.read_block, what).await?;
        let largest = mined.blocks.iter().max_by_key(|block| block.transactions).context("no block")?;
        Ok(Self { node, contract: plan.contract, full_block: largest.number })
    }

    /// Parameters of a call of the contract at the head.
    pub(super) fn call_params(&self) -> String {
        self.call_params_with("")
    }

    /// The same with digits behind the selector, which the contract does not look at.
    pub(super) fn call_params_with(&self, digits: &str) -> String {
        format!(r#"[{{"to":"{}","data":"{}{digits}"}},"latest"]"#, self.contract, hex::encode_prefixed(VALUE))
    }
}
