//! `/v1/invoices…`: a merchant's invoices, for programs with a developer key.

use std::sync::Arc;

use axum::{body::Body, extract::State, response::Response};
use domain::portal::{Actor, ExternalId, InvoiceId, InvoiceState};
use hyper::{
    HeaderMap, StatusCode,
    header::{self, HeaderValue},
};
use merchant::{Checkout, Done, InvoiceError, VoidedBy};
use store::portal::{InvoiceFilter, InvoiceRecord, KeptAnswer, Once};

use super::{
    Portal,
    answer::{json, render, replayed},
    guard::{InvoicesRead, InvoicesWrite, Origin, Scoped},
    idempotency,
    invoice_request::{self, InvoiceRequest},
    view::invoice::{InvoiceAnswerView, InvoiceListView, InvoiceView},
};
use crate::{
    code::Code,
    describe::Refusals,
    edge::answer::private,
    extract::{
        body,
        cursor::InvoiceCursor,
        members::{MOST_BYTES, Members},
        query::Query,
    },
    problem::Problem,
    rest::segment::Segment,
    state::ApiState,
};

/// What idempotency keys are of.
const CREATE: &str = "POST /v1/invoices";
const VOID: &str = "POST /v1/invoices/void";

/// Make an invoice
///
/// In rupiah; send `payUrl` to the customer. It depends neither on the rate nor on the chain. With an `Idempotency-Key` the same
/// request makes one invoice, however often it is sent within three days.
#[utoipa::path(
    post, path = "/api/v1/platform-dev/v1/invoices", tag = "Portal invoices",
    params(("Idempotency-Key" = Option<String>, Header, description = "Your name for this request: the same for every try of the same invoice", pattern = "^[!-~]{1,255}$", example = "5b0f6c2e-1042")),
    request_body(content = InvoiceRequest, content_type = "application/json"),
    responses((
        status = 201, description = "The invoice was made", body = InvoiceAnswerView,
        headers(("Location" = String, description = "Where the invoice is"))
    ))
)]
pub(super) async fn create_invoice(
    State(state): State<Arc<ApiState>>,
    key: Scoped<InvoicesWrite>,
    headers: HeaderMap,
    request_body: Body,
) -> Result<Response, Problem> {
    let bytes = body::json(&headers, request_body, MOST_BYTES).await?;
    let new = invoice_request::read(&bytes)?;
    let request = idempotency::once(&headers, CREATE, &bytes, state.now_millis())?;
    let Portal { invoices, checkout, .. } = state.portal()?;
    let answer = |record: &InvoiceRecord| kept(checkout, StatusCode::CREATED, record);
    let once = request.as_ref().map(|request| Once { request, answer: &answer });
    let made = invoices.create(key.grant.wallet, new, once).await;
    match made.map_err(|error| refuse(checkout, error))? {
        Done::Before(answer) => Ok(replayed(answer)),
        Done::Now(record) => {
            let mut response = private(StatusCode::CREATED, answer(&record).body);
            let location = format!("/api/v1/platform-dev/v1/invoices/{}", record.invoice.id);
            if let Ok(location) = HeaderValue::try_from(location) {
                response.headers_mut().insert(header::LOCATION, location);
            }
            Ok(response)
        }
    }
}

