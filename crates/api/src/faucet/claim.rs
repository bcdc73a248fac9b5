//! `POST /claim` and `GET /claim/{txHash}`.
//!
//! The order of a claim's checks is part of the interface: body size, request limit, JSON and address, honeypot, key and
//! allowlist, then the reservation. Only the last charges anybody a claim.

use std::sync::Arc;

use access::Allowance;
use axum::{
    Extension,
    body::Body,
    extract::State,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use faucet::ClaimRefusal;
use hyper::HeaderMap;

use super::{
    Desk, FaucetAccess,
    honeypot::{self, Honeypot},
    request::{ClaimBody, ClaimRequest},
    view::{ClaimView, time},
};
use crate::{
    code::Code,
    edge::{
        Asker,
        answer::{Answer, Holds},
        rate_limited,
    },
    extract::{body, path},
    problem::Problem,
    rest::segment::Segment,
};

const MOST_BYTES: usize = 4 * 1024;
/// Seconds after which a faucet that is empty may have been filled.
const REFILL_SECONDS: u64 = 60;

/// Claim test coin
///
/// Pays 500 coin to a wallet: once in 24 hours, and three times for a network address. Answers as soon as the payment is
/// signed and certain; follow `txHash` until it is confirmed. Every request counts towards 20 in a minute.
#[utoipa::path(
    post, path = "/claim", tag = "Faucet",
    request_body(content = ClaimRequest, content_type = "application/json"),
    responses((status = 200, description = "The claim is taken and will be paid", body = ClaimView))
)]
pub(super) async fn create_claim(
    State(desk): State<Arc<Desk>>,
    Extension(asker): Extension<Asker>,
    headers: HeaderMap,
    request_body: Body,
) -> Response {
    let bytes = body::bytes(request_body, MOST_BYTES).await;
    let allowance = desk.claim_requests.take(asker.client(), desk.state.clock.now()).await;
    let claimed = match bytes {
        Ok(bytes) => claim(&desk, asker, &headers, allowance, &bytes).await,
        Err(problem) => Err(problem),
    };
    let mut response = claimed.into_response();
    response.extensions_mut().insert(allowance);
    response
}

/// Follow a claim
///
/// Found by the hash that the claim was answered with, also if the payment had to be signed again since: `txHash` is then the
/// new one.
#[utoipa::path(
    get, path = "/claim/{txHash}", tag = "Faucet",
    params((
        "txHash" = String, Path, description = "The transaction of the claim", pattern = "^0x[0-9a-fA-F]{64}$",
        example = "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"
    )),
    responses((status = 200, description = "The claim", body = ClaimView))
)]
pub(super) async fn get_claim(
    State(desk): State<Arc<Desk>>,
    Extension(asker): Extension<Asker>,
    headers: HeaderMap,
    Segment(hash): Segment,
) -> Result<Answer, Problem> {
    desk.admit_caller(&headers, asker.address)?;
    let claim = desk.state.faucet.find(path::hash(&hash)?, desk.now_millis()).await?;
    let claim = claim.ok_or_else(|| Problem::new(Code::ClaimNotFound, Code::ClaimNotFound.meaning()))?;
    Answer::json(&ClaimView::from(&claim), Holds::Never)
}

async fn claim(
    desk: &Desk,
    asker: Asker,
    headers: &HeaderMap,
    allowance: Allowance,
    bytes: &Bytes,
) -> Result<Answer, Problem> {
    let now = desk.now_millis();
    if !allowance.is_granted {
        let again = now.saturating_add(allowance.retry_seconds().saturating_mul(1_000));
        return Err(rate_limited(allowance).with_next_claim_at(time(again)));
    }
    body::check_json(headers)?;
    let request = ClaimBody::read(bytes)?;
    let honeypot = match desk.state.access {
        FaucetAccess::Open => Honeypot::Optional,
        FaucetAccess::Invited { .. } => Honeypot::Mandatory,
    };
    honeypot::check(request.website.as_ref(), honeypot)?;
    desk.admit_caller(headers, asker.address)?;
    desk.admit_wallet(request.wallet).await?;
    let claim = desk.state.faucet.claim(request.wallet, asker.client(), now).await;
    Answer::json(&ClaimView::from(&claim.map_err(|refusal| refuse(refusal, now))?), Holds::Never)
}

/// A refusal with the time at which it may be over.
fn refuse(refusal: ClaimRefusal, now: u64) -> Problem {
    let until = refusal.until();
    let problem = Problem::from(refusal);
    match until {
        Some(until) => {
            let seconds = until.saturating_sub(now).div_ceil(1_000).max(1);
            problem.with_retry_after(seconds).with_next_claim_at(time(until))
        }
        None if problem.code() == Code::FaucetEmpty => problem.with_retry_after(REFILL_SECONDS),
        None => problem,
    }
}
