//! The life of a process: which parts it has, what ends it, and in which order everything stops.

use std::sync::Arc;

use access::{Counting, Keyring, Placeholder, settle_placeholders};
use anyhow::Context;
use jiff::Timestamp;
use merchant::CreditProgress;
use store::Db;
use tracing::info;

use crate::{
    banner::Banner,
    chain_source::ChainSource,
    config::Config,
    data_dir, database_file,
    doors::{Addresses, Doors},
    metrics::{Metrics, keyring_figures},
    output::say,
    parts::Parts,
    runtime,
    wiring::{Wiring, start_counting},
};

/// What a process does besides having a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Roles {
    /// Everything.
    All,
    /// REST and GraphQL.
    Api,
    /// Index, applications and mail.
    Worker,
    /// JSON-RPC in front of the nodes.
    Gateway,
    /// Claims of test coin.
    Faucet,
    /// Pages.
    Explorer,
}

impl Roles {
    /// The command that has these roles.
    const fn name(self) -> &'static str {
        match self {
            Self::All => "up",
            Self::Api => "api",
            Self::Worker => "worker",
            Self::Gateway => "gateway",
            Self::Faucet => "faucet",
            Self::Explorer => "explorer",
        }
    }
}

/// Runs the roles on a chain until told to stop, or until a part of them fails.
pub(crate) async fn run(config: &Config, chain: ChainSource, roles: Roles) -> anyhow::Result<()> {
    let ended = run_roles(config, &chain, roles).await;
    ended.and(chain.stop().await)
}

async fn run_roles(config: &Config, chain: &ChainSource, roles: Roles) -> anyhow::Result<()> {
    // Before the database is touched: a taken port is the most common reason not to start.
    let doors = Doors::open(config, roles).await?;
    let addresses = doors.addresses()?;
    let db = open_database(config).await?;
    let mut parts = Parts::default();
    let deployment = addresses.settle(config.deployment(), chain.node.as_ref().map(|node| node.rpc));
    let counting = match roles {
        Roles::All | Roles::Api | Roles::Faucet | Roles::Explorer => {
            start_counting(config, &mut parts).await?
        }
        Roles::Worker | Roles::Gateway => Counting::default(),
    };
    let metrics = Metrics::new(config.network.name(), roles.name());
    let wiring = Wiring { config, chain, db: &db, deployment: &deployment, counting, metrics: &metrics };
    let ended = match start_parts(&wiring, roles, doors, &mut parts).await {
        Ok(placeholders) => {
            announce(config, chain, roles, addresses, &placeholders);
            serve(config, chain, &mut parts).await
        }
        Err(error) => Err(error),
    };
    info!("stopping");
    let stopped = parts.stop().await;
    db.close().await;
    ended.and(stopped)
}

/// Runs until told to stop, then for the time that whoever spreads traffic needs to notice; or until something fails.
async fn serve(config: &Config, chain: &ChainSource, parts: &mut Parts) -> anyhow::Result<()> {
    tokio::select! {
        told = runtime::told_to_stop() => told?,
        error = parts.failed() => return Err(error),
        error = chain.failed() => return Err(error),
    }
    if !parts.drain() || config.drain.is_zero() {
        return Ok(());
    }
    info!(seconds = config.drain.as_secs(), "draining: still serving, but not ready");
    tokio::select! {
        () = tokio::time::sleep(config.drain) => Ok(()),
        error = parts.failed() => Err(error),
        error = chain.failed() => Err(error),
    }
}

/// Opens the database, making the folder of a file. One that is gone is not made again by itself.
pub(crate) async fn open_database(config: &Config) -> anyhow::Result<Db> {
    database_file::check(config)?;
    let url = config.database.expose();
    if Db::file_of(url).is_some() {
        data_dir::create(&config.data)?;
    }
    let db = Db::open_with(url, config.database_connections).await.with_context(|| {
        format!("cannot open the database {}; DATABASE_URL names another", config.database.masked())
    })?;
    database_file::opened(config);
    Ok(db)
}

