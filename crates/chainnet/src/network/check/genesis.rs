//! The genesis: its chain, its validators, its contracts and its state are those that the description gives.

use std::collections::{BTreeMap, BTreeSet};

use alloy_primitives::{Address, keccak256};
use contracts::address::PREDEPLOYED;
use devchain::genesis::Genesis;
use ibft::extra_data::ExtraData;
use serde_json::Value;

use super::{Checked, GENESIS};
use crate::{finding::Finding, network::founding};

/// For whatever can only be wrong because somebody has changed the file.
const CHANGED: &str = "genesis.json was changed: bring it back from the backup, or set the network up anew";

pub(super) fn examine(checked: &Checked<'_>, findings: &mut Vec<Finding>) {
    let text = match checked.text(GENESIS) {
        Ok(text) => text,
        Err(error) => {
            return findings.push(Finding::fail("genesis", format!("{GENESIS} {error:#}"), CHANGED));
        }
    };
    // Before the rest, because a genesis without validators is not read at all.
    findings.push(extra_data(checked, &text));
    let genesis = match Genesis::from_json(&text) {
        Ok(genesis) => genesis,
        Err(error) => {
            let found = format!("{GENESIS} cannot be used: {:#}", anyhow::Error::from(error));
            return findings.push(Finding::fail("genesis", found, CHANGED));
        }
    };
    findings.push(hash(checked, &genesis));
    findings.push(chain_id(checked, &genesis));
    match founding::genesis(checked.plan, &checked.sealers, &checked.manifest.accounts) {
        Ok(expected) => {
            findings.push(contracts(&genesis, &expected));
            findings.push(state(&genesis, &expected));
        }
        Err(error) => findings.push(Finding::fail("state", format!("{error:#}"), CHANGED)),
    }
}

/// The validators in the extraData are those whose keys are here.
fn extra_data(checked: &Checked<'_>, text: &str) -> Finding {
    const CHECK: &str = "validators";
    let file: Value = serde_json::from_str(text).unwrap_or_default();
    let extra = file.get("extraData").and_then(Value::as_str).unwrap_or_default();
    let extra = match hex::decode(extra.trim_start_matches("0x")).map(|bytes| ExtraData::decode(&bytes)) {
        Ok(Ok(extra)) => extra,
        Ok(Err(error)) => {
            let found = format!("the extraData does not decode: {:#}", anyhow::Error::from(error));
            return Finding::fail(CHECK, found, CHANGED);
        }
        Err(_) => return Finding::fail(CHECK, "the extraData is not hexadecimal", CHANGED),
    };
    let named: BTreeSet<Address> = extra.validators.iter().copied().collect();
    let ours: BTreeSet<Address> = checked.sealers.iter().copied().collect();
    let foreign =
        named.difference(&ours).map(|address| format!("{address} is a validator without a node here"));
    let missing =
        ours.difference(&named).map(|address| format!("{address} has a node here, but is no validator"));
    let mut complaints: Vec<_> = foreign.chain(missing).collect();
    if extra.vote.is_some() || extra.round != 0 || !extra.seals.is_empty() {
        complaints.push("the extraData carries a vote, a round or seals".to_owned());
    }
    if extra.validators.len() != named.len() {
        complaints.push("the extraData names a validator twice".to_owned());
    }
    Finding::of(CHECK, &complaints, format!("the extraData names the {} nodes", ours.len()), CHANGED)
}

fn hash(checked: &Checked<'_>, genesis: &Genesis) -> Finding {
    let (found, recorded) = (founding::hash(genesis), checked.manifest.genesis_hash);
    if found == recorded {
        Finding::ok("genesis", format!("hash {found}, as recorded"))
    } else {
        Finding::fail("genesis", format!("hash {found}, but {recorded} is recorded"), CHANGED)
    }
}

fn chain_id(checked: &Checked<'_>, genesis: &Genesis) -> Finding {
    let (network, expected) = (checked.plan.network, checked.plan.network.chain_id());
    let complaints: Vec<_> =
        [("genesis.json", genesis.config.chain_id), ("network.json", checked.manifest.chain_id)]
            .into_iter()
            .filter(|(_, id)| *id != expected)
            .map(|(file, id)| format!("{file} says {id}, but {network} is chain {expected}"))
            .collect();
    Finding::of("chain id", &complaints, format!("{expected}, that of {network}"), CHANGED)
}

/// The contracts have the code of this release's artifacts.
fn contracts(genesis: &Genesis, expected: &Genesis) -> Finding {
    let code_hash = |genesis: &Genesis, address: &Address| {
        genesis.alloc.get(address).and_then(|account| account.code.as_ref()).map(keccak256)
    };
    let complaints: Vec<_> = PREDEPLOYED
        .iter()
        .filter_map(|(name, address)| {
            let (found, right) = (code_hash(genesis, address), code_hash(expected, address)?);
            match found {
                Some(found) if found == right => None,
                Some(found) => Some(format!("{name} has code {found}, not {right}")),
                None => Some(format!("{name} has no code at {address}")),
            }
        })
        .collect();
    let advice = "the code is not that of this release: set the network up with the release that serves it";
    Finding::of(
        "contracts",
        &complaints,
        format!("{} with the code of this release", PREDEPLOYED.len()),
        advice,
    )
}

/// Everything else that the genesis says.
fn state(genesis: &Genesis, expected: &Genesis) -> Finding {
    let accounts: BTreeSet<_> = genesis.alloc.keys().chain(expected.alloc.keys()).collect();
    let differing: Vec<_> = accounts
        .into_iter()
        .filter(|account| genesis.alloc.get(*account) != expected.alloc.get(*account))
        .map(|account| format!("account {account} is not as the keys give it"))
        .collect();
    let header = |genesis: &Genesis| Genesis { alloc: BTreeMap::new(), ..genesis.clone() };
    let mut complaints = differing;
    if header(genesis) != header(expected) {
        complaints.push("the settings of the chain are not those of its fork and validators".to_owned());
    }
    let good = "balances, stakes and roles are what the keys give";
    Finding::of("state", &complaints, good, CHANGED)
}
