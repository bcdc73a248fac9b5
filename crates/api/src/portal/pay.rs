//! `/pay/{token}…`: what whoever holds a payment link sees and asks for. For everybody: the token is the permission.

use std::sync::Arc;

use access::{Allowance, Client, Counting, UniformLimiter};
use axum::{Extension, extract::State, response::Response};
use domain::portal::InvoiceToken;
use hyper::StatusCode;
use jiff::Timestamp;

use super::{
    Portal,
    answer::json,
    view::{
        pay::PayView,
        quote::{QuoteAnswerView, QuoteView},
    },
};
use crate::{
    code::Code,
    describe::Refusals,
    edge::{Asker, rate_limited},
    problem::Problem,
    rest::segment::Segment,
    state::ApiState,
};

/// Quotes that may be asked for in a minute, for an invoice and by a client.
const QUOTES_OF_INVOICE: u32 = 10;
const QUOTES_OF_CLIENT: u32 = 30;

/// How often quotes are asked for.
pub struct QuoteLimits {
    invoices: UniformLimiter<InvoiceToken>,
    clients: UniformLimiter<Client>,
}

impl QuoteLimits {
    /// The limits, counted there.
    pub fn new(counting: &Counting) -> Self {
        Self {
            invoices: counting.limiter("invoice-quotes", QUOTES_OF_INVOICE),
            clients: counting.limiter("quotes", QUOTES_OF_CLIENT),
        }
    }

    /// Counts a quote, unless there were too many.
    pub(super) async fn take(
        &self,
        token: InvoiceToken,
        client: Client,
        now: Timestamp,
    ) -> Result<(), Problem> {
        let check = |allowance: Allowance| {
            if allowance.is_granted { Ok(()) } else { Err(rate_limited(allowance)) }
        };
        check(self.clients.take(client, now).await)?;
        check(self.invoices.take(token, now).await)
    }
}

/// What is to be paid
///
/// The invoice of a payment link, its quote while there is one that can be paid, and its payment. What the merchant wrote about
/// the customer is not shown.
#[utoipa::path(
    get, path = "/api/v1/platform-dev/pay/{token}", tag = "Portal payment",
    params(("token" = String, Path, description = "The last part of the payment link", pattern = "^[A-Za-z0-9_-]{22}$", example = "MDEyMzQ1Njc4OWFiY2RlZg")),
    responses((status = 200, description = "The invoice", body = PayView))
)]
pub(super) async fn get_payment_page(
    State(state): State<Arc<ApiState>>,
    Segment(token): Segment,
) -> Result<Response, Problem> {
    json(StatusCode::OK, &view(&state, read_token(&token)?).await?)
}

/// Ask for a price in coin
///
/// Answers with the quote that the invoice has, or makes one: good for 15 minutes of the chain's time, and never beyond the
/// invoice. Send its `tx` from any wallet; the contract takes exactly that amount, once, until the deadline.
#[utoipa::path(
    post, path = "/api/v1/platform-dev/pay/{token}/quote", tag = "Portal payment",
    params(("token" = String, Path, description = "The last part of the payment link", pattern = "^[A-Za-z0-9_-]{22}$", example = "MDEyMzQ1Njc4OWFiY2RlZg")),
    responses((status = 200, description = "The quote", body = QuoteAnswerView))
)]
pub(super) async fn create_quote(
    State(state): State<Arc<ApiState>>,
    Extension(asker): Extension<Asker>,
    Segment(token): Segment,
) -> Result<Response, Problem> {
    let portal = state.portal()?;
    let (record, quote) = portal.quote(read_token(&token)?, asker.client(), state.clock.now()).await?;
    let terms = portal.checkout.terms(&record.invoice, &quote);
    json(StatusCode::OK, &QuoteAnswerView { quote: QuoteView::new(&quote, &terms) })
}

/// The invoice of a link as it is shown now.
pub(super) async fn view(state: &ApiState, token: InvoiceToken) -> Result<PayView, Problem> {
    let Portal { checkout, rates, .. } = state.portal()?;
    let record = checkout.find(token).await?;
    let rate = rates.current().await?;
    Ok(PayView::new(&state.deployment, checkout, &record, rate.as_ref(), state.chain_time()))
}

/// A text that cannot be a token is one that no link has.
pub(super) fn read_token(text: &str) -> Result<InvoiceToken, Problem> {
    text.parse().map_err(|_| Problem::new(Code::InvoiceNotFound, Code::InvoiceNotFound.meaning()))
}

/// Refusals of payment links.
pub(crate) const REFUSALS: &[Refusals] = &[
    ("get_payment_page", &[Code::InvoiceNotFound, Code::DatabaseUnavailable]),
    (
        "create_quote",
        &[
            Code::InvoiceNotFound,
            Code::InvoiceNotOpen,
            Code::ChainUnavailable,
            Code::DatabaseUnavailable,
            Code::RateUnavailable,
            Code::PaymentsBehind,
        ],
    ),
    ("watch_payment_page", &[Code::InvoiceNotFound, Code::DatabaseUnavailable, Code::TooManyStreams]),
    (
        "get_qr_code",
        &[
            Code::InvalidParameter,
            Code::UnknownParameter,
            Code::InvoiceNotFound,
            Code::QuoteNotFound,
            Code::DatabaseUnavailable,
        ],
    ),
];
