//! What points the service at the network, and what starts the nodes.

use alloy_primitives::{Address, B256};
use devchain::genesis::Genesis;
use domain::Deployment;

use super::{Checked, GENESIS};
use crate::{
    finding::Finding,
    network::{compose, env, keys, record, script},
};

pub(super) fn examine(checked: &Checked<'_>, findings: &mut Vec<Finding>) {
    findings.push(deployment(checked));
    findings.push(settings(checked));
    findings.push(starters(checked));
}

/// The record names this network's nodes and contracts.
fn deployment(checked: &Checked<'_>) -> Finding {
    const CHECK: &str = "deployment";
    let path = record::file(checked.plan);
    let advice =
        "the service would read another chain: bring the record back, its public URLs are yours to change";
    let read = checked.text(&path).and_then(|text| Ok(Deployment::from_json(checked.plan.network, &text)?));
    let found = match read {
        Ok(found) => found,
        Err(error) => return Finding::fail(CHECK, format!("{path}: {error:#}"), advice),
    };
    let mut complaints = Vec::new();
    let nodes = record::nodes(checked.plan);
    if found.rpc_url.as_ref().map(|recorded| recorded.as_str()) != Some(nodes.as_str()) {
        complaints.push(format!("{path}: rpcUrl is not {nodes}"));
    }
    if usize::try_from(found.validators) != Ok(checked.plan.nodes.len()) {
        complaints.push(format!(
            "{path}: validators is {}, not {}",
            found.validators,
            checked.plan.nodes.len()
        ));
    }
    let genesis = checked.text(GENESIS).and_then(|text| Ok(Genesis::from_json(&text)?));
    let alloc = genesis.map(|genesis| genesis.alloc).unwrap_or_default();
    let has_code = |address: &Address| alloc.get(address).is_some_and(|account| account.code.is_some());
    let named = found.contracts.named();
    let without = named.iter().filter(|(_, address)| !has_code(address));
    complaints.extend(without.map(|(name, address)| format!("{path}: no code at {address} for {name}")));
    Finding::of(
        CHECK,
        &complaints,
        format!("{path} names {} nodes and contracts with code", checked.plan.nodes.len()),
        advice,
    )
}

/// The roles' settings hold the keys of this network.
fn settings(checked: &Checked<'_>) -> Finding {
    let faucet = checked.manifest.accounts.faucet.map(|_| (env::FAUCET, "FAUCET_KEY", Some("faucet")));
    let expected = [
        (env::SHARED, "PLATFORM_NETWORK", None),
        (env::SHARED, "PLATFORM_DEPLOYMENTS", None),
        (env::PORTAL, "PORTAL_PEPPER", None),
        (env::PORTAL, "WEBHOOK_KEY", None),
        (env::WORKER, "KEEPER_KEY", Some("keeper")),
    ];
    let has_price = checked.plan.min_gas_price > 0;
    let price = has_price.then_some((env::SHARED, "MIN_GAS_PRICE", None));
    let complaints: Vec<_> = expected
        .into_iter()
        .chain(faucet)
        .chain(price)
        .filter_map(|(path, name, key)| wrong_setting(checked, path, name, key))
        .collect();
    let advice = "the roles would run with other keys or another network: put the right values back";
    Finding::of("settings", &complaints, "the roles have this network and its keys", advice)
}

/// What is wrong with one variable; its value is never told.
fn wrong_setting(checked: &Checked<'_>, path: &str, name: &str, key: Option<&str>) -> Option<String> {
    let text = match checked.text(path) {
        Ok(text) => text,
        Err(error) => return Some(format!("{path} {error:#}")),
    };
    let Some(found) = env::value(&text, name) else { return Some(format!("{path} lacks {name}")) };
    let agrees = match (name, key) {
        (_, Some(key)) => keys::read(&checked.folder.join(keys::account_file(key)))
            .is_ok_and(|key| found.parse::<B256>().is_ok_and(|secret| secret == key.to_bytes())),
        ("PLATFORM_NETWORK", None) => found == checked.plan.network.name(),
        ("MIN_GAS_PRICE", None) => found == checked.plan.min_gas_price.to_string(),
        ("PLATFORM_DEPLOYMENTS", None) => !found.is_empty(),
        (_, None) => found.parse::<B256>().is_ok(),
    };
    (!agrees).then(|| format!("{path}: {name} is not that of this network"))
}

/// What starts the nodes is there.
fn starters(checked: &Checked<'_>) -> Finding {
    let missing: Vec<_> = [script::FILE, compose::FILE, "systemd/besu@.service"]
        .into_iter()
        .filter(|path| !checked.folder.join(path).is_file())
        .map(|path| format!("{path} is missing"))
        .collect();
    let advice = "bring the files back from the backup";
    Finding::of("starting", &missing, "start.sh, compose.yaml and units are there", advice)
}
