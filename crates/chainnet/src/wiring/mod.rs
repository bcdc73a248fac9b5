//! The wiring: each part of the product is made from the configuration, the chain and the database, and started.
//!
//! Which parts a process has, and in which order they start and stop, is decided in `process`.

mod explorer;
mod faucet;
mod gateway;
mod keeper;
mod limits;
mod metrics;
mod portal;
mod voter;

use std::sync::Arc;

use access::Counting;
use anyhow::Context;
use api::{ApiState, CorsOrigins, Edge, EdgeConfig, clock::SystemClock};
use domain::{Deployment, Network};
use hyper::header::HeaderValue;
use indexer::{Contracts, Indexer, IndexerConfig};
use jiff::Timestamp;
use merchant::CreditProgress;
use store::Db;
use tokio::{net::TcpListener, sync::watch};
use tokio_util::sync::CancellationToken;
use validators::{
    Applications, Board, BoardKeeper, BoardSettings, Clock,
    mail::{MailWorker, Mailer},
};

pub(crate) use self::{faucet::faucet_key, limits::start_counting, portal::PortalTools};
use crate::{
    chain_source::ChainSource,
    config::{Config, Origins},
    metrics::{Metrics, index_figures},
    parts::Parts,
    progress,
};

/// The newest board of validators, now and from now on.
pub(crate) type Boards = watch::Receiver<Option<Arc<Board>>>;

/// What all parts are made from.
pub(crate) struct Wiring<'a> {
    pub(crate) config: &'a Config,
    pub(crate) chain: &'a ChainSource,
    pub(crate) db: &'a Db,
    /// The network's record, with the places where this process really is.
    pub(crate) deployment: &'a Deployment,
    /// Where limits that are the same for every client are counted.
    pub(crate) counting: Counting,
    /// Where the parts say what they have to tell operators.
    pub(crate) metrics: &'a Metrics,
}

/// The API of a process, before it has a port.
pub(crate) struct MadeApi {
    pub(crate) state: Arc<ApiState>,
    pub(crate) edge: Edge,
    /// Ends the streams of those who watch a payment, who would keep a server from ending, and WebSockets.
    pub(crate) stop: CancellationToken,
}

impl Wiring<'_> {
    /// Follows the chain into the database.
    pub(crate) fn start_index(&self, parts: &mut Parts) {
        let contracts = &self.config.deployment().contracts;
        let settings = IndexerConfig {
            contracts: Contracts {
                registry: contracts.platform_validator_registry,
                fees: contracts.platform_fees,
                checkout: contracts.platform_checkout,
            },
            // There `evm_revert` takes blocks back.
            rebuild_on_mismatch: self.config.network == Network::Devnet,
            ..IndexerConfig::default()
        };
        let indexer = Indexer::new(self.chain.client.clone(), self.db.clone(), settings);
        tokio::spawn(progress::show_index(indexer.status()));
        index_figures(self.metrics, indexer.status(), self.chain.client.clone());
        parts.start("the index", |stop| async move {
            indexer.run(stop).await;
            Ok(())
        });
    }

    /// Keeps what is known of the validators.
    pub(crate) fn start_board(&self, parts: &mut Parts) -> Boards {
        let contracts = &self.config.deployment().contracts;
        let settings = BoardSettings {
            registry: contracts.platform_validator_registry,
            multicall: contracts.multicall3,
            ..BoardSettings::default()
        };
        let keeper = BoardKeeper::new(self.chain.client.clone(), self.db.clone(), settings);
        let boards = keeper.boards();
        parts.start("the board of validators", |stop| async move {
            keeper.run(stop).await;
            Ok(())
        });
        boards
    }

    /// Moves accepted applications on with the chain.
    pub(crate) fn start_applications(&self, boards: Boards, parts: &mut Parts) {
        let applications = self.applications();
        parts.start("following applications", |stop| async move {
            applications.follow(boards, clock(), stop).await;
            Ok(())
        });
    }

    /// Sends mail, where a server is configured.
    pub(crate) fn start_mail(&self, parts: &mut Parts) -> anyhow::Result<()> {
        let Some(settings) = &self.config.mail else { return Ok(()) };
        let mailer = Mailer::new(settings).context("mail cannot be sent")?;
        let worker = MailWorker::new(self.db.clone(), mailer, self.deployment.urls.explorer.clone(), clock());
        parts.start("mail", |stop| async move {
            worker.run(stop).await;
            Ok(())
        });
        Ok(())
    }

    /// REST and GraphQL, the portal with them. `progress` is how far crediting is, wherever it happens.
    pub(crate) fn make_api(
        &self,
        boards: Boards,
        tools: Option<PortalTools>,
        progress: CreditProgress,
        parts: &mut Parts,
    ) -> MadeApi {
        let stop = CancellationToken::new();
        let state = Arc::new(ApiState {
            chain: self.chain.client.clone(),
            deployment: self.deployment.clone(),
            clock: Arc::new(SystemClock),
            started_at: Timestamp::now(),
            version: env!("CARGO_PKG_VERSION"),
            db: self.db.clone(),
            boards,
            applications: self.applications(),
            portal: tools.map(|tools| self.start_portal(tools, progress, stop.clone(), parts)),
        });
        let edge = api::api(state.clone(), EdgeConfig { stop: stop.clone(), ..self.edge() });
        let draining = edge.clone();
        parts.when_draining(move || draining.drain());
        self.metrics.add_collector("api", edge.metrics());
        MadeApi { state, edge, stop }
    }

    /// Serves the API on a port of its own, or where there is none keeps its answers fresh for the pages beside it.
    pub(crate) fn start_api(&self, listener: Option<TcpListener>, api: MadeApi, parts: &mut Parts) {
        let MadeApi { edge, stop, .. } = api;
        parts.start_server("the API", stop.clone(), async move {
            match listener {
                Some(listener) => api::serve(listener, edge.clone(), stop).await,
                None => {
                    stop.run_until_cancelled(edge.follow()).await;
                }
            }
            edge.see_out().await;
            Ok(())
        });
    }

    fn applications(&self) -> Applications {
        Applications::new(self.db.clone(), self.config.mail.is_some())
    }

    fn edge(&self) -> EdgeConfig {
        let api = &self.config.api;
        EdgeConfig {
            requests_per_minute: api.rate_limit.get(),
            developer_key_requests_per_minute: api.developer_key_rate_limit.get(),
            counting: self.counting.clone(),
            trusted_proxies: api.trusted_proxies.clone(),
            cors: match &api.cors {
                Origins::Any => CorsOrigins::Any,
                // An origin is ASCII, so that none is lost here.
                Origins::Only(origins) => CorsOrigins::List(
                    origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok()).collect(),
                ),
            },
            instance: format!("{:x}", Timestamp::now().as_microsecond()),
            ..EdgeConfig::default()
        }
    }
}

/// The machine's time in Unix milliseconds.
pub(crate) fn clock() -> Clock {
    Arc::new(|| u64::try_from(Timestamp::now().as_millisecond()).unwrap_or_default())
}