/// List invoices
///
/// Newest first.
#[utoipa::path(
    get, path = "/api/v1/platform-dev/v1/invoices", tag = "Portal invoices",
    params(
        ("status" = Option<String>, Query, description = "Only those in this state", pattern = "^(open|paid|expired|void)$", example = "open"),
        ("externalId" = Option<String>, Query, description = "Only the one that you call so", max_length = 64, example = "ORD-1042"),
        ("limit" = Option<u32>, Query, description = "Invoices on a page", minimum = 1, maximum = 100, example = 25),
        ("cursor" = Option<String>, Query, description = "`nextCursor` of the page before", example = "aTppbnZfMDFrZHZoM2MwZzV0OHY5dzJ4NHk2ejhhMWI"),
    ),
    responses((status = 200, description = "The invoices", body = InvoiceListView))
)]
pub(super) async fn list_invoices(
    State(state): State<Arc<ApiState>>,
    key: Scoped<InvoicesRead>,
    query: Query,
) -> Result<Response, Problem> {
    let wallet = key.grant.wallet;
    let Portal { invoices, invoice_pages, checkout, .. } = state.portal()?;
    let revision = state.db.wallet_revision(wallet).await?;
    if let Some(page) = invoice_pages.find(wallet, query.text(), revision) {
        return Ok(private(StatusCode::OK, page));
    }
    let parameters = query.parameters(&["status", "externalId", "limit", "cursor"])?;
    let status = parameters.get("status").map(read_status).transpose()?;
    let external_id = parameters.get("externalId").map(read_external_id).transpose()?;
    let cursor = parameters.get("cursor").map(InvoiceCursor::parse).transpose()?;
    let filter = InvoiceFilter {
        state: status,
        external_id: external_id.as_ref().map(ExternalId::as_str),
        before: cursor.map(|cursor| cursor.before),
    };
    let (records, next) = invoices.list(wallet, filter, parameters.limit()?).await?;
    let page = render(&InvoiceListView::new(checkout, records, next))?;
    invoice_pages.keep(wallet, query.text(), revision, page.clone());
    Ok(private(StatusCode::OK, page))
}

/// Look at an invoice
#[utoipa::path(
    get, path = "/api/v1/platform-dev/v1/invoices/{id}", tag = "Portal invoices",
    params(("id" = String, Path, description = "The invoice's id", pattern = "^inv_[0-9a-hjkmnp-tv-z]{26}$", example = "inv_01kdvh3c0g5t8v9w2x4y6z8a1b")),
    responses((status = 200, description = "The invoice", body = InvoiceAnswerView))
)]
pub(super) async fn get_invoice(
    State(state): State<Arc<ApiState>>,
    key: Scoped<InvoicesRead>,
    Segment(id): Segment,
) -> Result<Response, Problem> {
    let Portal { invoices, checkout, .. } = state.portal()?;
    let record = invoices.get(key.grant.wallet, read_id(&id)?).await?;
    json(StatusCode::OK, &InvoiceAnswerView { invoice: InvoiceView::new(checkout, record) })
}

/// Take an invoice back
///
/// At once (200), or, while a customer holds a quote, when that can no longer be paid (202): the invoice is open until
/// `voidPendingUntil`, gives no further quote, and is then `void`, unless it was paid in between.
#[utoipa::path(
    post, path = "/api/v1/platform-dev/v1/invoices/{id}/void", tag = "Portal invoices",
    params(
        ("id" = String, Path, description = "The invoice's id", pattern = "^inv_[0-9a-hjkmnp-tv-z]{26}$", example = "inv_01kdvh3c0g5t8v9w2x4y6z8a1b"),
        ("Idempotency-Key" = Option<String>, Header, description = "Your name for this request", pattern = "^[!-~]{1,255}$", example = "5b0f6c2e-1043"),
    ),
    responses(
        (status = 200, description = "The invoice is void", body = InvoiceAnswerView),
        (status = 202, description = "The invoice will be void", body = InvoiceAnswerView),
    )
)]
pub(super) async fn void_invoice(
    State(state): State<Arc<ApiState>>,
    key: Scoped<InvoicesWrite>,
    Origin(origin): Origin,
    Segment(id): Segment,
    headers: HeaderMap,
    request_body: Body,
) -> Result<Response, Problem> {
    let id = read_id(&id)?;
    let bytes = body::bytes(request_body, MOST_BYTES).await?;
    if !bytes.is_empty() {
        Members::parse(&bytes, &[])?.finish()?;
    }
    // What is voided is in the path, which an idempotency key belongs to as well.
    let named = [id.as_bytes().as_slice(), &bytes].concat();
    let request = idempotency::once(&headers, VOID, &named, state.now_millis())?;
    let portal = state.portal()?;
    let answer = |record: &InvoiceRecord| kept(&portal.checkout, voided(record), record);
    let once = request.as_ref().map(|request| Once { request, answer: &answer });
    let by = VoidedBy { actor: Actor::Key(key.grant.id), origin };
    match portal.void(key.grant.wallet, id, by, once).await? {
        Done::Before(answer) => Ok(replayed(answer)),
        Done::Now(record) => Ok(private(voided(&record), answer(&record).body)),
    }
}

