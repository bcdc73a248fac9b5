//! The floors of ARCHITECTURE.md: which crate may use which, and where heavy dependencies live.

use std::{collections::BTreeMap, process::Command};

use serde_json::Value;

/// Every crate of the workspace and the crates of the workspace that it may use.
const EDGES: &[(&str, &[&str])] = &[
    ("chainnet-domain", &[]),
    ("chainnet-ibft", &[]),
    ("chainnet-contracts", &[]),
    ("chainnet-http1", &[]),
    ("chainnet-jsonrpc", &[]),
    ("chainnet-listen", &["chainnet-http1"]),
    (
        "chainnet-chain",
        &["chainnet-contracts", "chainnet-domain", "chainnet-http1", "chainnet-ibft", "chainnet-jsonrpc"],
    ),
    ("chainnet-store", &["chainnet-contracts", "chainnet-domain", "chainnet-ibft"]),
    ("chainnet-access", &["chainnet-domain", "chainnet-http1", "chainnet-store"]),
    (
        "chainnet-accounts",
        &["chainnet-access", "chainnet-chain", "chainnet-contracts", "chainnet-domain", "chainnet-store"],
    ),
    (
        "chainnet-devchain",
        &[
            "chainnet-chain",
            "chainnet-contracts",
            "chainnet-domain",
            "chainnet-ibft",
            "chainnet-jsonrpc",
            "chainnet-listen",
        ],
    ),
    ("chainnet-faucet", &["chainnet-access", "chainnet-chain", "chainnet-domain", "chainnet-store"]),
    (
        "chainnet-gateway",
        &[
            "chainnet-access",
            "chainnet-chain",
            "chainnet-domain",
            "chainnet-jsonrpc",
            "chainnet-listen",
            "chainnet-store",
        ],
    ),
    (
        "chainnet-indexer",
        &["chainnet-chain", "chainnet-contracts", "chainnet-domain", "chainnet-ibft", "chainnet-store"],
    ),
    (
        "chainnet-keeper",
        &[
            "chainnet-access",
            "chainnet-chain",
            "chainnet-contracts",
            "chainnet-domain",
            "chainnet-ibft",
            "chainnet-store",
        ],
    ),
    (
        "chainnet-merchant",
        &[
            "chainnet-access",
            "chainnet-accounts",
            "chainnet-chain",
            "chainnet-contracts",
            "chainnet-domain",
            "chainnet-store",
        ],
    ),
    (
        "chainnet-validators",
        &[
            "chainnet-access",
            "chainnet-chain",
            "chainnet-contracts",
            "chainnet-domain",
            "chainnet-ibft",
            "chainnet-store",
        ],
    ),
    ("chainnet-webhooks", &["chainnet-access", "chainnet-domain", "chainnet-store"]),
    (
        "chainnet-api",
        &[
            "chainnet-access",
            "chainnet-accounts",
            "chainnet-chain",
            "chainnet-contracts",
            "chainnet-domain",
            "chainnet-faucet",
            "chainnet-ibft",
            "chainnet-listen",
            "chainnet-merchant",
            "chainnet-store",
            "chainnet-validators",
            "chainnet-webhooks",
        ],
    ),
    (
        "chainnet-web",
        &[
            "chainnet-access",
            "chainnet-accounts",
            "chainnet-api",
            "chainnet-chain",
            "chainnet-contracts",
            "chainnet-domain",
            "chainnet-faucet",
            "chainnet-ibft",
            "chainnet-listen",
            "chainnet-merchant",
            "chainnet-store",
            "chainnet-validators",
            "chainnet-webhooks",
        ],
    ),
    (
        "chainnet",
        &[
            "chainnet-access",
            "chainnet-accounts",
            "chainnet-api",
            "chainnet-chain",
            "chainnet-contracts",
            "chainnet-devchain",
            "chainnet-domain",
            "chainnet-faucet",
            "chainnet-gateway",
            "chainnet-ibft",
            "chainnet-indexer",
            "chainnet-keeper",
            "chainnet-listen",
            "chainnet-merchant",
            "chainnet-store",
            "chainnet-validators",
            "chainnet-web",
            "chainnet-webhooks",
        ],
    ),
    (
        "chainnet-testkit",
        &["chainnet-chain", "chainnet-contracts", "chainnet-devchain", "chainnet-domain", "chainnet-ibft"],
    ),
    (
        "bench",
        &[
            "chainnet-access",
            "chainnet-api",
            "chainnet-chain",
            "chainnet-devchain",
            "chainnet-gateway",
            "chainnet-domain",
            "chainnet-indexer",
            "chainnet-store",
            "chainnet-testkit",
        ],
    ),
];

/// Heavy or foreign dependencies and the crates that may name them.
const FENCES: &[(&str, &[&str])] = &[
    ("revm", &["chainnet-devchain"]),
    ("revm-inspectors", &["chainnet-devchain"]),
    ("fjall", &["chainnet-devchain"]),
    ("axum", &["chainnet-api", "chainnet-web", "chainnet", "bench"]),
    ("askama", &["chainnet-web"]),
    ("alloy-dyn-abi", &["chainnet-web"]),
    ("async-graphql", &["chainnet-api"]),
    ("utoipa", &["chainnet-api"]),
    ("sqlx", &["chainnet-store"]),
    ("redis", &["chainnet-access", "chainnet-gateway"]),
    ("lettre", &["chainnet-validators"]),
    ("clap", &["chainnet", "bench"]),
];

/// Direct dependencies of each workspace crate, without those for tests.
fn dependencies() -> BTreeMap<String, Vec<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON");
    let name = |value: &Value| value["name"].as_str().expect("a name").to_owned();
    let packages = metadata["packages"].as_array().expect("packages");
    packages
        .iter()
        .map(|package| {
            let dependencies = package["dependencies"].as_array().expect("dependencies");
            let used = dependencies.iter().filter(|d| d["kind"] != "dev").map(name).collect();
            (name(package), used)
        })
        .collect()
}

#[test]
fn crates_use_only_what_stands_below_them() {
    let allowed: BTreeMap<_, _> = EDGES.iter().copied().collect();
    for (krate, used) in dependencies() {
        let may = allowed
            .get(krate.as_str())
            .unwrap_or_else(|| panic!("{krate} is missing from the list of edges"));
        for used in used.iter().filter(|used| allowed.contains_key(used.as_str())) {
            assert!(may.contains(&used.as_str()), "{krate} must not use {used}");
        }
    }
}

#[test]
fn heavy_dependencies_stay_behind_their_fences() {
    for (krate, used) in dependencies() {
        for (fenced, homes) in FENCES {
            let inside = homes.contains(&krate.as_str());
            assert!(inside || !used.iter().any(|u| u == fenced), "{krate} must not use {fenced}");
        }
    }
}
