//! `/openapi.json`, and a page to read it. No key is needed to read what the faucet is.

use std::sync::Arc;

use axum::extract::State;

use crate::{
    describe::Description,
    edge::answer::{Answer, Holds},
};

/// OpenAPI specification
///
/// This document.
#[utoipa::path(
    get, path = "/openapi.json", tag = "Description",
    responses((status = 200, description = "An OpenAPI 3.1 document", content_type = "application/json", body = Object))
)]
pub(super) async fn get_openapi(State(description): State<Arc<Description>>) -> Answer {
    Answer::rendered(description.openapi.clone(), Holds::Process)
}

/// The page that problems lead to. Not an operation of the interface.
pub(super) async fn get_docs(State(description): State<Arc<Description>>) -> Answer {
    Answer::rendered(description.docs.clone(), Holds::Process)
}
