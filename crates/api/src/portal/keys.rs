//! `/keys…`: buying developer keys, listing them, taking them back. For a wallet's session.
//!
//! A key is bought with two requests to the same path: the first opens an order and is answered with 402, the second
//! claims it. Its secret is in the answer to the second and nowhere else.

use std::sync::Arc;

use alloy_primitives::{Address, B256};
use axum::{body::Body, extract::State, response::Response};
use domain::portal::OrderId;
use hyper::{HeaderMap, StatusCode};
use merchant::{KeyTerms, OrderError};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::{
    answer,
    guard::{Origin, SessionWallet},
    idempotency,
    orders::{payment_required, read_id, refuse},
    view::key::{ClaimedKeyView, DeveloperKeyView, KeyAnswerView, KeyListView},
};
use crate::{
    code::Code,
    describe::Refusals,
    edge::answer::made,
    extract::{
        body,
        members::{Fault, MOST_BYTES, Members, text},
        path,
    },
    problem::Problem,
    state::ApiState,
};

/// What idempotency keys are of.
const OPEN: &str = "POST /keys";
const FIELDS: [&str; 5] = ["plan", "name", "scopes", "orderId", "txHash"];

/// Buy a key, or claim one that is paid
///
/// With `plan` an order is opened and answered with 402: send the transaction that `order.payment` describes, within half an hour.
/// With `orderId` its key is made, once the payment is in a block; the request waits up to eight seconds for that. `txHash` helps it
/// to know whether waiting is worth while. The secret is shown once. An open order takes one of the wallet's five slots for keys.
#[utoipa::path(
    post, path = "/api/v1/platform-dev/keys", tag = "Portal orders",
    params(("Idempotency-Key" = Option<String>, Header, description = "Your name for this order: the same for every try of the same purchase", pattern = "^[!-~]{1,255}$", example = "5b0f6c2e-1042")),
    request_body(content = KeyRequest, content_type = "application/json"),
    responses((status = 201, description = "The key was made", body = ClaimedKeyView))
)]
pub(super) async fn create_key(
    State(state): State<Arc<ApiState>>,
    wallet: SessionWallet,
    Origin(origin): Origin,
    headers: HeaderMap,
    request_body: Body,
) -> Result<Response, Problem> {
    let bytes = body::json(&headers, request_body, MOST_BYTES).await?;
    match KeyBody::read(&bytes)? {
        KeyBody::Open(terms) => {
            let once = idempotency::once(&headers, OPEN, &bytes, state.now_millis())?;
            let order = state.portal()?.orders.open(wallet.address(), terms, once.as_ref()).await?;
            let problem = payment_required(order);
            // Whoever buys a key to be paid should know that nobody can be, yet.
            let has_rate = state.portal()?.rates.current().await?.is_some();
            Err(if has_rate { problem } else { problem.with_member("notices", rate_notice()) })
        }
        KeyBody::Claim { order, transaction } => {
            let order = read_id(&order)?;
            let transaction = transaction.as_deref().map(path::hash).transpose()?;
            claim(&state, wallet.address(), (order, transaction), origin).await
        }
    }
}

/// That invoices cannot be paid on this network yet.
fn rate_notice() -> Value {
    json!([{
        "code": Code::RateUnavailable.word(),
        "message": "The operator of this network has not said what the coin costs: invoices can be made, but not paid until then.",
    }])
}

async fn claim(
    state: &ApiState,
    wallet: Address,
    (order, transaction): (OrderId, Option<B256>),
    origin: Option<String>,
) -> Result<Response, Problem> {
    let claimed = state.portal()?.orders.claim(wallet, order, transaction, origin).await;
    made(&ClaimedKeyView::from(claimed.map_err(refuse)?))
}

/// List keys
///
/// The last hundred, newest first. Secrets are not among what is kept.
#[utoipa::path(
    get, path = "/api/v1/platform-dev/keys", tag = "Portal orders",
    responses((status = 200, description = "The keys", body = KeyListView))
)]
pub(super) async fn list_keys(
    State(state): State<Arc<ApiState>>,
    wallet: SessionWallet,
) -> Result<Response, Problem> {
    let keys = state.portal()?.orders.list_keys(wallet.address()).await?;
    answer::json(StatusCode::OK, &KeyListView::new(keys, state.now_millis()))
}

/// Take a key back
///
/// It is refused from then on, and its slot is free. Doing it again changes nothing.
#[utoipa::path(
    post, path = "/api/v1/platform-dev/keys/revoke", tag = "Portal orders",
    request_body(content = RevokeRequest, content_type = "application/json"),
    responses((status = 200, description = "The key is taken back", body = KeyAnswerView))
)]
pub(super) async fn revoke_key(
    State(state): State<Arc<ApiState>>,
    wallet: SessionWallet,
    Origin(origin): Origin,
    headers: HeaderMap,
    request_body: Body,
) -> Result<Response, Problem> {
    let mut members = Members::read(&headers, request_body, &["keyId"]).await?;
    let id = members.required("keyId", text);
    members.finish()?;
    // What is no id is the id of no key.
    let id = id.parse().map_err(|_| Problem::from(OrderError::KeyNotFound))?;
    let key = state.portal()?.orders.revoke_key(wallet.address(), id, origin).await?;
    answer::json(StatusCode::OK, &KeyAnswerView { key: DeveloperKeyView::new(key, state.now_millis()) })
}

