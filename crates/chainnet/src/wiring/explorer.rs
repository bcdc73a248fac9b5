//! The explorer as a part of a process.

use std::sync::Arc;

use access::Keyring;
use api::{ConnectionLimits, Edge};
use domain::Network;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing::warn;
use web::{Explorer, Live, Site, Visitors};

use super::{MadeApi, Wiring};
use crate::{demo::Demo, parts::Parts};

impl Wiring<'_> {
    /// Shows a fresh devnet in use, where the chain runs inside and nobody has said no.
    pub(crate) fn start_demo(&self, api: &MadeApi, faucet: Option<Edge>, parts: &mut Parts) {
        let is_own_devnet = self.config.network == Network::Devnet && self.chain.node.is_some();
        if !is_own_devnet || !self.config.node.demo {
            return;
        }
        let demo = Demo { api: api.state.clone(), faucet };
        parts.start("the demonstration", |stop| async move {
            if let Some(Err(error)) = stop.run_until_cancelled(demo.play()).await {
                warn!("the demonstration ended early: {error:#}");
            }
            stop.cancelled().await;
            Ok(())
        });
    }

    /// Serves the pages, and the API and the faucet's claims under their origin.
    pub(crate) fn start_explorer(
        &self,
        listener: TcpListener,
        api: &MadeApi,
        faucet: Option<Edge>,
        keyring: Arc<Keyring>,
        parts: &mut Parts,
    ) {
        let stop = CancellationToken::new();
        // Whoever watches a page would keep the explorer from ending.
        let watching = stop.child_token();
        let internal = self.config.access.internal.clone();
        let site = Site {
            api: api.state.clone(),
            edge: api.edge.clone(),
            faucet,
            visitors: match self.config.network {
                Network::Devnet => Visitors::Invited { keyring, internal },
                Network::Testnet | Network::Mainnet => Visitors::Everybody,
            },
            live: Live::new(watching),
        };
        let live = site.live.clone();
        let trusted_proxies = self.config.api.trusted_proxies.clone();
        let limits =
            ConnectionLimits { trusted_proxies: trusted_proxies.clone(), ..ConnectionLimits::default() };
        let explorer = Explorer::new(site, trusted_proxies);
        self.metrics.add_collector("explorer", explorer.metrics());
        self.metrics.add_figures("explorer", move |figures| {
            figures.gauge("watchers", "Pages that are open and live", live.watchers() as f64)
        });
        parts.start_server("the explorer", stop.clone(), async move {
            let follower = explorer.clone();
            let answer = move |peer, request| {
                let explorer = explorer.clone();
                async move { explorer.answer(peer, request).await }
            };
            tokio::join!(follower.follow(), api::serve_with(listener, answer, limits, stop));
            Ok(())
        });
    }
}
