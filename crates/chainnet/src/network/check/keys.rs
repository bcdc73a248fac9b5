//! Keys: each is the one that the description names, and can be read by its owner alone.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use alloy_primitives::{Address, B512};
use alloy_signer_local::PrivateKeySigner;

use super::Checked;
use crate::{
    finding::Finding,
    network::{env, file::Access, folder, keys},
};

const CHECK: &str = "keys";

/// Checks the keys. Answers the nodes' public keys if all could be read.
pub(super) fn examine(checked: &Checked<'_>, findings: &mut Vec<Finding>) -> Option<Vec<B512>> {
    let mut read = KeyFiles { folder: checked.folder, complaints: Vec::new(), elsewhere: Vec::new() };
    let nodes: Vec<_> = checked
        .plan
        .nodes
        .iter()
        .zip(&checked.sealers)
        .filter_map(|(node, address)| read.needed(&keys::node_file(node), *address))
        .collect();
    let accounts = checked.manifest.accounts.named();
    for (name, address) in &accounts {
        let path = keys::account_file(name);
        // What runs needs these two; the others are better kept away from it.
        if ["faucet", "keeper"].contains(&name.as_str()) || checked.folder.join(&path).exists() {
            read.needed(&path, **address);
        } else {
            read.elsewhere.push(path);
        }
    }
    findings.extend(read.findings(nodes.len(), accounts.len()));
    findings.push(permissions(checked));
    (nodes.len() == checked.plan.nodes.len()).then(|| folder::public_keys(&nodes))
}

/// The key files, as they are read.
struct KeyFiles<'a> {
    folder: &'a Path,
    complaints: Vec<String>,
    /// Not here, and not needed here.
    elsewhere: Vec<String>,
}

impl KeyFiles<'_> {
    /// The key in a file that must be there and be the key of this address.
    fn needed(&mut self, path: &str, address: Address) -> Option<PrivateKeySigner> {
        match keys::read(&self.folder.join(path)) {
            Ok(key) => {
                if key.address() != address {
                    self.complaints.push(format!("{path} is the key of {}, not of {address}", key.address()));
                }
                Some(key)
            }
            Err(error) => {
                self.complaints.push(format!("{path} {error:#}"));
                None
            }
        }
    }

    fn findings(&self, nodes: usize, accounts: usize) -> Vec<Finding> {
        let accounts = accounts.saturating_sub(self.elsewhere.len());
        let good = format!("{nodes} of nodes and {accounts} of accounts, each that of its address");
        let advice = "bring the right key files back from the backup; without them the network cannot go on";
        let mut findings = vec![Finding::of(CHECK, &self.complaints, good, advice)];
        if !self.elsewhere.is_empty() {
            let found = format!("not here: {}", self.elsewhere.join(", "));
            let advice = "good if they are kept off this machine, and there is a backup";
            findings.push(Finding::warn(CHECK, found, advice));
        }
        findings
    }
}

fn permissions(checked: &Checked<'_>) -> Finding {
    let nodes = checked.plan.nodes.iter().map(keys::node_file);
    let named = checked.manifest.accounts.named();
    let accounts = named.into_iter().map(|(name, _)| keys::account_file(&name));
    let settings = [env::SHARED, env::PORTAL, env::FAUCET, env::WORKER].map(str::to_owned);
    let open: Vec<_> = nodes
        .chain(accounts)
        .chain(settings)
        .filter_map(|path| {
            let mode = mode(&checked.folder.join(&path))?;
            (mode & !Access::Private.mode() != 0).then(|| format!("{path} has mode {mode:04o}"))
        })
        .collect();
    let advice =
        "others on this machine may have read a secret: chmod 600, and replace the key if they might";
    Finding::of("permissions", &open, "secrets can be read by their owner alone", advice)
}

/// Mode of a file that is there.
fn mode(file: &Path) -> Option<u32> {
    Some(fs::metadata(file).ok()?.permissions().mode() & 0o777)
}