/// A key to buy (`plan`, `name`, `scopes`), or one to claim (`orderId`, `txHash`).
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "described here, read member by member")]
pub(super) struct KeyRequest {
    /// For how long: a plan's word or title, whatever the case.
    #[schema(pattern = "^([Mm]onthly|[Qq]uarterly|[Tt]hree[ -][Mm]onths|[Yy]early)$", example = "monthly")]
    plan: Option<String>,
    /// What to call it.
    #[schema(min_length = 1, max_length = 64, example = "shop backend")]
    name: Option<String>,
    /// What it may be used for; left out for everything.
    #[schema(min_items = 1, example = json!(["invoices:read", "invoices:write"]))]
    scopes: Option<Vec<String>>,
    /// The order to claim.
    #[schema(pattern = "^ord_[0-9a-hjkmnp-tv-z]{26}$", example = "ord_01kdvh3c0g5t8v9w2x4y6z8a1b")]
    order_id: Option<String>,
    /// The transaction that pays it.
    #[schema(pattern = "^0x[0-9a-fA-F]{64}$")]
    tx_hash: Option<String>,
}

/// A key to take back.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "described here, read member by member")]
pub(super) struct RevokeRequest {
    /// The key's public part.
    #[schema(pattern = "^[0-9A-Za-z]{12}$", example = "7Kq2mXc9TzPa")]
    key_id: String,
}

/// What is asked for.
enum KeyBody {
    Open(KeyTerms),
    Claim { order: String, transaction: Option<String> },
}

impl KeyBody {
    fn read(bytes: &[u8]) -> Result<Self, Problem> {
        let mut members = Members::parse(bytes, &FIELDS)?;
        let (plan, name) = (members.optional("plan", text), members.optional("name", text));
        let scopes = members.optional("scopes", texts);
        let (order, transaction) = (members.optional("orderId", text), members.optional("txHash", text));
        match (plan, order) {
            (None, Some(order)) => {
                if name.is_some() || scopes.is_some() {
                    members.refuse(
                        "orderId",
                        "ambiguous",
                        "claims an order, whose name and scopes are fixed",
                    );
                }
                members.finish()?;
                Ok(Self::Claim { order, transaction })
            }
            (Some(plan), None) => {
                if transaction.is_some() {
                    members.refuse("txHash", "ambiguous", "goes with orderId");
                }
                members.finish()?;
                Ok(Self::Open(KeyTerms::read(&plan, name, scopes.as_deref())?))
            }
            (Some(_), Some(_)) => {
                members.refuse("orderId", "ambiguous", "claims an order; leave plan out");
                Err(unread(members))
            }
            (None, None) => {
                members.refuse("plan", "required", "is required, or orderId to claim an order");
                Err(unread(members))
            }
        }
    }
}

/// The refusal of members of which something is wrong.
fn unread(members: Members) -> Problem {
    let nothing = || Problem::new(Code::ValidationFailed, Code::ValidationFailed.meaning());
    members.finish().err().unwrap_or_else(nothing)
}

fn texts(value: Value) -> Result<Vec<String>, Fault> {
    let wrong = ("wrong_type", "must be a list of strings");
    let Value::Array(values) = value else { return Err(wrong) };
    values.into_iter().map(|value| text(value).map_err(|_| wrong)).collect()
}

/// Refusals of what is done with keys.
pub(crate) const REFUSALS: &[Refusals] = &[
    (
        "create_key",
        &[
            Code::InvalidJson,
            Code::InvalidHash,
            Code::InvalidIdempotencyKey,
            Code::SessionMissing,
            Code::SessionInvalid,
            Code::SessionExpired,
            Code::PaymentRequired,
            Code::OriginMismatch,
            Code::OrderNotFound,
            Code::NotFound,
            Code::KeyLimitReached,
            Code::OrderNotPaid,
            Code::OrderClaimed,
            Code::BodyTooLarge,
            Code::UnsupportedMediaType,
            Code::ValidationFailed,
            Code::UnknownField,
            Code::IdempotencyKeyReused,
            Code::PlanUnknown,
            Code::DatabaseUnavailable,
        ],
    ),
    (
        "list_keys",
        &[
            Code::SessionMissing,
            Code::SessionInvalid,
            Code::SessionExpired,
            Code::NotFound,
            Code::DatabaseUnavailable,
        ],
    ),
    (
        "revoke_key",
        &[
            Code::InvalidJson,
            Code::SessionMissing,
            Code::SessionInvalid,
            Code::SessionExpired,
            Code::OriginMismatch,
            Code::KeyNotFound,
            Code::NotFound,
            Code::BodyTooLarge,
            Code::UnsupportedMediaType,
            Code::ValidationFailed,
            Code::UnknownField,
            Code::DatabaseUnavailable,
        ],
    ),
];
