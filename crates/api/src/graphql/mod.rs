//! GraphQL: one operation per `POST /graphql`, subscriptions over a WebSocket at the same path, and a page to try it.

mod admit;
pub(crate) mod description;
mod http;
mod limits;
mod page;
mod query;
mod socket;
mod subscription;

use std::sync::Arc;

use async_graphql::{EmptyMutation, Schema};
use axum::{Router, routing::get};

use self::{admit::Admission, limits::Limits, query::Query, subscription::Subscription};
use crate::{
    clock::Clock,
    edge::{cache::AnswerCache, limiter::RequestLimiter},
    sockets::Sockets,
    state::ApiState,
};

/// The schema.
pub(crate) type ApiSchema = Schema<Query, EmptyMutation, Subscription>;

/// What the GraphQL routes work with.
#[derive(Clone)]
struct Service {
    schema: ApiSchema,
    admission: Arc<Admission>,
    state: Arc<ApiState>,
    cache: Arc<AnswerCache>,
    limiter: Arc<RequestLimiter>,
    clock: Arc<dyn Clock>,
    sockets: Sockets,
}

/// The GraphQL routes.
pub(crate) fn routes(
    state: Arc<ApiState>,
    cache: Arc<AnswerCache>,
    limiter: Arc<RequestLimiter>,
    sockets: Sockets,
) -> Router {
    let schema =
        Schema::build(Query, EmptyMutation, Subscription).extension(Limits).data(state.clone()).finish();
    let admission = Arc::new(Admission::new(&schema.sdl()));
    let clock = state.clock.clone();
    Router::new()
        .route("/graphql", get(http::get_page_or_socket).post(http::post_operation))
        .route("/graphql/page.js", get(page::script))
        .with_state(Service { schema, admission, state, cache, limiter, clock, sockets })
}

/// The type definitions.
pub(crate) fn sdl() -> String {
    Schema::build(Query, EmptyMutation, Subscription).finish().sdl()
}
