//! REST: the list of all routes.

mod accounts;
mod applications;
mod blocks;
mod chain;
mod description;
mod fees;
pub(crate) mod health;
mod network;
mod search;
pub(crate) mod segment;
mod transactions;
mod validators;

use std::sync::Arc;

use axum::{extract::FromRef, routing::get};
use serde_json::Value;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    code::Code,
    describe::{Description, Refusals, Surface, get_style},
    graphql, portal,
    state::ApiState,
};

/// What handlers may ask for.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) state: Arc<ApiState>,
    pub(crate) description: Arc<Description>,
}

impl FromRef<Shared> for Arc<ApiState> {
    fn from_ref(shared: &Shared) -> Self {
        shared.state.clone()
    }
}

impl FromRef<Shared> for Arc<Description> {
    fn from_ref(shared: &Shared) -> Self {
        shared.description.clone()
    }
}

/// Every route, with its description.
pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(health::get_health))
        .routes(routes!(health::get_readiness))
        .routes(routes!(chain::get_chain))
        .routes(routes!(blocks::list_blocks))
        .routes(routes!(blocks::get_latest_block))
        .routes(routes!(blocks::get_block))
        .routes(routes!(transactions::get_transaction))
        .routes(routes!(accounts::get_account))
        .routes(routes!(accounts::list_account_transactions))
        .routes(routes!(validators::list_validators))
        .routes(routes!(validators::get_ranking))
        .routes(routes!(validators::get_program))
        .routes(routes!(validators::get_expansion))
        .routes(routes!(validators::get_validator))
        .routes(routes!(applications::create_application))
        .routes(routes!(applications::get_application))
        .routes(routes!(applications::confirm_application_email))
        .routes(routes!(network::get_network))
        .routes(routes!(network::list_contracts))
        .routes(routes!(network::list_networks))
        .routes(routes!(fees::get_burns))
        .routes(routes!(search::search))
        .routes(routes!(description::get_openapi))
        .routes(routes!(description::get_docs))
        .routes(routes!(description::get_graphql_schema))
        .merge(portal::routes())
        .route("/", get(description::lead_to_pages))
        .route("/api/v1/docs/style.css", get(get_style))
        .route("/api/v1/docs/{part}", get(description::get_docs_part))
}

/// What the REST interface says of itself.
pub(crate) const SURFACE: Surface = Surface {
    title: "chainnet",
    description: "Chain, blocks, transactions, accounts, validators, networks and fees of an IBFT 2.0 network.",
    introduction: INTRODUCTION,
    parts: Some("/api/v1/docs"),
    refusals: &[
        REFUSALS,
        portal::session::REFUSALS,
        portal::current_key::REFUSALS,
        portal::plans::REFUSALS,
        portal::keys::REFUSALS,
        portal::orders::REFUSALS,
        portal::dashboard::REFUSALS,
        portal::invoices::REFUSALS,
        portal::pay::REFUSALS,
        portal::rates::REFUSALS,
        portal::webhooks::REFUSALS,
        portal::deliveries::REFUSALS,
        portal::summary::REFUSALS,
    ],
    extend: describe,
};

fn describe(document: &mut Value) {
    graphql::description::describe(document);
    portal::description::describe(document);
}

const INTRODUCTION: &str = "\
<p>Names are camelCase. Block numbers, counts and gas are JSON numbers; amounts of coin are decimal strings with a sibling \
in wei (<code>balance</code>, <code>balanceWei</code>); times are RFC 3339 in UTC; addresses carry their EIP-55 checksum; what is \
unknown is <code>null</code>. Lists take <code>limit</code> (1 to 100) and <code>cursor</code>, and answer with \
<code>nextCursor</code>.</p>\
<p>Blocks and mined transactions never change and may be kept for ever; other answers hold until the next block. Every answer \
has an <code>ETag</code>. Requests are limited per client and minute: see <code>RateLimit-Remaining</code>.</p>\
<p><a href=\"/\">Explorer</a> · <a href=\"/api/v1/openapi.json\">OpenAPI document</a> · <a href=\"/graphql\">Try GraphQL</a> · \
<a href=\"/api/v1/graphql-schema\">GraphQL type definitions</a> · <a href=\"#errors\">Error codes</a></p>";

/// The refusals that an operation has beside those every operation has, by operation id.
const REFUSALS: &[Refusals] = &[
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
    (
        "list_account_transactions",
        &[
            Code::InvalidAddress,
            Code::InvalidLimit,
            Code::InvalidCursor,
            Code::InvalidParameter,
            Code::UnknownParameter,
            Code::DatabaseUnavailable,
        ],
    ),
    ("list_validators", &[Code::ChainUnavailable]),
    ("get_ranking", &[Code::ChainUnavailable]),
    ("get_expansion", &[Code::ChainUnavailable]),
    (
        "get_validator",
        &[Code::InvalidAddress, Code::ValidatorNotFound, Code::ChainUnavailable, Code::DatabaseUnavailable],
    ),
    (
        "create_application",
        &[
            Code::InvalidJson,
            Code::ApplicationExists,
            Code::BodyTooLarge,
            Code::UnsupportedMediaType,
            Code::ValidationFailed,
            Code::UnknownField,
            Code::DatabaseUnavailable,
        ],
    ),
    ("get_application", &[Code::ApplicationNotFound, Code::DatabaseUnavailable]),
    (
        "confirm_application_email",
        &[
            Code::InvalidJson,
            Code::ConfirmationNotFound,
            Code::BodyTooLarge,
            Code::UnsupportedMediaType,
            Code::ValidationFailed,
            Code::UnknownField,
            Code::DatabaseUnavailable,
        ],
    ),
    ("get_burns", &[Code::InvalidParameter, Code::UnknownParameter, Code::DatabaseUnavailable]),
    ("search", &[Code::InvalidParameter, Code::UnknownParameter, Code::ChainUnavailable]),
];
