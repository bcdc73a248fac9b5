//! Webhooks as a part of a process: the service that the portal's handlers use, and the worker that delivers.

use std::sync::Arc;

use access::Clock;
use alloy_primitives::B256;
use anyhow::Context;
use merchant::CreditProgress;
use tokio::sync::Notify;
use webhooks::{
    Guard, GuardSettings, SealingKeys, Sender, SenderLimits, SystemResolver, WebhookMetrics, Webhooks,
    Worker, WorkerParts, WorkerSettings, ring_on_change,
};

use super::Wiring;
use crate::parts::Parts;

/// A key that follows this one has the next version.
const KEY_VERSION: u8 = 1;

impl Wiring<'_> {
    /// Webhooks, and their worker, which is woken by what is credited.
    pub(super) fn start_webhooks(
        &self,
        key: B256,
        progress: &CreditProgress,
        clock: Clock,
        parts: &mut Parts,
    ) -> anyhow::Result<Webhooks> {
        let keys = SealingKeys::new([(KEY_VERSION, key.0)]).context("secrets of webhooks cannot be kept")?;
        let (keys, bell) = (Arc::new(keys), Arc::new(Notify::new()));
        let guard = Arc::new(Guard::new(self.guard_settings(), Arc::new(SystemResolver)));
        let sender = Sender::new(guard.clone(), SenderLimits::default());
        let worker = Worker::new(WorkerParts {
            db: self.db.clone(),
            sender: sender.clone(),
            keys: keys.clone(),
            clock: clock.clone(),
            bell: bell.clone(),
            metrics: WebhookMetrics::default(),
            settings: WorkerSettings::default(),
        });
        let ringing = ring_on_change(progress.subscribe(), bell.clone());
        parts.start("webhooks", |stop| async move {
            tokio::select! {
                () = worker.run(stop) => {}
                // It ends with who credits; the worker looks by itself, too.
                () = async { ringing.await; std::future::pending().await } => {}
            }
            Ok(())
        });
        Ok(Webhooks::new(self.db.clone(), guard, sender, keys, clock, bell))
    }

    /// Where webhooks may lead: not to this network's own servers.
    fn guard_settings(&self) -> GuardSettings {
        let urls = &self.config.deployment().urls;
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
}
