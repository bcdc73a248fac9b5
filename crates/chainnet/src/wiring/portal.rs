//! The developer and merchant portal as parts of a process: a worker credits payments and delivers events, the API serves
//! wallets, programs and whoever pays.

use std::sync::Arc;

use access::Clock;
use accounts::{DeveloperKeys, Pepper, Peppers, SessionSettings, Sessions};
use alloy_primitives::B256;
use anyhow::bail;
use api::{InvoicePages, PayStreams, Portal, QuoteLimits};
use domain::{Network, WebUrl};
use hyper::header::HeaderValue;
use jiff::Timestamp;
use merchant::{
    Checkout, CheckoutPlace, CreditProgress, CreditSettings, Crediting, Dashboards, Invoices, KeptAnswers,
    OrderSettings, Orders, Rates, Reconciler,
};
use prometheus_client::encoding::text::encode_registry;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tracing::warn;
use webhooks::{
    Guard, GuardSettings, SealingKeys, Sender, SenderLimits, SystemResolver, WebhookMetrics, Webhooks,
    Worker, WorkerParts, WorkerSettings, ring_on_change,
};

use super::Wiring;
use crate::{
    config::{Origins, SecretKey},
    keys,
    parts::Parts,
};

/// The version of the only pepper and of the only sealing key that can be configured.
const FIRST_VERSION: u8 = 1;

/// What the parts of the portal in one process share.
pub(crate) struct PortalTools {
    keys: Arc<DeveloperKeys>,
    sealing: Arc<SealingKeys>,
    guard: Arc<Guard>,
    sender: Sender,
    /// Rung when there is something to deliver.
    bell: Arc<Notify>,
}

