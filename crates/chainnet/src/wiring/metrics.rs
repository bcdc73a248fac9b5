//! The port for operators as a part of a process, and the figures that are asked for now and then.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use faucet::Faucet;
use jiff::Timestamp;
use merchant::CreditProgress;
use tokio::net::TcpListener;

use super::{Wiring, clock};
use crate::{
    metrics::{self, Probe, chain_figures, database_figures, portal_figures},
    parts::Parts,
};

/// How often the faucet's funds are looked at.
const FAUCET_EVERY: Duration = Duration::from_secs(15);
/// How often open invoices are counted.
const INVOICES_EVERY: Duration = Duration::from_secs(60);

impl Wiring<'_> {
    /// Serves operators: the chain's and the database's figures, and those that parts add when they are started.
    pub(crate) fn start_metrics(&self, listener: TcpListener, role: &'static str, parts: &mut Parts) {
        chain_figures(self.metrics, &self.chain.client, &self.chain.upstream);
        database_figures(self.metrics, self.db);
        if let Some(node) = &self.chain.node {
            node.metrics().add_to(self.metrics);
        }
        let probe = Probe {
            network: self.config.network.name(),
            role,
            started_at: Timestamp::now(),
            chain: self.chain.client.clone(),
            db: Some(self.db.clone()),
            is_draining: parts.draining(),
        };
        let metrics = self.metrics.clone();
        parts.start("metrics", |stop| async move {
            metrics::serve(listener, metrics, probe, stop).await;
            Ok(())
        });
    }

    /// Looks at the faucet's funds now and then: its figures are of the last look.
    pub(super) fn start_faucet_figures(&self, faucet: Faucet, parts: &mut Parts) {
        let now = clock();
        parts.start("the faucet's figures", |stop| async move {
            let looking = async {
                loop {
                    faucet.health(now()).await;
                    tokio::time::sleep(FAUCET_EVERY).await;
                }
            };
            stop.run_until_cancelled(looking).await;
            Ok(())
        });
    }

    /// How far payments are credited, and how many invoices are open.
    pub(super) fn start_portal_figures(&self, progress: &CreditProgress, parts: &mut Parts) {
        portal_figures(self.metrics, progress, self.chain.client.clone());
        let open = Arc::new(AtomicI64::new(-1));
        let counted = open.clone();
        self.metrics.add_figures("portal", move |figures| {
            let help = "Invoices that wait to be paid, as of the last minute; -1 while that is not known";
            figures.gauge("open_invoices", help, open.load(Ordering::Relaxed) as f64)
        });
        let db = self.db.clone();
        parts.start("the portal's figures", |stop| async move {
            let counting = async {
                loop {
                    let invoices = db.count_open_invoices().await.ok();
                    let invoices = invoices.and_then(|count| i64::try_from(count).ok());
                    counted.store(invoices.unwrap_or(-1), Ordering::Relaxed);
                    tokio::time::sleep(INVOICES_EVERY).await;
                }
            };
            stop.run_until_cancelled(counting).await;
            Ok(())
        });
    }
}