/// Starts what the roles need, the servers last: they are the first to stop. Answers the keys that everybody knows.
async fn start_parts(
    wiring: &Wiring<'_>,
    roles: Roles,
    doors: Doors,
    parts: &mut Parts,
) -> anyhow::Result<Vec<&'static Placeholder>> {
    // First, so that operators can look until the end.
    wiring.start_metrics(doors.metrics, roles.name(), parts);
    let tools = match roles {
        Roles::All | Roles::Api | Roles::Worker | Roles::Explorer => wiring.portal_tools()?,
        Roles::Gateway | Roles::Faucet => None,
    };
    let progress = match (roles, &tools) {
        (Roles::All | Roles::Worker, Some(tools)) => wiring.start_portal_worker(tools, parts).await?,
        (_, _) => CreditProgress::poll(wiring.db.clone()),
    };
    let boards = match roles {
        Roles::Api | Roles::Explorer => Some(wiring.start_board(parts)),
        Roles::All | Roles::Worker => {
            wiring.start_index(parts);
            let boards = wiring.start_board(parts);
            wiring.start_applications(boards.clone(), parts);
            wiring.start_mail(parts)?;
            wiring.start_keeper(parts).await?;
            Some(boards)
        }
        Roles::Gateway | Roles::Faucet => None,
    };
    let (placeholders, keyring) = match roles {
        Roles::All | Roles::Gateway | Roles::Faucet | Roles::Explorer => {
            let now = Timestamp::now();
            let placeholders = settle_placeholders(wiring.db, wiring.config.network, now).await?;
            (placeholders, Some(start_keyring(wiring, parts).await?))
        }
        Roles::Api | Roles::Worker => (Vec::new(), None),
    };
    let mut faucet = None;
    if let (Some(listener), Some(keyring)) = (doors.faucet, &keyring) {
        faucet = wiring.start_faucet(Some(listener), keyring.clone(), parts)?;
    }
    if let (Some(listener), Some(keyring)) = (doors.gateway, &keyring) {
        wiring.start_gateway(listener, keyring.clone(), parts).await?;
    }
    if let Some(boards) = boards.filter(|_| roles != Roles::Worker) {
        let api = wiring.make_api(boards, tools, progress, parts);
        if let (Some(listener), Some(keyring)) = (doors.explorer, keyring) {
            if roles == Roles::Explorer {
                faucet = wiring.start_faucet(None, keyring.clone(), parts)?;
            }
            if roles == Roles::All {
                wiring.start_demo(&api, faucet.clone(), parts);
            }
            wiring.start_explorer(listener, &api, faucet, keyring, parts);
        }
        wiring.start_api(doors.api, api, parts);
    }
    Ok(placeholders)
}

async fn start_keyring(wiring: &Wiring<'_>, parts: &mut Parts) -> anyhow::Result<Arc<Keyring>> {
    let keyring = Keyring::open(wiring.db.clone(), Arc::new(Timestamp::now)).await;
    let keyring = Arc::new(keyring.context("the keys of the gateway cannot be read")?);
    keyring_figures(wiring.metrics, &keyring);
    let running = keyring.clone();
    parts.start("the keys of the gateway", |stop| async move {
        running.run(stop).await;
        Ok(())
    });
    Ok(keyring)
}

fn announce(
    config: &Config,
    chain: &ChainSource,
    roles: Roles,
    addresses: Addresses,
    placeholders: &[&'static Placeholder],
) {
    let head = chain.client.heads().borrow().as_ref().map(|head| head.number());
    let chain_id = match &chain.node {
        // A genesis file may have its own.
        Some(node) => node.chain.spec().chain_id,
        None => config.network.chain_id(),
    };
    let banner = Banner { config, chain_id, head, node: chain.node.as_ref(), addresses, placeholders };
    say(match roles {
        Roles::All => banner.with_next_steps(),
        Roles::Api | Roles::Worker | Roles::Gateway | Roles::Faucet | Roles::Explorer => banner.short(),
    });
}