impl Wiring<'_> {
    /// Makes what the portal's parts share; nothing where there is no portal, because its secrets are not set.
    pub(crate) fn portal_tools(&self) -> anyhow::Result<Option<PortalTools>> {
        let portal = &self.config.portal;
        let pepper = self.portal_secret(portal.pepper.as_ref(), "pepper")?;
        let sealing = self.portal_secret(portal.webhook_key.as_ref(), "webhook")?;
        let (pepper, sealing) = match (pepper, sealing) {
            (Some(pepper), Some(sealing)) => (pepper, sealing),
            (None, None) => {
                warn!("PORTAL_PEPPER and WEBHOOK_KEY are not set, so that there is no developer portal");
                return Ok(None);
            }
            (Some(_), None) => bail!("PORTAL_PEPPER is set and WEBHOOK_KEY is not; the portal needs both"),
            (None, Some(_)) => bail!("WEBHOOK_KEY is set and PORTAL_PEPPER is not; the portal needs both"),
        };
        let peppers = Peppers::new(vec![Pepper::new(u16::from(FIRST_VERSION), pepper.to_vec())?])?;
        let guard = Arc::new(Guard::new(self.guard_settings(), Arc::new(SystemResolver)));
        Ok(Some(PortalTools {
            keys: Arc::new(DeveloperKeys::new(self.db.clone(), time(), peppers)),
            sealing: Arc::new(SealingKeys::new([(FIRST_VERSION, sealing.0)])?),
            sender: Sender::new(guard.clone(), SenderLimits::default()),
            guard,
            bell: Arc::new(Notify::new()),
        }))
    }

    /// Credits payments and delivers events; answers how far crediting is.
    pub(crate) async fn start_portal_worker(
        &self,
        tools: &PortalTools,
        parts: &mut Parts,
    ) -> anyhow::Result<CreditProgress> {
        let rates = Rates::new(self.db.clone(), time());
        rates.settle_default(self.config.network).await?;
        if rates.current().await?.is_none() {
            warn!(
                "there is no rate for the coin, so that no invoice can be paid: set one with `chainnet rate set`"
            );
        }
        let settings = CreditSettings {
            may_rewind: self.config.network == Network::Devnet,
            ..CreditSettings::default()
        };
        let crediting = Crediting::new(self.db.clone(), self.chain.client.clone(), settings, time());
        let progress = CreditProgress::follow(crediting.credited());
        let metrics = WebhookMetrics::default();
        let counted = metrics.clone();
        self.metrics.add(move |out| encode_registry(out, &counted.registry().lock()));
        let worker = Worker::new(WorkerParts {
            db: self.db.clone(),
            sender: tools.sender.clone(),
            keys: tools.sealing.clone(),
            clock: time(),
            bell: tools.bell.clone(),
            metrics,
            settings: WorkerSettings::default(),
        });
        parts.start("delivering events", |stop| async move {
            worker.run(stop).await;
            Ok(())
        });
        let ringing = ring_on_change(crediting.credited(), tools.bell.clone());
        parts.start("crediting payments", |stop| async move {
            tokio::join!(crediting.run(stop), ringing);
            Ok(())
        });
        self.start_reconciling(progress.clone(), parts);
        self.start_portal_figures(&progress, parts);
        Ok(progress)
    }

    /// Compares the chain with the books every hour.
    fn start_reconciling(&self, progress: CreditProgress, parts: &mut Parts) {
        let contracts = &self.config.deployment().contracts;
        let places = (contracts.platform_fees, contracts.platform_checkout);
        let reconciler =
            Reconciler::new(self.db.clone(), self.chain.client.clone(), places, progress, time());
        let reconciler = Arc::new(reconciler);
        let counted = reconciler.clone();
        self.metrics.add(move |out| encode_registry(out, &counted.registry().lock()));
        parts.start("comparing chain and books", |stop| async move {
            reconciler.run(stop).await;
            Ok(())
        });
    }

    /// Keeps what the handlers rely on in order, and makes what they work with. `progress` is how far crediting is, wherever it
    /// happens; `stop` ends the streams of those who watch a payment.
    pub(crate) fn start_portal(
        &self,
        tools: PortalTools,
        progress: CreditProgress,
        stop: CancellationToken,
        parts: &mut Parts,
    ) -> Portal {
        let deployment = self.deployment;
        let (db, chain, chain_id) = (self.db, &self.chain.client, deployment.chain_id);
        let pages = deployment.urls.explorer.clone();
        let settings = SessionSettings { public_url: pages.clone(), chain_id };
        let sessions = Arc::new(Sessions::new(db.clone(), chain.clone(), time(), settings));
        let PortalTools { keys, sealing, guard, sender, bell } = tools;
        self.start_housekeeping(sessions.clone(), keys.clone(), parts);
        let place = CheckoutPlace { chain_id, contract: deployment.contracts.platform_checkout, pages };
        let orders = OrderSettings::new(chain_id, deployment.contracts.platform_fees);
        Portal {
            sessions,
            origins: self.portal_origins(),
            challenges: Portal::challenge_limits(&self.counting),
            orders: Orders::new(db.clone(), chain.clone(), keys.clone(), progress.clone(), orders, time()),
            keys,
            invoice_pages: InvoicePages::default(),
            invoices: Invoices::new(db.clone(), chain.heads(), time()),
            checkout: Checkout::new(db.clone(), chain.clone(), place, time()),
            rates: Rates::new(db.clone(), time()),
            dashboards: Dashboards::new(db.clone(), time()),
            quote_limits: QuoteLimits::new(&self.counting),
            streams: PayStreams::new(progress, stop),
            webhooks: Webhooks::new(db.clone(), guard, sender, sealing, time(), bell),
        }
    }

    fn start_housekeeping(&self, sessions: Arc<Sessions>, keys: Arc<DeveloperKeys>, parts: &mut Parts) {
        parts.start("forgetting old sessions", |stop| async move {
            sessions.run(stop).await;
            Ok(())
        });
        parts.start("the use of developer keys", |stop| async move {
            keys.run(stop).await;
            Ok(())
        });
        let answers = KeptAnswers::new(self.db.clone(), time());
        parts.start("forgetting old answers", |stop| async move {
            answers.run(stop).await;
            Ok(())
        });
    }

    /// A secret that is configured, or that belongs to the data directory of somebody who tries things out.
    fn portal_secret(&self, given: Option<&SecretKey>, name: &str) -> anyhow::Result<Option<B256>> {
        if let Some(given) = given {
            return Ok(Some(given.expose()));
        }
        if self.config.network != Network::Devnet && self.chain.node.is_none() {
            return Ok(None);
        }
        keys::own_secret(&self.config.data, name).map(Some)
    }

    fn guard_settings(&self) -> GuardSettings {
        let urls = &self.deployment.urls;
        let own = [
            Some(&urls.api),
            Some(&urls.rpc),
            Some(&urls.explorer),
            urls.faucet.as_ref(),
            urls.site.as_ref(),
        ];
        GuardSettings {
            allow_private: self.config.portal.webhook_allow_private,
            own_hosts: own.into_iter().flatten().map(|url| url.host().to_owned()).collect(),
            ..GuardSettings::default()
        }
    }

    /// Whose pages may change something with the cookie of a session: our own, and those that may read our answers.
    fn portal_origins(&self) -> Vec<HeaderValue> {
        let urls = &self.deployment.urls;
        let mut origins = vec![urls.explorer.origin(), urls.api.origin()];
        origins.extend(urls.site.as_ref().map(WebUrl::origin));
        match &self.config.api.cors {
            Origins::Any => {}
            Origins::Only(listed) => origins.extend(listed.iter().cloned()),
        }
        // An origin is ASCII, so that none is lost here.
        origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok()).collect()
    }
}

/// The machine's time.
fn time() -> Clock {
    Arc::new(Timestamp::now)
}
