//! `chainnet doctor`: one check after the other, each with what to do.

mod chain;
mod database;
mod keys;
mod machine;
mod nodes;
mod nonces;
mod portal;
mod validators;

use std::{sync::Arc, time::Duration};

use ::chain::{
    Cached, ChainClient, Head,
    remote::{NodeUrl, RemoteClient},
};
use anyhow::Context;
use jiff::Timestamp;

use crate::{
    chain_source,
    cli::DoctorOptions,
    config::Config,
    finding::{Finding, report},
    runtime,
};

/// How long a node may take to show its head.
const PATIENCE: Duration = Duration::from_secs(5);

/// Checks everything and prints what was found. Fails if a check fails.
pub(crate) fn run(config: &Config, options: &DoctorOptions) -> anyhow::Result<()> {
    let findings = runtime::run(async { Ok(examine(config, Timestamp::now).await) })?;
    report(&findings, options.json)
}

/// Checks everything. `now` is this machine's time.
pub async fn examine(config: &Config, now: impl Fn() -> Timestamp) -> Vec<Finding> {
    // A refused configuration does not come this far.
    let mut findings = vec![
        Finding::ok("configuration", "every setting is allowed"),
        chain::deployment(config),
        machine::ports(config).await,
        machine::disk(config),
        keys::files(config),
    ];
    let reached = match reach_chain(config).await {
        Ok((client, head)) => {
            let found = format!("chain {}, block {}", config.network.chain_id(), head.number());
            findings.push(Finding::ok("chain", found));
            findings.extend(nodes::answers(&client));
            findings.extend(chain::blocks_and_clock(&*client, &head, || now().as_second()).await);
            findings.push(chain::contracts(config, &*client).await);
            findings.push(validators::examine(config, &*client, &head).await);
            findings.extend(keys::faucet(config, &*client).await);
            findings.push(keys::keeper(config, &*client).await);
            Some((client as Arc<dyn ChainClient>, head))
        }
        Err(error) => {
            let advice = "start the node, or name another with PLATFORM_RPC_URL";
            findings.push(Finding::fail("chain", format!("{error:#}"), advice));
            None
        }
    };
    findings.extend(database::examine(config, reached, now()).await);
    findings.extend(machine::redis(config).await);
    findings
}

/// The configured nodes, or the node that runs on this machine.
pub(super) async fn reach_chain(config: &Config) -> anyhow::Result<(Arc<Cached<RemoteClient>>, Arc<Head>)> {
    let embedded: NodeUrl =
        format!("http://{}", config.node.rpc).parse().context("not the address of a node")?;
    let urls = if config.nodes.is_empty() { vec![embedded] } else { config.nodes.clone() };
    let client = chain_source::connect(config, &urls).await?;
    let names: Vec<String> = urls.iter().map(ToString::to_string).collect();
    let nobody = || format!("no node answers: {}", names.join(", "));
    let mut heads = client.heads();
    let head = tokio::time::timeout(PATIENCE, heads.wait_for(Option::is_some))
        .await
        .with_context(nobody)?
        .with_context(nobody)?
        .clone();
    let head = head.with_context(nobody)?;
    Ok((Arc::new(client), head))
}
