//! The machines' edge: REST under `/api/v1`, GraphQL at `/graphql`, the faucet on a port of its own, and the OpenAPI documents
//! made from the handlers.
//!
//! The crate turns requests into calls of the crates below and their values into answers. It decides nothing about the
//! chain, the validator program or money, and holds no SQL. [`ApiState`] is what it works with; [`api`] makes an [`Edge`]
//! of it, which answers requests, and [`serve()`] puts that on a socket; [`FaucetState`] and [`faucet()`] do the same.

pub mod clock;
pub mod code;
mod describe;
mod edge;
mod extract;
mod faucet;
mod graphql;
pub mod meaning;
mod metrics;
mod portal;
mod problem;
mod rest;
pub mod search;
mod serve;
mod sockets;
mod state;
mod view;

use std::sync::Arc;

pub use self::faucet::{FaucetAccess, FaucetState, faucet, faucet_openapi_document};
pub use edge::{
    AnswerBody, CorsOrigins, Edge, EdgeConfig, encoding::encode, loggable, request_id::RequestIds,
};
pub use extract::path::{BlockName, find_block, find_hash};
pub use metrics::HttpMetrics;
pub use portal::{InvoicePages, PayStreams, Portal, QuoteLimits, qr_picture};
pub use problem::Problem;
pub use serve::{ConnectionLimits, serve, serve_with};
pub use state::ApiState;

use crate::{
    code::Code,
    describe::Description,
    edge::{cache::AnswerCache, limiter::RequestLimiter},
    sockets::Sockets,
};

/// The API over `state`.
pub fn api(state: Arc<ApiState>, config: EdgeConfig) -> Edge {
    let limiter = RequestLimiter::new("rest", &config);
    let limiter = Arc::new(match &state.portal {
        Some(portal) => limiter.with_keys(portal.keys.clone(), &config),
        None => limiter,
    });
    let cache = Arc::new(AnswerCache::new(state.chain.clone(), config.cache_bytes));
    let sockets = Sockets::new(config.stop.clone());
    let (router, handlers) = rest::routes().split_for_parts();
    let description = Arc::new(Description::new(handlers, &rest::SURFACE));
    let router = router
        .with_state(rest::Shared { state: state.clone(), description })
        .merge(graphql::routes(state.clone(), cache.clone(), limiter.clone(), sockets.clone()))
        .fallback(not_found);
    let metrics = HttpMetrics::new("/api/v1/", ROUTES);
    Edge::new(router, cache, limiter, state.clock.clone(), config, metrics).with_sockets(sockets)
}

/// First words of paths that are counted apart.
const ROUTES: &[&str] = &[
    "chain",
    "blocks",
    "transactions",
    "accounts",
    "fees",
    "network",
    "search",
    "validators",
    "platform-dev",
    "graphql",
    "docs",
    "openapi.json",
    "health",
    "ready",
    "other",
];

async fn not_found() -> Problem {
    Problem::new(Code::NotFound, Code::NotFound.meaning())
}

/// The OpenAPI document, as `GET /api/v1/openapi.json` answers it.
pub fn openapi_document() -> String {
    describe::openapi_text(rest::routes().into_openapi(), &rest::SURFACE)
}

/// The GraphQL type definitions, as `GET /api/v1/graphql-schema` answers them.
pub fn graphql_schema() -> String {
    graphql::sdl()
}
