//! `GET /status?address=`: whether a wallet may claim. Charges nothing.

use std::sync::Arc;

use axum::{Extension, extract::State};
use hyper::HeaderMap;

use super::{
    Desk,
    view::{ClaimView, StatusView, time},
};
use crate::{
    code::Code,
    edge::{
        Asker,
        answer::{Answer, Holds},
    },
    extract::{path, query::Query},
    problem::Problem,
    view::{AddressText, CoinText, TimeText, WeiText},
};

/// Whether a wallet may claim
///
/// Asking costs the wallet nothing.
#[utoipa::path(
    get, path = "/status", tag = "Faucet",
    params((
        "address" = String, Query, description = "The wallet", pattern = "^0x[0-9a-fA-F]{40}$",
        example = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
    )),
    responses((status = 200, description = "What the wallet may do", body = StatusView))
)]
pub(super) async fn get_status(
    State(desk): State<Arc<Desk>>,
    Extension(asker): Extension<Asker>,
    headers: HeaderMap,
    query: Query,
) -> Result<Answer, Problem> {
    desk.admit_caller(&headers, asker.address)?;
    let parameters = query.parameters(&["address"])?;
    let missing = || Problem::new(Code::InvalidAddress, "Name the wallet: ?address=0x…");
    let wallet = path::address(parameters.get("address").ok_or_else(missing)?)?;
    let status = desk.state.faucet.status(wallet, desk.now_millis()).await?;
    let allowlisted = desk.is_allowlisted(wallet).await?;
    let amount = desk.state.faucet.settings().amount;
    let view = StatusView {
        address: AddressText(wallet),
        eligible: status.next_claim_at.is_none() && allowlisted != Some(false),
        next_claim_at: status.next_claim_at.map(|at| TimeText(time(at))),
        allowlisted,
        amount: CoinText(amount),
        amount_wei: WeiText(amount.0),
        last_claim: status.last_claim.as_ref().map(ClaimView::from),
    };
    Answer::json(&view, Holds::Never)
}
