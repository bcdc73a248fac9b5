//! Asking the faucet, through its own edge and in the visitor's name.

use std::net::IpAddr;

use alloy_primitives::B256;
use api::Edge;
use axum::body::Body;
use bytes::Bytes;
use domain::Wei;
use http_body_util::BodyExt;
use hyper::{
    Method, Request, StatusCode,
    header::{self, HeaderValue},
};
use serde::{Deserialize, de::DeserializeOwned};

use crate::{failure::Failure, format::coin};

/// The header that a key is in.
const API_KEY: &str = "x-api-key";

/// What came of a claim.
pub(super) enum Asked {
    /// It will be paid by this transaction.
    Taken(B256),
    /// It was refused.
    Refused(Answer),
}

/// Why a claim was refused, as the faucet says it.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) problem: Problem,
}

/// A refusal of the faucet.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Problem {
    pub(super) code: String,
    pub(super) detail: String,
    /// When the same claim may succeed.
    pub(super) next_claim_at: Option<String>,
}

/// How the faucet is doing.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Health {
    pub(super) funds: String,
    /// The account that pays.
    pub(super) address: String,
    pub(super) amount: String,
    pub(super) daily_cap: String,
    pub(super) balance: Option<String>,
    pub(super) claims_left: Option<u64>,
    pub(super) open_claims: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct HealthAnswer {
    faucet: Health,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Taken {
    tx_hash: String,
}

/// How the faucet is doing; nothing is known if it does not say.
pub(super) async fn health(edge: &Edge, visitor: IpAddr) -> Health {
    let request = Request::get("/health").body(Body::empty());
    let Ok(request) = request else { return Health::default() };
    let (_, bytes) = put(edge, visitor, request).await;
    let mut health = read::<HealthAnswer>(&bytes).unwrap_or_default().faucet;
    for amount in [&mut health.amount, &mut health.daily_cap].into_iter().chain(&mut health.balance) {
        if let Ok(Wei(wei)) = amount.parse() {
            *amount = coin(wei);
        }
    }
    health
}

/// Claims for a wallet. The key is marked so that nothing prints it.
pub(super) async fn claim(
    edge: &Edge,
    visitor: IpAddr,
    address: &str,
    website: &str,
    key: Option<&str>,
) -> Result<Asked, Failure> {
    let body = serde_json::json!({ "address": address, "website": website }).to_string();
    let request = Request::builder().method(Method::POST).uri("/claim").body(Body::from(body));
    let mut request = request.map_err(|error| Failure::Internal(error.to_string()))?;
    let headers = request.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(mut key) = key.and_then(|key| HeaderValue::from_str(key).ok()) {
        key.set_sensitive(true);
        headers.insert(API_KEY, key);
    }
    let (status, bytes) = put(edge, visitor, request).await;
    if status.is_success() {
        let hash = read::<Taken>(&bytes).and_then(|taken| taken.tx_hash.parse().ok());
        let hash = hash.ok_or_else(|| Failure::Internal("a claim without a transaction".to_owned()))?;
        return Ok(Asked::Taken(hash));
    }
    Ok(Asked::Refused(Answer { status, problem: read(&bytes).unwrap_or_default() }))
}

async fn put(edge: &Edge, visitor: IpAddr, request: Request<Body>) -> (StatusCode, Bytes) {
    let response = edge.answer(visitor, request).await;
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    (parts.status, bytes)
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    serde_json::from_slice(bytes).ok()
}
