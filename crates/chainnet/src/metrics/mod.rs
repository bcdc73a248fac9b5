//! What operators see at `/metrics`: the registries of all parts of this process, and figures that are looked up when
//! somebody asks.
//!
//! Label sets are fixed: values come from lists in this program or from the configuration, never from a caller. Nothing is
//! asked of a database or a node for a scrape; what needs that is asked for now and then by whoever owns it.

mod figures;
mod process;
mod server;
mod sources;

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use prometheus_client::{
    collector::Collector,
    encoding::text::{encode_eof, encode_registry},
    registry::Registry,
};

pub(crate) use self::{
    figures::Figures,
    server::{Probe, serve},
    sources::{
        DevchainSource, chain_figures, database_figures, index_figures, keyring_figures, portal_figures,
    },
};
use self::{figures::LookedUp, process::ProcessFigures};

/// Writes what one part has to tell.
type Source = Box<dyn Fn(&mut String) -> fmt::Result + Send + Sync>;

/// Everything that is served at `/metrics`. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Metrics {
    sources: Arc<Mutex<Vec<Source>>>,
}

impl Metrics {
    /// The metrics of a process in this role, with those of the process itself.
    pub(crate) fn new(network: &'static str, role: &'static str) -> Self {
        let metrics = Self::default();
        let process = ProcessFigures::new(network, role);
        metrics.add_figures("", move |figures| process.write(figures));
        metrics
    }

    /// Serves the registry of a part, where the part is started:
    /// `metrics.add(move |out| encode_registry(out, &part.registry().lock()))`.
    pub(crate) fn add(&self, source: impl Fn(&mut String) -> fmt::Result + Send + Sync + 'static) {
        self.sources.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(source));
    }

    /// Serves what a collector writes under a prefix.
    pub(crate) fn add_collector(&self, prefix: &'static str, collector: impl Collector) {
        let mut registry =
            if prefix.is_empty() { Registry::default() } else { Registry::with_prefix(prefix) };
        registry.register_collector(Box::new(collector));
        self.add(move |out| encode_registry(out, &registry));
    }

    /// Serves figures that are looked up for each scrape.
    pub(crate) fn add_figures(
        &self,
        prefix: &'static str,
        look: impl Fn(&mut Figures<'_>) -> fmt::Result + Send + Sync + 'static,
    ) {
        self.add_collector(prefix, LookedUp(look));
    }

    /// Everything as OpenMetrics text.
    pub(crate) fn text(&self) -> Result<String, fmt::Error> {
        let mut text = String::with_capacity(64 * 1024);
        for source in &*self.sources.lock().unwrap_or_else(PoisonError::into_inner) {
            source(&mut text)?;
        }
        encode_eof(&mut text)?;
        Ok(text)
    }
}
