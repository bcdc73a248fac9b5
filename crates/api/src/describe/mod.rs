//! An interface described: the OpenAPI document from the handlers, and a page to read it. Made once, at the start.

mod docs;
mod example;
pub(crate) mod markup;
mod openapi;

use std::sync::Arc;

use hyper::header::HeaderValue;
use serde_json::Value;
use utoipa::openapi::OpenApi;

use crate::{
    code::Code,
    edge::answer::{Answer, Holds, JSON, Rendered},
};

/// An operation's id, and its refusals.
pub(crate) type Refusals = (&'static str, &'static [Code]);

/// What an interface says of itself beyond its handlers.
pub(crate) struct Surface {
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    /// What the page begins with, in HTML.
    pub(crate) introduction: &'static str,
    /// Where the parts of a large interface have pages of their own; none for a small one, which is a single page.
    pub(crate) parts: Option<&'static str>,
    /// The refusals that operations have beside those every operation has: one list of each part of the interface.
    pub(crate) refusals: &'static [&'static [Refusals]],
    /// Adds what does not come from handlers.
    pub(crate) extend: fn(&mut Value),
}

/// An interface described.
pub(crate) struct Description {
    pub(crate) openapi: Arc<Rendered>,
    pub(crate) docs: Arc<Rendered>,
    parts: Vec<(String, Arc<Rendered>)>,
}

impl Description {
    /// Describes the handlers.
    pub(crate) fn new(handlers: OpenApi, surface: &Surface) -> Self {
        let document = openapi::document(handlers, surface);
        let html = HeaderValue::from_static("text/html; charset=utf-8");
        let rendered = |body: String, media_type| Rendered::new(body.into(), media_type, Holds::Process);
        let page = |body| Arc::new(rendered(body, html.clone()).with_policy(markup::PAGE_POLICY));
        let pages = docs::render(&document, surface);
        Self {
            openapi: Arc::new(rendered(print(&document), JSON)),
            docs: page(pages.first),
            parts: pages.parts.into_iter().map(|(name, body)| (name, page(body))).collect(),
        }
    }

    /// The page of a part.
    pub(crate) fn part(&self, name: &str) -> Option<Arc<Rendered>> {
        self.parts.iter().find(|(known, _)| known == name).map(|(_, page)| page.clone())
    }
}

/// The OpenAPI document as text.
pub(crate) fn openapi_text(handlers: OpenApi, surface: &Surface) -> String {
    print(&openapi::document(handlers, surface))
}

/// The style of the pages. Not an operation of an interface.
pub(crate) async fn get_style() -> Answer {
    Answer::text(include_str!("../assets/style.css"), "text/css; charset=utf-8", Holds::Process)
}

fn print(document: &Value) -> String {
    // A tree of values always prints.
    serde_json::to_string_pretty(document).unwrap_or_default() + "\n"
}
