//! Writing the folder of a new network.

use std::{fs, os::unix::fs::MetadataExt, path::Path};

use alloy_primitives::B512;
use alloy_signer_local::PrivateKeySigner;
use anyhow::Context;

use super::{
    accounts::Accounts,
    compose, env,
    file::{self, NetworkFile},
    founding,
    keys::{self, Keys},
    manifest::{self, Manifest},
    node_config,
    plan::Plan,
    record, script, units,
};

/// The genesis file's name.
pub(super) const GENESIS: &str = "genesis.json";

/// Makes keys and writes everything. The description of the folder comes last: what a crash leaves behind has none,
/// and is neither accepted by a check nor written over.
pub(crate) fn write(plan: &Plan, folder: &Path) -> anyhow::Result<Manifest> {
    let folder = std::path::absolute(folder).context("the folder's path cannot be made absolute")?;
    units::plain(&folder)?;
    file::claim(&folder)?;
    let keys = Keys::generate(plan)?;
    let sealers: Vec<_> = keys.nodes.iter().map(PrivateKeySigner::address).collect();
    let accounts = keys.accounts.map(PrivateKeySigner::address);
    let genesis = founding::genesis(plan, &sealers, &accounts)?;
    let manifest = Manifest::new(plan, &sealers, accounts, founding::hash(&genesis));
    let mut files = keys.files(plan);
    files.push(NetworkFile::open(GENESIS, genesis.to_json()?));
    files.extend(node_files(plan, &public_keys(&keys.nodes))?);
    files.extend(service_files(plan, &folder, &keys.accounts)?);
    files.push(NetworkFile::script(script::FILE, script::text(plan)));
    files.push(NetworkFile::open(compose::FILE, compose::text(plan, &owner(&folder)?)));
    files.push(NetworkFile::open(manifest::FILE, manifest.text()?));
    files.iter().try_for_each(|file| file.write(&folder))?;
    Ok(manifest)
}

/// The configuration and the peers of every node.
pub(super) fn node_files(plan: &Plan, public_keys: &[B512]) -> anyhow::Result<Vec<NetworkFile>> {
    let enodes: Vec<_> =
        plan.nodes.iter().zip(public_keys).map(|(node, key)| keys::enode(key, node)).collect();
    let bootnode = enodes.first().context("a network needs a node")?;
    let mut files = Vec::new();
    for (node, own) in plan.nodes.iter().zip(&enodes) {
        let others: Vec<_> = enodes.iter().filter(|enode| *enode != own).collect();
        let peers = format!("{}\n", serde_json::to_string_pretty(&others)?);
        let folder = node.folder();
        let config = node_config::text(plan, node, bootnode);
        files.push(NetworkFile::open(format!("{folder}/config.toml"), config));
        files.push(NetworkFile::open(format!("{folder}/static-nodes.json"), peers));
    }
    Ok(files)
}

/// What the service needs to serve this network.
fn service_files(
    plan: &Plan,
    folder: &Path,
    accounts: &Accounts<PrivateKeySigner>,
) -> anyhow::Result<Vec<NetworkFile>> {
    let mut files = vec![NetworkFile::open(record::file(plan), record::text(plan)?)];
    files.extend(env::files(plan, folder, accounts)?);
    files.extend(units::files(plan.network, folder)?);
    Ok(files)
}

pub(super) fn public_keys(keys: &[PrivateKeySigner]) -> Vec<B512> {
    keys.iter().map(PrivateKeySigner::public_key).collect()
}

/// Who owns the folder, as containers are told.
fn owner(folder: &Path) -> anyhow::Result<String> {
    let folder = fs::metadata(folder).context("cannot look at the new folder")?;
    Ok(format!("{}:{}", folder.uid(), folder.gid()))
}
