//! The interface described: the OpenAPI document from the handlers, a page to read it, and the GraphQL type definitions.
//! Made once, at the start.

mod docs;
mod example;
pub(crate) mod markup;
mod openapi;

use std::sync::Arc;

use hyper::header::HeaderValue;
use utoipa::openapi::OpenApi;

use crate::{
    edge::answer::{Holds, JSON, Rendered},
    graphql,
};

/// The interface described.
pub(crate) struct Description {
    pub(crate) openapi: Arc<Rendered>,
    pub(crate) docs: Arc<Rendered>,
    pub(crate) graphql_schema: Arc<Rendered>,
}

impl Description {
    /// Describes the handlers.
    pub(crate) fn new(handlers: OpenApi) -> Self {
        let document = openapi::document(handlers);
        let html = HeaderValue::from_static("text/html; charset=utf-8");
        let plain = HeaderValue::from_static("text/plain; charset=utf-8");
        let rendered = |body: String, media_type| Rendered::new(body.into(), media_type, Holds::Process);
        Self {
            openapi: Arc::new(rendered(print(&document), JSON)),
            docs: Arc::new(rendered(docs::render(&document), html).with_policy(markup::PAGE_POLICY)),
            graphql_schema: Arc::new(rendered(graphql::sdl(), plain)),
        }
    }
}

/// The OpenAPI document as text.
pub(crate) fn openapi_text(handlers: OpenApi) -> String {
    print(&openapi::document(handlers))
}

fn print(document: &serde_json::Value) -> String {
    // A tree of values always prints.
    serde_json::to_string_pretty(document).unwrap_or_default() + "\n"
}
