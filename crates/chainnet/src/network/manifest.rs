//! `network.json`: what the folder is. It is written last, so that a folder without it is known to be unfinished.

use std::{fs, path::Path};

use alloy_primitives::{Address, B256};
use anyhow::{Context, ensure};
use domain::{Network, Wei};
use serde::{Deserialize, Serialize};

use super::{
    BESU_VERSION,
    accounts::Accounts,
    plan::{NodePlan, Plan},
};
use crate::cli::ForkChoice;

/// The file's name.
pub(crate) const FILE: &str = "network.json";
/// Version of what is written here.
const FORMAT: u32 = 1;

/// What the folder is.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Manifest {
    format: u32,
    pub(crate) network: Network,
    pub(crate) chain_id: u64,
    fork: ForkChoice,
    /// In coin.
    supply: String,
    /// In wei; networks that were made before there was one have none.
    #[serde(default)]
    min_gas_price: u64,
    besu: String,
    pub(crate) genesis_hash: B256,
    pub(crate) validators: Vec<ManifestNode>,
    pub(crate) accounts: Accounts,
}

/// A validator's node and the address it seals with.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ManifestNode {
    pub(crate) address: Address,
    #[serde(flatten)]
    pub(crate) node: NodePlan,
}

impl Manifest {
    pub(super) fn new(plan: &Plan, sealers: &[Address], accounts: Accounts, genesis_hash: B256) -> Self {
        let validators = plan.nodes.iter().zip(sealers);
        Self {
            format: FORMAT,
            network: plan.network,
            chain_id: plan.network.chain_id(),
            fork: plan.fork,
            supply: plan.supply.to_string(),
            min_gas_price: plan.min_gas_price,
            besu: BESU_VERSION.to_owned(),
            genesis_hash,
            validators: validators
                .map(|(node, address)| ManifestNode { address: *address, node: node.clone() })
                .collect(),
            accounts,
        }
    }

    /// Reads the manifest of a folder.
    pub(crate) fn read(folder: &Path) -> anyhow::Result<Self> {
        let text = fs::read_to_string(folder.join(FILE)).context("cannot be read")?;
        let manifest: Self = serde_json::from_str(&text).context("is not the description of a network")?;
        ensure!(manifest.format == FORMAT, "is of format {}, this is {FORMAT}", manifest.format);
        ensure!(!manifest.validators.is_empty(), "names no validator");
        manifest.plan()?;
        Ok(manifest)
    }

    /// The file's text.
    pub(super) fn text(&self) -> anyhow::Result<String> {
        Ok(format!("{}\n", serde_json::to_string_pretty(self)?))
    }

    /// The plan that the folder was made from.
    pub(crate) fn plan(&self) -> anyhow::Result<Plan> {
        let supply: Wei = self.supply.parse().context("its supply is not an amount of coin")?;
        let nodes = self.validators.iter().map(|validator| validator.node.clone()).collect();
        let (network, fork, min_gas_price) = (self.network, self.fork, self.min_gas_price);
        Ok(Plan { network, fork, supply, min_gas_price, nodes })
    }

    /// The addresses the nodes seal with.
    pub(crate) fn sealers(&self) -> Vec<Address> {
        self.validators.iter().map(|validator| validator.address).collect()
    }
}
