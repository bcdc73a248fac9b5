//! The pages, each in a file of its own with its words, and the list of all routes.

pub(crate) mod address;
mod block;
mod blocks;
mod burns;
mod developers;
pub(crate) mod enter;
mod faucet;
pub(crate) mod home;
mod network;
mod pay;
mod preferences;
mod search;
mod transaction;
pub(crate) mod transaction_table;
mod transactions;
pub(crate) mod trouble;
mod validators;

use std::sync::Arc;

use access::Counting;
use axum::{
    Router,
    routing::{get, post},
};

use crate::{assets, failure::Failure, live, site::Site};

pub(crate) use crate::page::go_to_origin;

/// Every route of the pages.
pub(crate) fn routes(counting: &Counting) -> Router<Arc<Site>> {
    Router::new()
        .route("/", get(home::show))
        .route("/blocks", get(blocks::show))
        .route("/block/{name}", get(block::show))
        .route("/transactions", get(transactions::show))
        .route("/tx/{hash}", get(transaction::show))
        .route("/address/{address}", get(address::show))
        .route("/address/{address}/transactions.csv", get(address::csv::download))
        .route("/search", get(search::show))
        .route("/burns", get(burns::show))
        .route("/network", get(network::show))
        .route("/live", get(live::watch))
        .merge(developers::routes())
        .route("/pay/{token}", get(pay::show).post(pay::quote))
        .route("/preferences", post(preferences::change))
        .route("/enter", post(enter::enter))
        .route("/robots.txt", get(async || "User-agent: *\nDisallow: /pay/\nDisallow: /developers\n"))
        .route("/favicon.ico", get(assets::get))
        .route("/assets/{name}", get(assets::get))
        .merge(validators::routes(counting))
        .merge(faucet::routes())
        .fallback(async || Failure::NoPage)
}
