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
mod portal;
mod problem;
mod rest;
pub mod search;
mod serve;
mod state;
mod view;

use std::sync::Arc;

pub use self::faucet::{FaucetAccess, FaucetState, faucet, faucet_openapi_document};
pub use edge::{AnswerBody, CorsOrigins, Edge, EdgeConfig, encoding::encode, loggable};
pub use extract::path::{BlockName, find_block, find_hash};
pub use portal::{InvoicePages, PayStreams, Portal, QuoteLimits, qr_picture};
pub use problem::Problem;
pub use serve::{serve, serve_with};
pub use state::ApiState;

use access::WindowLimiter;

use crate::{code::Code, describe::Description, edge::cache::AnswerCache};

/// The API over `state`.
pub fn api(state: Arc<ApiState>, config: EdgeConfig) -> Edge {
    let limiter = Arc::new(WindowLimiter::new(config.requests_per_minute));
    let cache = Arc::new(AnswerCache::new(state.chain.clone(), config.cache_bytes));
    let (router, handlers) = rest::routes().split_for_parts();
    let description = Arc::new(Description::new(handlers, &rest::SURFACE));
    let router = router
        .with_state(rest::Shared { state: state.clone(), description })
        .merge(graphql::routes(state.clone(), cache.clone(), limiter.clone()))
        .fallback(not_found);
    Edge::new(router, cache, limiter, state.clock.clone(), config)
}

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
