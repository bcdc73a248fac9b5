//! `GET /pay/{token}/qr.svg`: a payment link as a picture for a camera.

use std::sync::Arc;

use axum::extract::State;
use domain::portal::InvoiceState;
use hyper::header::HeaderValue;
use merchant::payment_link;
use qrcode::{EcLevel, QrCode, render::svg};

use super::pay::read_token;
use crate::{
    code::Code,
    edge::answer::{Answer, Holds, Rendered},
    extract::query::Query,
    problem::Problem,
    rest::segment::Segment,
    state::ApiState,
};

const SVG: HeaderValue = HeaderValue::from_static("image/svg+xml");
/// A picture that is opened by itself loads nothing and runs nothing.
const POLICY: HeaderValue = HeaderValue::from_static("default-src 'none'; sandbox");
const SIDE: u32 = 256;

/// A payment link as a QR code
///
/// Of the payment page by default. With `data=eip681` of the transaction itself, which not every wallet reads; the invoice must have
/// a quote then.
#[utoipa::path(
    get, path = "/api/v1/platform-dev/pay/{token}/qr.svg", tag = "Portal payment",
    params(
        ("token" = String, Path, description = "The last part of the payment link", pattern = "^[A-Za-z0-9_-]{22}$", example = "MDEyMzQ1Njc4OWFiY2RlZg"),
        ("data" = Option<String>, Query, description = "What it says: the transaction instead of the page", pattern = "^eip681$", example = "eip681"),
    ),
    responses((status = 200, description = "A picture", content_type = "image/svg+xml", body = String))
)]
pub(super) async fn get_qr_code(
    State(state): State<Arc<ApiState>>,
    Segment(token): Segment,
    query: Query,
) -> Result<Answer, Problem> {
    let wants_transaction = query.parameters(&["data"])?.is("data", "eip681")?;
    let checkout = &state.portal()?.checkout;
    let record = checkout.find(read_token(&token)?).await?;
    if !wants_transaction {
        // A link is the same for ever.
        return draw(&checkout.pay_url(record.invoice.token), Holds::Process);
    }
    let is_open = record.invoice.state == InvoiceState::Open;
    let chain_time = state.chain_time().unwrap_or(0);
    let quote = record.quote.filter(|quote| is_open && quote.deadline >= chain_time);
    let quote = quote.ok_or_else(|| Problem::new(Code::QuoteNotFound, Code::QuoteNotFound.meaning()))?;
    draw(&payment_link(&checkout.terms(&record.invoice, &quote)), Holds::Never)
}

fn draw(text: &str, holds: Holds) -> Result<Answer, Problem> {
    let code = QrCode::with_error_correction_level(text, EcLevel::M)
        .map_err(|error| Problem::new(Code::Internal, Code::Internal.meaning()).with_cause(error))?;
    let picture = code.render::<svg::Color<'_>>().min_dimensions(SIDE, SIDE).build();
    let rendered = Rendered::new(picture.into(), SVG, holds).with_policy(POLICY);
    Ok(Answer::rendered(Arc::new(rendered), holds))
}