/// What every operation of a key is refused for, beside what is its own.
macro_rules! refusals {
    ($($own:ident),* $(,)?) => {
        &[
            Code::ApiKeyAmbiguous,
            Code::ApiKeyMissing,
            Code::ApiKeyInvalid,
            Code::ApiKeyRevoked,
            Code::ApiKeyExpired,
            Code::ScopeMissing,
            Code::DatabaseUnavailable,
            $(Code::$own),*
        ]
    };
}

/// Refusals of a merchant's invoices.
pub(crate) const REFUSALS: &[Refusals] = &[
    (
        "create_invoice",
        refusals![
            InvalidJson,
            InvalidIdempotencyKey,
            ExternalIdExists,
            BodyTooLarge,
            UnsupportedMediaType,
            ValidationFailed,
            UnknownField,
            IdempotencyKeyReused,
        ],
    ),
    ("list_invoices", refusals![InvalidLimit, InvalidCursor, InvalidParameter, UnknownParameter]),
    ("get_invoice", refusals![InvoiceNotFound]),
    (
        "void_invoice",
        refusals![
            InvalidJson,
            InvalidIdempotencyKey,
            InvoiceNotFound,
            InvoiceNotOpen,
            BodyTooLarge,
            UnknownField,
            IdempotencyKeyReused,
        ],
    ),
];

fn voided(record: &InvoiceRecord) -> StatusCode {
    match record.invoice.state {
        InvoiceState::Open => StatusCode::ACCEPTED,
        InvoiceState::Paid | InvoiceState::Expired | InvoiceState::Void => StatusCode::OK,
    }
}

/// The answer about an invoice, as it may be given again.
fn kept(checkout: &Checkout, status: StatusCode, record: &InvoiceRecord) -> KeptAnswer {
    let view = InvoiceAnswerView { invoice: InvoiceView::new(checkout, record.clone()) };
    // Strings and numbers always serialise.
    let body = render(&view).map(Into::into).unwrap_or_default();
    KeptAnswer { status: status.as_u16(), body }
}

/// A refusal with the invoice that stands in the way.
fn refuse(checkout: &Checkout, error: InvoiceError) -> Problem {
    match error {
        InvoiceError::ExternalIdTaken(taken) => {
            let view = serde_json::to_value(InvoiceView::new(checkout, (*taken).clone())).unwrap_or_default();
            Problem::from(InvoiceError::ExternalIdTaken(taken)).with_member("invoice", view)
        }
        InvoiceError::NotFound
        | InvoiceError::NotOpen(_)
        | InvoiceError::KeyReused
        | InvoiceError::Store(_) => error.into(),
    }
}

/// A text that cannot be an id is one that no invoice has.
fn read_id(text: &str) -> Result<InvoiceId, Problem> {
    text.parse().map_err(|_| Problem::from(InvoiceError::NotFound))
}

fn read_status(text: &str) -> Result<InvoiceState, Problem> {
    let refuse = |_| Problem::new(Code::InvalidParameter, "`status` is open, paid, expired or void.");
    text.parse().map_err(refuse)
}

fn read_external_id(text: &str) -> Result<ExternalId, Problem> {
    let refuse = |error| Problem::new(Code::InvalidParameter, format!("`externalId` {error}."));
    text.parse().map_err(refuse)
}
