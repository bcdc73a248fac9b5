//! The life of a process: which parts it has, what ends it, and in which order everything stops.

use std::{fs, net::SocketAddr};

use access::{Placeholder, settle_placeholders};
use anyhow::Context;
use jiff::Timestamp;
use store::Db;
use tokio::net::TcpListener;
use tracing::info;

use crate::{
    banner::Banner, chain_source::ChainSource, config::Config, listen, output::say, parts::Parts, runtime,
    wiring::Wiring,
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
}

/// Runs the roles on a chain until told to stop, or until a part of them fails.
pub(crate) async fn run(config: &Config, chain: ChainSource, roles: Roles) -> anyhow::Result<()> {
    let ended = run_roles(config, &chain, roles).await;
    ended.and(chain.stop().await)
}

async fn run_roles(config: &Config, chain: &ChainSource, roles: Roles) -> anyhow::Result<()> {
    // Before the database is touched: a taken port is the most common reason not to start.
    let listener = match roles {
        Roles::All | Roles::Api => Some(listen::listen(config.api.listen, &listen::API).await?),
        Roles::Worker => None,
    };
    let db = open_database(config).await?;
    let placeholders = settle_keys(config, roles, &db).await?;
    let mut parts = Parts::default();
    let wiring = Wiring { config, client: &chain.client, db: &db };
    let ended = match start_parts(&wiring, roles, listener, &mut parts) {
        Ok(api) => {
            announce(config, chain, roles, api, &placeholders);
            tokio::select! {
                told = runtime::told_to_stop() => told,
                error = parts.failed() => Err(error),
                error = chain.failed() => Err(error),
            }
        }
        Err(error) => Err(error),
    };
    info!("stopping");
    let stopped = parts.stop().await;
    db.close().await;
    ended.and(stopped)
}

/// Opens the database, making the folder of a file.
pub(crate) async fn open_database(config: &Config) -> anyhow::Result<Db> {
    let url = config.database.expose();
    if url.starts_with("sqlite:") {
        fs::create_dir_all(&config.data)
            .with_context(|| format!("cannot create {}", config.data.display()))?;
    }
    Db::open(url).await.with_context(|| {
        format!("cannot open the database {}; DATABASE_URL names another", config.database.masked())
    })
}

/// The placeholder keys of the devnet, for roles that ask for keys; an error where another network has them.
async fn settle_keys(config: &Config, roles: Roles, db: &Db) -> anyhow::Result<Vec<&'static Placeholder>> {
    match roles {
        Roles::All => Ok(settle_placeholders(db, config.network, Timestamp::now()).await?),
        Roles::Api | Roles::Worker => Ok(Vec::new()),
    }
}

/// Starts what the roles need, the API last: it is the first to stop.
fn start_parts(
    wiring: &Wiring<'_>,
    roles: Roles,
    listener: Option<TcpListener>,
    parts: &mut Parts,
) -> anyhow::Result<Option<SocketAddr>> {
    let boards = match roles {
        Roles::Api => wiring.start_board(parts),
        Roles::All | Roles::Worker => {
            wiring.start_index(parts);
            let boards = wiring.start_board(parts);
            wiring.start_applications(boards.clone(), parts);
            wiring.start_mail(parts)?;
            boards
        }
    };
    listener.map(|listener| wiring.start_api(listener, boards, parts)).transpose()
}

fn announce(
    config: &Config,
    chain: &ChainSource,
    roles: Roles,
    api: Option<SocketAddr>,
    placeholders: &[&'static Placeholder],
) {
    let head = chain.client.heads().borrow().as_ref().map(|head| head.number());
    let chain_id = match &chain.node {
        // A genesis file may have its own.
        Some(node) => node.chain.spec().chain_id,
        None => config.network.chain_id(),
    };
    let banner = Banner { config, chain_id, head, node: chain.node.as_ref(), api, placeholders };
    say(match roles {
        Roles::All => banner.with_next_steps(),
        Roles::Api | Roles::Worker => banner.short(),
    });
}
