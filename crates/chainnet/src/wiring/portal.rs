//! The developer and merchant portal as a part of a process.

use std::sync::Arc;

use access::{Clock, WindowLimiter};
use accounts::{DeveloperKeys, Pepper, Peppers, SessionSettings, Sessions};
use alloy_primitives::B256;
use anyhow::Context;
use api::{PayStreams, Portal, QuoteLimits};
use hyper::header::HeaderValue;
use jiff::Timestamp;
use merchant::{Checkout, CheckoutPlace, CreditProgress, Dashboards, Invoices, OrderSettings, Orders, Rates};
use tokio_util::sync::CancellationToken;

use super::Wiring;
use crate::{
    config::{Origins, SecretKey},
    keys,
    parts::Parts,
};

/// A pepper that follows this one has the next version.
const PEPPER_VERSION: u16 = 1;

impl Wiring<'_> {
    /// The portal, and what it does in the background; nothing where its secrets are not configured. Whoever watches a
    /// payment link is let go with `ending`.
    pub(super) fn start_portal(
        &self,
        ending: CancellationToken,
        parts: &mut Parts,
    ) -> anyhow::Result<Option<Portal>> {
        let config = self.config;
        let pepper = match &config.portal.pepper {
            Some(pepper) => Some(SecretKey::expose(pepper)),
            None => keys::portal_secret(config.network, &config.data, "pepper")?,
        };
        let seal = match &config.portal.webhook_key {
            Some(key) => Some(SecretKey::expose(key)),
            None => keys::portal_secret(config.network, &config.data, "webhook")?,
        };
        let (Some(pepper), Some(seal)) = (pepper, seal) else { return Ok(None) };
        let clock: Clock = Arc::new(Timestamp::now);
        let keys = self.developer_keys(pepper, clock.clone(), parts)?;
        let sessions = self.sessions(clock.clone(), parts);
        let progress = CreditProgress::poll(self.db.clone());
        let orders = self.orders(keys.clone(), progress.clone(), clock.clone());
        let webhooks = self.start_webhooks(seal, &progress, clock.clone(), parts)?;
        Ok(Some(Portal {
            sessions,
            webhooks,
            keys,
            orders,
            origins: self.portal_origins(),
            challenges: WindowLimiter::new(Portal::CHALLENGES_PER_MINUTE),
            invoices: Invoices::new(self.db.clone(), clock.clone()),
            checkout: self.checkout(clock.clone()),
            rates: Rates::new(self.db.clone(), clock.clone()),
            dashboards: Dashboards::new(self.db.clone(), clock),
            quote_limits: QuoteLimits::default(),
            streams: PayStreams::new(progress, ending),
        }))
    }

    fn orders(&self, keys: Arc<DeveloperKeys>, progress: CreditProgress, clock: Clock) -> Orders {
        let deployment = self.config.deployment();
        let settings = OrderSettings::new(deployment.chain_id, deployment.contracts.platform_fees);
        Orders::new(self.db.clone(), self.chain.client.clone(), keys, progress, settings, clock)
    }

    fn checkout(&self, clock: Clock) -> Checkout {
        let deployment = self.config.deployment();
        let place = CheckoutPlace {
            chain_id: deployment.chain_id,
            contract: deployment.contracts.platform_checkout,
            pages: deployment.urls.explorer.clone(),
        };
        Checkout::new(self.db.clone(), self.chain.client.clone(), place, clock)
    }

    fn developer_keys(
        &self,
        pepper: B256,
        clock: Clock,
        parts: &mut Parts,
    ) -> anyhow::Result<Arc<DeveloperKeys>> {
        let pepper = Pepper::new(PEPPER_VERSION, pepper.to_vec())?;
        let peppers = Peppers::new(vec![pepper]).context("developer keys cannot be kept")?;
        let keys = Arc::new(DeveloperKeys::new(self.db.clone(), clock, peppers));
        let recording = keys.clone();
        parts.start("the use of developer keys", |stop| async move {
            recording.run(stop).await;
            Ok(())
        });
        Ok(keys)
    }

    fn sessions(&self, clock: Clock, parts: &mut Parts) -> Arc<Sessions> {
        let deployment = self.config.deployment();
        let settings =
            SessionSettings { public_url: deployment.urls.explorer.clone(), chain_id: deployment.chain_id };
        let sessions = Sessions::new(self.db.clone(), self.chain.client.clone(), clock, settings);
        let sessions = Arc::new(sessions);
        let keeping = sessions.clone();
        parts.start("wallet sessions", |stop| async move {
            keeping.run(stop).await;
            Ok(())
        });
        sessions
    }

    /// The pages that may act for a wallet: the network's own, and those whose pages may read answers.
    fn portal_origins(&self) -> Vec<HeaderValue> {
        let own = self.config.deployment().urls.explorer.origin();
        let listed = match &self.config.api.cors {
            Origins::Any => &[][..],
            Origins::Only(origins) => origins,
        };
        let origins = std::iter::once(&own).chain(listed);
        // An origin is ASCII, so that none is lost here.
        origins.filter_map(|origin| HeaderValue::from_str(origin).ok()).collect()
    }
}
