//! `deployments/NETWORK.json`: the deployment record that points the service at the nodes.

use anyhow::Context;
use domain::Deployment;

use super::plan::{NodePlan, Plan};
use crate::config;

/// Where it is; `PLATFORM_DEPLOYMENTS` is the folder.
pub(super) fn file(plan: &Plan) -> String {
    format!("deployments/{}.json", plan.network)
}

/// The nodes, in the words of the record and of `PLATFORM_RPC_URL`.
pub(super) fn nodes(plan: &Plan) -> String {
    plan.nodes.iter().map(NodePlan::url).collect::<Vec<_>>().join(",")
}

/// The built-in record with this network's nodes and validators in it.
pub(super) fn text(plan: &Plan) -> anyhow::Result<String> {
    let built_in = config::built_in_record(plan.network);
    let validators = format!("\"validators\": {}", plan.nodes.len());
    let text = built_in
        .replace("\"validators\": 5", &validators)
        .replace("\"rpcUrl\": null", &format!("\"rpcUrl\": \"{}\"", nodes(plan)));
    Deployment::from_json(plan.network, &text).context("cannot write the deployment record")?;
    Ok(text)
}
