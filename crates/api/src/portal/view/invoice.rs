//! Invoices as their merchant sees them.

use domain::portal::{InvoiceId, InvoiceState};
use merchant::Checkout;
use serde::Serialize;
use store::portal::InvoiceRecord;
use utoipa::ToSchema;

use super::{payment::InvoicePaymentView, quote::QuoteView};
use crate::{
    extract::cursor::InvoiceCursor,
    view::{Long, TimeText},
};

/// An invoice.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InvoiceView {
    /// Its id.
    #[schema(pattern = "^inv_[0-9a-hjkmnp-tv-z]{26}$", example = "inv_01kdvh3c0g5t8v9w2x4y6z8a1b")]
    id: String,
    /// `open` until it is `paid`, has `expired` on the chain or is `void`.
    #[schema(pattern = "^(open|paid|expired|void)$", example = "open")]
    status: &'static str,
    /// Who is to pay, in the merchant's words.
    #[schema(example = "Budi #1042")]
    customer_label: String,
    /// How much, in rupiah.
    #[schema(example = 150000)]
    amount_idr: Long,
    /// What it is for.
    #[schema(example = "Kopi susu 6x")]
    note: String,
    /// The merchant's own name for it.
    #[schema(example = "ORD-1042")]
    external_id: Option<String>,
    /// The link to send to the customer.
    #[schema(pattern = "^https?://", example = "http://127.0.0.1:3000/pay/MDEyMzQ1Njc4OWFiY2RlZg")]
    pay_url: String,
    /// What it costs in coin, once somebody has asked, and while that holds.
    quote: Option<QuoteView>,
    /// The payment that settled it.
    payment: Option<InvoicePaymentView>,
    /// When it was made.
    created_at: TimeText,
    /// Until when it can be paid.
    expires_at: TimeText,
    /// When it was paid.
    paid_at: Option<TimeText>,
    /// It was taken back, but can be paid until then, because a quote is out.
    void_pending_until: Option<TimeText>,
}

/// An invoice by itself.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct InvoiceAnswerView {
    /// The invoice.
    pub(crate) invoice: InvoiceView,
}

/// A page of invoices.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InvoiceListView {
    /// The invoices, newest first.
    invoices: Vec<InvoiceView>,
    /// Where the next page begins; null on the last.
    next_cursor: Option<String>,
}

impl InvoiceView {
    pub(crate) fn new(checkout: &Checkout, record: InvoiceRecord) -> Self {
        let InvoiceRecord { invoice, quote, payment } = record;
        let quote = quote.filter(|_| invoice.state == InvoiceState::Open);
        let void_pending = quote.as_ref().filter(|_| invoice.void_requested_at.is_some());
        Self {
            id: invoice.id.to_string(),
            status: invoice.state.name(),
            amount_idr: Long(invoice.amount_idr),
            pay_url: checkout.pay_url(invoice.token),
            void_pending_until: void_pending.map(|quote| TimeText::from_unix(quote.deadline)),
            quote: quote.map(|quote| QuoteView::new(&quote, &checkout.terms(&invoice, &quote))),
            payment: payment.as_ref().map(InvoicePaymentView::from),
            created_at: TimeText::from_millis(invoice.created_at),
            expires_at: TimeText::from_millis(invoice.expires_at),
            paid_at: invoice.paid_at.map(TimeText::from_millis),
            customer_label: invoice.customer_label,
            note: invoice.note,
            external_id: invoice.external_id,
        }
    }
}

impl InvoiceListView {
    pub(crate) fn new(checkout: &Checkout, records: Vec<InvoiceRecord>, next: Option<InvoiceId>) -> Self {
        Self {
            invoices: records.into_iter().map(|record| InvoiceView::new(checkout, record)).collect(),
            next_cursor: next.map(|before| InvoiceCursor { before }.print()),
        }
    }
}
