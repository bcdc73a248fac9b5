//! `/api/v1/openapi.json`, `/api/v1/docs` and `/api/v1/graphql-schema`: the interface described.

use std::sync::Arc;

use axum::{extract::State, response::Redirect};

use super::segment::Segment;
use crate::{
    code::Code,
    describe::Description,
    edge::answer::{Answer, Holds},
    graphql,
    problem::Problem,
    state::ApiState,
};

/// OpenAPI specification
///
/// This document.
#[utoipa::path(
    get, path = "/api/v1/openapi.json", tag = "Description",
    responses((status = 200, description = "An OpenAPI 3.1 document", content_type = "application/json", body = Object))
)]
pub(super) async fn get_openapi(State(description): State<Arc<Description>>) -> Answer {
    Answer::rendered(description.openapi.clone(), Holds::Process)
}

/// Documentation page
///
/// Every operation, parameter, example and error code, for people to read.
#[utoipa::path(
    get, path = "/api/v1/docs", tag = "Description",
    responses((status = 200, description = "A page", content_type = "text/html", body = String))
)]
pub(super) async fn get_docs(State(description): State<Arc<Description>>) -> Answer {
    Answer::rendered(description.docs.clone(), Holds::Process)
}

/// The page of one part of the documentation. Not an operation of the interface.
pub(super) async fn get_docs_part(
    State(description): State<Arc<Description>>,
    Segment(part): Segment,
) -> Result<Answer, Problem> {
    let page =
        description.part(&part).ok_or_else(|| Problem::new(Code::NotFound, Code::NotFound.meaning()))?;
    Ok(Answer::rendered(page, Holds::Process))
}

/// GraphQL type definitions
///
/// In GraphQL's schema definition language.
#[utoipa::path(
    get, path = "/api/v1/graphql-schema", tag = "Description",
    responses((status = 200, description = "The type definitions", content_type = "text/plain", body = String))
)]
pub(super) async fn get_graphql_schema() -> Answer {
    Answer::text(graphql::sdl(), "text/plain; charset=utf-8", Holds::Process)
}

/// Whoever opens the API's address in a browser is led to the explorer. Not an operation of the interface.
pub(super) async fn lead_to_pages(State(state): State<Arc<ApiState>>) -> Redirect {
    Redirect::temporary(state.deployment.urls.explorer.as_str())
}
