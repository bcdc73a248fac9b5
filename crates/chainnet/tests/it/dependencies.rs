//! `docs/dependencies.md` lists every crate of others that ours name, once, and no other.

use std::{collections::BTreeSet, process::Command};

use serde_json::Value;

/// Direct dependencies of the workspace that are not ours, for tests and builds included.
fn named() -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let all = packages.iter().flat_map(|package| package["dependencies"].as_array().expect("dependencies"));
    let others = all.filter(|dependency| dependency.get("path").is_none_or(Value::is_null));
    others.map(|dependency| dependency["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn every_dependency_is_listed_with_its_reason_and_none_is_left_over() {
    let page = include_str!("../../../../docs/dependencies.md");
    let mut listed = BTreeSet::new();
    for row in page.lines().filter(|line| line.starts_with("| `")) {
        let mut cells = row.trim_matches('|').split('|').map(str::trim);
        let (name, why, place) = (cells.next().unwrap(), cells.next().unwrap(), cells.next().unwrap());
        assert!(why.len() > 5 && !place.is_empty(), "no reason, or no place: {row}");
        assert!(listed.insert(name.trim_matches('`').to_owned()), "listed twice: {row}");
    }
    let named = named();
    let missing: Vec<_> = named.difference(&listed).collect();
    let stale: Vec<_> = listed.difference(&named).collect();
    assert!(missing.is_empty() && stale.is_empty(), "not listed: {missing:?}; no longer used: {stale:?}");
}
