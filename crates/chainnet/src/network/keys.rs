//! The private keys of a network: made, written, read back.

use std::{fs, path::Path};

use alloy_primitives::{B256, B512};
use alloy_signer_local::PrivateKeySigner;
use anyhow::Context;

use super::{
    accounts::Accounts,
    file::NetworkFile,
    plan::{NodePlan, Plan},
};

/// The keys of a new network.
pub(super) struct Keys {
    /// One per node.
    pub(super) nodes: Vec<PrivateKeySigner>,
    pub(super) accounts: Accounts<PrivateKeySigner>,
}

impl Keys {
    /// New keys for every node and account of the plan.
    pub(super) fn generate(plan: &Plan) -> anyhow::Result<Self> {
        Ok(Self {
            nodes: plan.nodes.iter().map(|_| generate()).collect::<anyhow::Result<_>>()?,
            accounts: Accounts::try_new(plan.network, plan.nodes.len(), generate)?,
        })
    }

    /// The files they are kept in.
    pub(super) fn files(&self, plan: &Plan) -> Vec<NetworkFile> {
        let nodes = plan.nodes.iter().zip(&self.nodes).map(|(node, key)| (node_file(node), key));
        let accounts = self.accounts.named();
        let accounts = accounts.into_iter().map(|(name, key)| (account_file(&name), key));
        nodes.chain(accounts).map(|(path, key)| NetworkFile::private(path, text(key))).collect()
    }
}

/// Where Besu looks for a node's key.
pub(super) fn node_file(node: &NodePlan) -> String {
    format!("{}/key", node.folder())
}

/// Where an account's key is.
pub(super) fn account_file(name: &str) -> String {
    format!("keys/{name}")
}

/// The key in a file.
pub(super) fn read(file: &Path) -> anyhow::Result<PrivateKeySigner> {
    let text = fs::read_to_string(file).context("cannot be read")?;
    let secret: B256 = text.trim().parse().context("is not a private key")?;
    PrivateKeySigner::from_bytes(&secret).context("is not a private key")
}

/// A node as its peers write it.
pub(super) fn enode(public_key: &B512, node: &NodePlan) -> String {
    format!("enode://{}@{}", hex::encode(public_key), node.address(node.p2p_port))
}

/// As Besu writes its own: one line, hexadecimal, with the prefix.
fn text(key: &PrivateKeySigner) -> String {
    format!("{}\n", key.to_bytes())
}

fn generate() -> anyhow::Result<PrivateKeySigner> {
    PrivateKeySigner::from_bytes(&B256::random()).context("cannot make a key")
}

#[cfg(test)]
mod tests {
    use alloy_primitives::b256;
    use domain::{Network, Wei};

    use super::*;
    use crate::cli::ForkChoice;

    #[test]
    fn an_enode_has_the_public_key_without_prefix() {
        let plan = Plan::new(Network::Devnet, ForkChoice::default(), Wei::from_coin(1), 0, 1, &[]).unwrap();
        let one = b256!("0000000000000000000000000000000000000000000000000000000000000001");
        let key = PrivateKeySigner::from_bytes(&one).unwrap();
        // The generator of the curve.
        assert_eq!(
            enode(&key.public_key(), &plan.nodes[0]),
            "enode://79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798\
             483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8@127.0.0.1:30303"
        );
        assert_eq!(text(&key), format!("{one}\n"));
    }
}
