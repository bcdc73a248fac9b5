//! Checks of a network's folder: what is there is compared with what its description and its keys give.

mod config;
mod genesis;
mod keys;
mod ports;
mod service;

use std::{fs, path::Path};

use alloy_primitives::Address;
use anyhow::Context;

use super::{
    folder,
    manifest::{self, Manifest},
    plan::Plan,
};
use crate::finding::Finding;

/// A folder that is being checked.
struct Checked<'a> {
    folder: &'a Path,
    manifest: &'a Manifest,
    plan: &'a Plan,
    /// The addresses that the nodes seal with, as the description says.
    sealers: Vec<Address>,
}

impl Checked<'_> {
    /// A file of the folder.
    fn text(&self, path: &str) -> anyhow::Result<String> {
        fs::read_to_string(self.folder.join(path)).context("cannot be read")
    }
}

/// Checks everything. `running` says that the nodes have their ports.
pub(crate) fn examine(folder: &Path, running: bool) -> Vec<Finding> {
    let described = Manifest::read(folder).and_then(|manifest| Ok((manifest.plan()?, manifest)));
    let (plan, manifest) = match described {
        Ok(described) => described,
        Err(error) => return vec![undescribed(&error)],
    };
    let checked = Checked { folder, manifest: &manifest, plan: &plan, sealers: manifest.sealers() };
    let mut findings = vec![Finding::ok(
        "folder",
        format!("{}, {} validators, for Besu 24.x", plan.network.title(), plan.nodes.len()),
    )];
    let public_keys = keys::examine(&checked, &mut findings);
    genesis::examine(&checked, &mut findings);
    config::examine(&checked, public_keys.as_deref(), &mut findings);
    service::examine(&checked, &mut findings);
    findings.push(ports::examine(&checked, running));
    findings
}

fn undescribed(error: &anyhow::Error) -> Finding {
    let found = format!("{} {error:#}", manifest::FILE);
    let advice = "name the folder that `chainnet network init` has written; if that was cut short, begin again with a new folder";
    Finding::fail("folder", found, advice)
}

/// The genesis file's name, for messages.
const GENESIS: &str = folder::GENESIS;
