//! `chainnet doctor`: one check after the other, each with what to do.

mod chain;
mod database;
mod keys;
mod machine;
mod portal;

use std::{sync::Arc, time::Duration};

use ::chain::{ChainClient, Head, remote::NodeUrl};
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
            findings.extend(chain::blocks_and_clock(&*client, &head, now().as_second()).await);
            findings.push(chain::contracts(config, &*client).await);
            findings.extend(keys::faucet(config, &*client).await);
            findings.push(keys::keeper(config, &*client).await);
            Some((client, head))
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
pub(super) async fn reach_chain(config: &Config) -> anyhow::Result<(Arc<dyn ChainClient>, Arc<Head>)> {
    let client = if config.nodes.is_empty() {
        let node: NodeUrl =
            format!("http://{}", config.node.rpc).parse().context("not the address of a node")?;
        chain_source::connect(config, &[node]).await?
    } else {
        chain_source::connect(config, &config.nodes).await?
    };
    let mut heads = client.heads();
    let head = tokio::time::timeout(PATIENCE, heads.wait_for(Option::is_some))
        .await
        .context("no node answers")?
        .context("no node answers")?
        .clone();
    let head = head.context("no node answers")?;
    Ok((Arc::new(client), head))
}
