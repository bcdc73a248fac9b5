//! `docs/dependencies.md` lists every crate of others that ours name, once, and no other; all of them keep to `deny.toml`.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

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

/// Everything that is compiled in on this machine, however far down, as cargo resolves it. What other systems need is not here.
fn resolved() -> Value {
    let version = Command::new("rustc").arg("-vV").output().expect("rustc runs").stdout;
    let version = String::from_utf8(version).expect("text");
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host");
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--locked", "--format-version", "1", "--filter-platform", host])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON")
}

/// Whether a licence expression (SPDX, or the old way with slashes) can be met with these licences.
fn is_allowed(expression: &str, allowed: &BTreeSet<&str>) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = spaced.split_whitespace().peekable();
    let met = any_of(&mut words, allowed);
    met && words.next().is_none()
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn any_of(words: &mut Words<'_>, allowed: &BTreeSet<&str>) -> bool {
    let mut met = all_of(words, allowed);
    while words.next_if_eq(&"OR").is_some() {
        met |= all_of(words, allowed);
    }
    met
}

fn all_of(words: &mut Words<'_>, allowed: &BTreeSet<&str>) -> bool {
    let mut met = one(words, allowed);
    while words.next_if_eq(&"AND").is_some() {
        met &= one(words, allowed);
    }
    met
}

fn one(words: &mut Words<'_>, allowed: &BTreeSet<&str>) -> bool {
    if words.next_if_eq(&"(").is_some() {
        let met = any_of(words, allowed);
        return words.next() == Some(")") && met;
    }
    let Some(licence) = words.next() else { return false };
    match words.next_if_eq(&"WITH").and_then(|_| words.next()) {
        Some(exception) => allowed.contains(format!("{licence} WITH {exception}").as_str()),
        None => allowed.contains(licence),
    }
}

/// The rules of `deny.toml` that need nothing from outside; what it says of advisories needs `cargo deny` and a network.
#[test]
fn the_tree_keeps_to_the_licences_sources_and_fences() {
    let rules: toml::Table = include_str!("../../../../deny.toml").parse().expect("TOML");
    let allowed = rules["licenses"]["allow"].as_array().expect("licences");
    let allowed: BTreeSet<_> = allowed.iter().map(|name| name.as_str().expect("a name")).collect();
    let tree = resolved();
    let packages = tree["packages"].as_array().expect("packages");
    let text = |value: &Value| value.as_str().map(ToOwned::to_owned);
    for package in packages {
        let (name, source) = (text(&package["name"]).expect("a name"), text(&package["source"]));
        if let Some(source) = source {
            assert!(source.starts_with("registry+"), "{name} comes from {source}");
        }
        let licence = text(&package["license"]).unwrap_or_default();
        assert!(is_allowed(&licence, &allowed), "{name} has the licence {licence:?}");
    }
    let names: BTreeMap<_, _> =
        packages.iter().map(|package| (package["id"].as_str(), package["name"].as_str())).collect();
    let name_of = |id: &Value| names.get(&id.as_str()).copied().flatten();
    for fence in rules["bans"]["deny"].as_array().expect("fences") {
        let fenced = fence["crate"].as_str().expect("a crate");
        let homes = fence.get("wrappers").and_then(toml::Value::as_array);
        let homes: BTreeSet<_> = homes.into_iter().flatten().filter_map(toml::Value::as_str).collect();
        for node in tree["resolve"]["nodes"].as_array().expect("nodes") {
            let needs = node["dependencies"].as_array().expect("dependencies");
            let user = name_of(&node["id"]).expect("a name");
            let is_outside = needs.iter().any(|id| name_of(id) == Some(fenced)) && !homes.contains(user);
            assert!(!is_outside, "{user} uses {fenced}, which belongs to {homes:?}");
        }
    }
}

#[test]
fn licences_are_read_as_they_are_meant() {
    let allowed = BTreeSet::from(["MIT", "Apache-2.0 WITH LLVM-exception"]);
    for yes in
        ["MIT", "MIT OR GPL-3.0", "GPL-3.0/MIT", "(GPL-3.0 OR MIT) AND MIT", "Apache-2.0 WITH LLVM-exception"]
    {
        assert!(is_allowed(yes, &allowed), "{yes}");
    }
    for no in
        ["", "GPL-3.0", "MIT AND GPL-3.0", "Apache-2.0", "(MIT", "MIT MIT", "GPL-3.0 OR (MIT AND GPL-3.0)"]
    {
        assert!(!is_allowed(no, &allowed), "{no}");
    }
}
