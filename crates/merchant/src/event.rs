//! The bodies of events: compact JSON, written once and sent unchanged for ever.
//!
//! A member may be added without a new version, never renamed, moved or taken away.

use alloy_primitives::{Address, B256};
use domain::portal::{EventId, EventType};
use jiff::Timestamp;
use serde::Serialize;
use store::portal::{OrderRow, PaymentRow, Purchase, QuotedInvoice};

/// What was paid.
#[derive(Clone, Copy)]
pub(crate) enum Subject<'a> {
    /// An invoice, and whether this payment has settled it.
    Invoice { quoted: &'a QuotedInvoice, is_settled: bool },
    /// An order, as it is now.
    Order(&'a OrderRow),
}

/// The body of an event about a payment.
pub(crate) fn body(
    id: EventId,
    kind: EventType,
    sequence: u64,
    payment: &PaymentRow,
    subject: Subject<'_>,
) -> Vec<u8> {
    let (invoice, order) = match subject {
        Subject::Invoice { quoted, is_settled } => (Some(invoice(quoted, is_settled, payment)), None),
        Subject::Order(row) => (None, Some(order(row))),
    };
    let envelope = Envelope {
        id: id.to_string(),
        r#type: kind.name(),
        api_version: EventType::API_VERSION,
        created_at: time(payment.block_time),
        sequence,
        data: Data { invoice, order, payment: about(payment, subject) },
    };
    // Strings and numbers always serialise.
    serde_json::to_vec(&envelope).unwrap_or_default()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    id: String,
    r#type: &'static str,
    api_version: &'static str,
    created_at: String,
    sequence: u64,
    data: Data<'a>,
}

#[derive(Serialize)]
struct Data<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    invoice: Option<InvoiceBody<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<OrderBody>,
    payment: PaymentBody,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InvoiceBody<'a> {
    id: String,
    status: &'static str,
    exception: &'static str,
    customer_label: &'a str,
    amount_idr: u64,
    note: &'a str,
    external_id: Option<&'a str>,
    paid_at: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OrderBody {
    id: String,
    kind: &'static str,
    plan: Option<&'static str>,
    status: &'static str,
    amount: String,
    amount_wei: String,
    paid_at: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PaymentBody {
    id: String,
    purpose: &'static str,
    exception: &'static str,
    tx_hash: B256,
    log_index: u32,
    block_number: u64,
    payer: String,
    merchant: Option<String>,
    amount: String,
    amount_wei: String,
    quote_id: Option<B256>,
}

fn invoice<'a>(quoted: &'a QuotedInvoice, is_settled: bool, payment: &PaymentRow) -> InvoiceBody<'a> {
    InvoiceBody {
        id: quoted.invoice_id.to_string(),
        status: if is_settled { "paid" } else { quoted.state.name() },
        exception: payment.exception.name(),
        customer_label: &quoted.customer_label,
        amount_idr: quoted.amount_idr,
        note: &quoted.note,
        external_id: quoted.external_id.as_deref(),
        paid_at: is_settled.then(|| time(payment.block_time)),
    }
}

fn order(row: &OrderRow) -> OrderBody {
    let plan = match &row.purchase {
        Purchase::Key { plan, .. } => Some(plan.name()),
        Purchase::Webhook => None,
    };
    OrderBody {
        id: row.id.to_string(),
        kind: row.purchase.kind().name(),
        plan,
        status: row.state.name(),
        amount: row.amount.to_string(),
        amount_wei: row.amount.0.to_string(),
        paid_at: row.paid_at.map(time),
    }
}

fn about(payment: &PaymentRow, subject: Subject<'_>) -> PaymentBody {
    let merchant = match subject {
        Subject::Invoice { quoted, .. } => Some(checksummed(quoted.wallet)),
        Subject::Order(_) => None,
    };
    PaymentBody {
        id: payment.id.to_string(),
        purpose: payment.purpose.name(),
        exception: payment.exception.name(),
        tx_hash: payment.tx_hash,
        log_index: payment.log_index,
        block_number: payment.block_number,
        payer: checksummed(payment.payer),
        merchant,
        amount: payment.amount.to_string(),
        amount_wei: payment.amount.0.to_string(),
        quote_id: payment.quote_id,
    }
}

fn checksummed(address: Address) -> String {
    address.to_checksum(None)
}

/// Unix milliseconds as RFC 3339.
fn time(millis: u64) -> String {
    let millis = i64::try_from(millis).unwrap_or(i64::MAX);
    Timestamp::from_millisecond(millis).unwrap_or(Timestamp::MAX).to_string()
}
