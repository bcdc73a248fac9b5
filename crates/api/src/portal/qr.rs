//! `GET /pay/{token}/qr.svg`: a payment link as a picture for a camera.

use std::{fmt::Write, sync::Arc};

use axum::extract::State;
use hyper::header::HeaderValue;
use merchant::payment_link;
use qrcode::{Color, EcLevel, QrCode, render::svg};

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
/// White around a code that is drawn for a page, in its squares.
const QUIET: usize = 3;

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
    let quote = record.payable_quote(state.chain_time());
    let quote = quote.ok_or_else(|| Problem::new(Code::QuoteNotFound, Code::QuoteNotFound.meaning()))?;
    draw(&payment_link(&checkout.terms(&record.invoice, quote)), Holds::Never)
}

/// A text as a QR code for the middle of a page: dark strokes on white, whatever the page's colours, and little markup. None
/// for a text that is too long for one.
pub fn qr_picture(text: &str) -> Option<String> {
    let code = QrCode::with_error_correction_level(text, EcLevel::M).ok()?;
    let (width, colors) = (code.width(), code.to_colors());
    let side = width + 2 * QUIET;
    let mut picture = format!(
        "<svg class=\"qr\" viewBox=\"0 0 {side} {side}\" shape-rendering=\"crispEdges\" aria-hidden=\"true\"><path fill=\"#fff\" \
         d=\"M0 0h{side}v{side}H0z\"/><path stroke=\"#000\" d=\""
    );
    for (y, row) in colors.chunks(width).enumerate() {
        let mut x = 0;
        for run in row.chunk_by(PartialEq::eq) {
            if run.first() == Some(&Color::Dark) {
                // Writing to a string cannot fail.
                let _ = write!(picture, "M{} {}.5h{}", x + QUIET, y + QUIET, run.len());
            }
            x += run.len();
        }
    }
    picture.push_str("\"/></svg>");
    Some(picture)
}

fn draw(text: &str, holds: Holds) -> Result<Answer, Problem> {
    let code = QrCode::with_error_correction_level(text, EcLevel::M)
        .map_err(|error| Problem::new(Code::Internal, Code::Internal.meaning()).with_cause(error))?;
    let picture = code.render::<svg::Color<'_>>().min_dimensions(SIDE, SIDE).build();
    let rendered = Rendered::new(picture.into(), SVG, holds).with_policy(POLICY);
    Ok(Answer::rendered(Arc::new(rendered), holds))
}
