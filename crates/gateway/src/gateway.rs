//! What the parts of the gateway share.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use access::{Clock, Keyring, Limiter, Subject};
use chain::RawUpstream;
use ipnet::IpNet;
use listen::Budget;
use parking_lot::Mutex;
use prometheus_client::registry::Registry;
use tokio::sync::broadcast;

use crate::{
    cache::Caches,
    config::GatewayConfig,
    feed::Hub,
    filters::{Filters, RedisFilters},
    head::{Served, ServedHead},
    local::LocalAnswers,
    metrics::Metrics,
    socket::{self, Seats},
    warm::{ChainNews, Follower, Window},
};

/// Blocks that a listener to the chain's news may be behind: more than the follower tells of at once after an outage.
const NEWS_BACKLOG: usize = 2048;

/// Who may ask, and how often.
#[derive(Clone)]
pub struct AccessParts {
    /// The keys, for networks that need one.
    pub keyring: Arc<Keyring>,
    /// Counts requests.
    pub limiter: Limiter,
    /// Proxies that are believed when they say for whom they ask.
    pub trusted_proxies: Vec<IpNet>,
    /// Tells the time.
    pub clock: Clock,
}

/// The gateway.
pub struct Gateway {
    pub(crate) config: GatewayConfig,
    pub(crate) upstream: Arc<dyn RawUpstream>,
    pub(crate) access: AccessParts,
    pub(crate) head: ServedHead,
    pub(crate) caches: Caches,
    pub(crate) window: Window,
    pub(crate) local: LocalAnswers,
    pub(crate) metrics: Metrics,
    /// Requests under way, by caller.
    pub(crate) places: Budget<Subject>,
    /// Bytes of long requests that are not answered and of long answers that are not sent, by caller.
    pub(crate) buffers: Budget<Subject>,
    /// Bad keys by address, of this process alone: who guesses is told to wait without asking anybody.
    pub(crate) denials: Limiter,
    /// Blocks as they become known, for whoever pushes them on.
    pub(crate) news: broadcast::Sender<ChainNews>,
    /// What is told to those who listen.
    pub(crate) hub: Arc<Hub>,
    pub(crate) filters: Filters,
    /// The open WebSockets.
    pub(crate) seats: Arc<Seats>,
    is_draining: AtomicBool,
}

impl Gateway {
    /// A gateway to these nodes that keeps callers' filters to itself. Nothing is answered before [`crate::serve`]
    /// has seen a head.
    pub fn new(config: GatewayConfig, upstream: Arc<dyn RawUpstream>, access: AccessParts) -> Arc<Self> {
        let filters = Filters::in_memory(Arc::clone(&access.clock));
        Self::with(config, upstream, access, filters)
    }

    /// One of several gateways that share callers' filters.
    pub fn replica(
        config: GatewayConfig,
        upstream: Arc<dyn RawUpstream>,
        access: AccessParts,
        filters: RedisFilters,
    ) -> Arc<Self> {
        Self::with(config, upstream, access, Filters::in_redis(filters))
    }

    fn with(
        config: GatewayConfig,
        upstream: Arc<dyn RawUpstream>,
        access: AccessParts,
        filters: Filters,
    ) -> Arc<Self> {
        let gateway = Self {
            head: ServedHead::default(),
            caches: Caches::new(config.final_cache_bytes, config.head_cache_bytes),
            window: Window::default(),
            local: LocalAnswers::new(&config),
            metrics: Metrics::new(),
            places: Budget::per_party(config.limits.max_concurrent),
            buffers: Budget::new(config.limits.max_buffer_per_caller(), config.limits.max_buffer_bytes),
            denials: Limiter::local(),
            news: broadcast::Sender::new(NEWS_BACKLOG),
            hub: Arc::new(Hub::new(Arc::clone(&access.clock))),
            filters,
            seats: Arc::new(Seats::new(config.limits.max_sockets_per_caller)),
            is_draining: AtomicBool::new(false),
            config,
            upstream,
            access,
        };
        Arc::new(gateway)
    }

    /// Follows the chain for as long as it is polled. [`crate::serve`] does that.
    pub(crate) async fn run(&self) {
        let news = self.news.subscribe();
        tokio::select! {
            () = Follower::new(self).run() => {}
            () = self.hub.run(news, &*self.upstream) => {}
            () = socket::watch_keys(self) => {}
        }
    }

    /// Serves another head: what held until the last one is dropped as a whole.
    pub(crate) fn serve_head(&self, served: Served) {
        self.metrics.head(served.number, self.caches.weights(), &self.upstream.nodes());
        self.head.set(served);
        self.caches.next_head();
    }

    /// Forgets everything that was kept, because blocks were taken back.
    pub(crate) fn forget(&self) {
        self.caches.clear();
        self.window.clear();
    }

    /// Whether there is a head that is young enough.
    pub(crate) fn is_ready(&self) -> bool {
        self.head.get().is_some_and(|head| head.since.elapsed() < self.config.stale_after)
    }

    /// The end is near: from now on `/ready` says no, so that whoever spreads traffic turns away, and every answer asks for
    /// another connection. All else is as before.
    pub fn drain(&self) {
        self.is_draining.store(true, Ordering::Relaxed);
    }

    /// Whether the end is near.
    pub(crate) fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::Relaxed)
    }

    /// The metrics, to be served where operators look.
    pub fn registry(&self) -> &Mutex<Registry> {
        self.metrics.registry()
    }
}
