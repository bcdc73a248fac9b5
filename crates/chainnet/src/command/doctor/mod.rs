//! `chainnet doctor`: one check after the other, each with what to do.

mod check;

use std::{sync::Arc, time::Duration};

use anyhow::{Context, bail};
use chain::{ChainClient, Head, remote::NodeUrl};
use jiff::Timestamp;
use serde_json::json;
use store::Db;

use crate::{chain_source, cli::DoctorOptions, config::Config, output::say, process, runtime};

use check::{Finding, Verdict};

/// How long a node may take to show its head.
const PATIENCE: Duration = Duration::from_secs(5);

/// Checks everything and prints what was found. Fails if a check fails.
pub(crate) fn run(config: &Config, options: &DoctorOptions) -> anyhow::Result<()> {
    let findings = runtime::run(async { Ok(examine(config).await) })?;
    if options.json {
        let findings: Vec<_> = findings
            .iter()
            .map(|finding| {
                json!({ "check": finding.check, "verdict": finding.verdict.name(), "found": finding.found, "advice": finding.advice })
            })
            .collect();
        say(serde_json::to_string_pretty(&findings)?);
    } else {
        findings.iter().for_each(say);
    }
    let failed = findings.iter().filter(|finding| finding.verdict == Verdict::Fail).count();
    if failed > 0 {
        bail!("{failed} of {} checks failed", findings.len());
    }
    Ok(())
}

async fn examine(config: &Config) -> Vec<Finding> {
    // A refused configuration does not come this far.
    let mut findings = vec![Finding::ok("configuration", "every setting is allowed")];
    let chain = match reach_chain(config).await {
        Ok((client, head)) => {
            let found = format!("chain {}, block {}", config.network.chain_id(), head.number());
            findings.push(Finding::ok("chain", found));
            findings.push(check::clock(Timestamp::now().as_second(), head.header.timestamp));
            findings.push(check::contracts(config, &*client).await);
            Some((client, head))
        }
        Err(error) => {
            let advice = "start the node, or name another with PLATFORM_RPC_URL";
            findings.push(Finding::fail("chain", format!("{error:#}"), advice));
            None
        }
    };
    match process::open_database(config).await {
        Ok(db) => {
            findings.push(Finding::ok(
                "database",
                format!("{} answers, tables are up to date", config.database.masked()),
            ));
            findings.extend(examine_index(config, &db, chain).await);
            db.close().await;
        }
        Err(error) => {
            let advice = "start the database, or name another with DATABASE_URL";
            findings.push(Finding::fail("database", format!("{error:#}"), advice));
        }
    }
    findings
}

async fn examine_index(
    config: &Config,
    db: &Db,
    chain: Option<(Arc<dyn ChainClient>, Arc<Head>)>,
) -> Vec<Finding> {
    let Some((client, head)) = chain else { return Vec::new() };
    match db.index_head().await {
        Ok(indexed) => {
            let indexed = indexed.map(|indexed| indexed.number);
            vec![check::index(indexed, head.number()), check::fees(config, db, &*client).await]
        }
        Err(error) => {
            vec![Finding::fail(
                "index",
                format!("{:#}", anyhow::Error::from(error)),
                "look into the database's log",
            )]
        }
    }
}

/// The configured nodes, or the node that runs on this machine.
pub(super) async fn reach_chain(config: &Config) -> anyhow::Result<(Arc<dyn ChainClient>, Arc<Head>)> {
    let client = if config.nodes.is_empty() {
        let node: NodeUrl =
            format!("http://{}", config.node.rpc).parse().context("not the address of a node")?;
        chain_source::connect(config.network, &[node]).await?
    } else {
        chain_source::connect(config.network, &config.nodes).await?
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
