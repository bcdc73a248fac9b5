//! The nodes' configuration and peers.

use std::{collections::BTreeSet, net::IpAddr};

use alloy_primitives::B512;
use anyhow::anyhow;
use toml::Table;

use super::Checked;
use crate::{
    finding::Finding,
    network::{file::NetworkFile, folder, node_config, plan},
};

pub(super) fn examine(checked: &Checked<'_>, public_keys: Option<&[B512]>, findings: &mut Vec<Finding>) {
    let expected = match public_keys.map(|keys| folder::node_files(checked.plan, keys)) {
        Some(Ok(files)) => files,
        Some(Err(error)) => {
            findings.push(Finding::fail("configuration", format!("{error:#}"), "look at the checks before"));
            return;
        }
        None => {
            let found = "cannot be compared without the nodes' keys";
            findings.push(Finding::fail("configuration", found, "bring the keys back first"));
            return;
        }
    };
    let (configs, peers): (Vec<_>, Vec<_>) =
        expected.iter().partition(|file| file.path.ends_with("config.toml"));
    findings.extend(settings(checked, &configs));
    findings.push(static_nodes(checked, &peers));
}

/// Every node's `config.toml` agrees with the plan where it must; what else it says is the operator's.
fn settings(checked: &Checked<'_>, expected: &[&NetworkFile]) -> Vec<Finding> {
    let (mut complaints, mut unknown) = (Vec::new(), BTreeSet::new());
    for NetworkFile { path, text, .. } in expected {
        let written = text.parse::<Table>().unwrap_or_default();
        match checked.text(path).and_then(|text| parse(&text)) {
            Ok(found) => {
                complaints.extend(differences(path, &found, &written));
                complaints.extend(unreachable(path, &found, &written));
                let added = found.keys().filter(|key| !written.contains_key(*key));
                unknown.extend(added.map(|key| format!("{path}: {key}")));
            }
            Err(error) => complaints.push(format!("{path}: {error:#}")),
        }
    }
    let advice =
        "ports, paths and peers must be those of network.json: change them back, or set the network up anew";
    let good = "every node has its own ports and this genesis";
    let mut findings = vec![Finding::of("configuration", &complaints, good, advice)];
    if !unknown.is_empty() {
        let unknown = unknown.into_iter().collect::<Vec<_>>().join(", ");
        let advice = "Besu refuses keys that it does not know: see its list of options";
        findings.push(Finding::warn(
            "configuration",
            format!("not written by this command: {unknown}"),
            advice,
        ));
    }
    findings
}

/// A configuration; what is wrong with it fits into a line.
fn parse(text: &str) -> anyhow::Result<Table> {
    text.parse::<Table>().map_err(|error| anyhow!("is not TOML: {}", error.message()))
}

fn differences(path: &str, found: &Table, expected: &Table) -> Vec<String> {
    node_config::FIXED
        .into_iter()
        .filter(|key| found.get(*key) != expected.get(*key))
        .map(|key| match (found.get(key), expected.get(key)) {
            (Some(found), Some(expected)) => format!("{path}: {key} is {found}, not {expected}"),
            (None, Some(expected)) => format!("{path}: {key} is missing, {expected} is needed"),
            (_, None) => format!("{path}: {key} must not be there"),
        })
        .collect()
}

/// Addresses at which Besu does not start, and hosts whose requests it answers with 403.
fn unreachable(path: &str, found: &Table, written: &Table) -> Vec<String> {
    let address = |key: &str| found.get(key).and_then(|value| value.as_str()?.parse().ok());
    let unusable = ["p2p-host", "p2p-interface"].into_iter().filter_map(|key| {
        let is_any = |host: &IpAddr| key == "p2p-interface" && host.is_unspecified();
        let problem = plan::unusable(address(key).filter(|host| !is_any(host))?)?;
        Some(format!("{path}: {key}: {problem}"))
    });
    let hosts = |table: &Table| -> BTreeSet<String> {
        let list = table.get("host-allowlist").and_then(toml::Value::as_array);
        list.into_iter().flatten().filter_map(|host| host.as_str().map(str::to_ascii_lowercase)).collect()
    };
    let allowed = hosts(found);
    let is_open = allowed.contains("*") || allowed.contains("all");
    let refused = hosts(written).into_iter().filter(|host| !is_open && !allowed.contains(host));
    let refused = refused
        .map(|host| format!("{path}: host-allowlist lacks \"{host}\": requests to it are answered with 403"));
    unusable.chain(refused).collect()
}

/// Every node's `static-nodes.json` names all the others.
fn static_nodes(checked: &Checked<'_>, expected: &[&NetworkFile]) -> Finding {
    let enodes = |text: &str| serde_json::from_str::<BTreeSet<String>>(text);
    let mut complaints = Vec::new();
    for NetworkFile { path, text, .. } in expected {
        let right = enodes(text).unwrap_or_default();
        match checked.text(path).and_then(|text| Ok(enodes(&text)?)) {
            Ok(found) => {
                let missing = right.difference(&found).map(|enode| format!("{path} lacks {}", short(enode)));
                let foreign = found
                    .difference(&right)
                    .map(|enode| format!("{path} names {}, which is no node of this network", short(enode)));
                complaints.extend(missing.chain(foreign));
            }
            Err(error) => complaints.push(format!("{path}: {error:#}")),
        }
    }
    let advice = "the peers must be the other nodes' public keys and P2P ports";
    Finding::of("static nodes", &complaints, "every node knows all the others", advice)
}

/// An enode without the middle of its key.
fn short(enode: &str) -> String {
    match enode.split_once('@') {
        Some((key, place)) => format!("{}…@{place}", key.chars().take(16).collect::<String>()),
        None => enode.chars().take(40).collect(),
    }
}
