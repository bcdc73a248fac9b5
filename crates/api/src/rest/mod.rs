//! REST: the list of all routes.

mod accounts;
mod blocks;
mod chain;
mod health;
mod network;
mod segment;
mod transactions;

use std::sync::Arc;

use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{code::Code, state::ApiState};

/// Every route, with its description.
pub(crate) fn routes() -> OpenApiRouter<Arc<ApiState>> {
    OpenApiRouter::new()
        .routes(routes!(health::get_health))
        .routes(routes!(health::get_readiness))
        .routes(routes!(chain::get_chain))
        .routes(routes!(blocks::list_blocks))
        .routes(routes!(blocks::get_latest_block))
        .routes(routes!(blocks::get_block))
        .routes(routes!(transactions::get_transaction))
        .routes(routes!(accounts::get_account))
        .routes(routes!(network::get_network))
        .routes(routes!(network::list_contracts))
        .routes(routes!(network::list_networks))
}

/// The refusals that an operation has beside those every operation has, by operation id.
pub(crate) const REFUSALS: &[(&str, &[Code])] = &[
    ("get_chain", &[Code::ChainUnavailable]),
    (
        "list_blocks",
        &[
            Code::InvalidLimit,
            Code::InvalidCursor,
            Code::InvalidParameter,
            Code::UnknownParameter,
            Code::ChainUnavailable,
        ],
    ),
    ("get_latest_block", &[Code::InvalidParameter, Code::UnknownParameter, Code::ChainUnavailable]),
    (
        "get_block",
        &[
            Code::InvalidBlockNumber,
            Code::InvalidParameter,
            Code::UnknownParameter,
            Code::BlockNotFound,
            Code::ChainUnavailable,
        ],
    ),
    ("get_transaction", &[Code::InvalidHash, Code::TransactionNotFound, Code::ChainUnavailable]),
    ("get_account", &[Code::InvalidAddress, Code::ChainUnavailable]),
];
