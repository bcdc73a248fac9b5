//! The pages, each in a file of its own with its words, and the list of all routes.

mod developers;
pub(crate) mod enter;
pub(crate) mod home;
mod pay;
mod preferences;
pub(crate) mod trouble;

use std::sync::Arc;

use axum::{
    Router,
    routing::{get, post},
};

use crate::{assets, failure::Failure, live, site::Site};

pub(crate) use crate::page::go_to;

/// Every route of the pages.
pub(crate) fn routes() -> Router<Arc<Site>> {
    Router::new()
        .route("/", get(home::show))
        .route("/live", get(live::watch))
        .merge(developers::routes())
        .route("/pay/{token}", get(pay::show).post(pay::quote))
        .route("/preferences", post(preferences::change))
        .route("/enter", post(enter::enter))
        .route("/health", get(async || "ok\n"))
        .route("/robots.txt", get(async || "User-agent: *\nDisallow: /pay/\nDisallow: /developers\n"))
        .route("/favicon.ico", get(assets::get))
        .route("/assets/{name}", get(assets::get))
        .fallback(async || Failure::NoPage)
}
