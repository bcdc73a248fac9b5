//! Invoices, the quotes that make them payable, and the payments that settle them.

mod create;
mod quote;
mod read;
#[cfg(test)]
mod tests;
mod void;

use alloy_primitives::{Address, B256};
use domain::{
    Wei,
    portal::{InvoiceId, InvoiceState, InvoiceToken, PaymentId, Rate},
};

pub use create::InvoiceCreation;
pub use quote::{NewQuote, QuoteIssue};
pub use read::InvoiceFilter;
pub use void::InvoiceVoid;

/// An invoice. Times are Unix milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvoiceRow {
    /// Its id.
    pub id: InvoiceId,
    /// The merchant.
    pub wallet: Address,
    /// Of its payment link.
    pub token: InvoiceToken,
    /// Who is to pay, in the merchant's words.
    pub customer_label: String,
    /// How much, in rupiah.
    pub amount_idr: u64,
    /// What it is for.
    pub note: String,
    /// The merchant's own name for it.
    pub external_id: Option<String>,
    /// Where it stands.
    pub state: InvoiceState,
    /// When it was made.
    pub created_at: u64,
    /// Until when it can be paid.
    pub expires_at: u64,
    /// When it was paid.
    pub paid_at: Option<u64>,
    /// When the merchant took it back while a quote could still be paid.
    pub void_requested_at: Option<u64>,
}

/// A price in coin for an invoice, for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuoteRow {
    /// The hash of its terms.
    pub id: B256,
    /// The price.
    pub amount: Wei,
    /// The number of the rate.
    pub rate_id: u64,
    /// The rate.
    pub rate: Rate,
    /// From when the rate is, in Unix milliseconds.
    pub rate_at: u64,
    /// Last second of chain time in which it can be paid.
    pub deadline: u64,
    /// Makes equal terms distinct.
    pub salt: B256,
}

/// The payment that settled an invoice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvoicePaymentRow {
    /// Its id.
    pub id: PaymentId,
    /// The transaction.
    pub tx_hash: B256,
    /// The place of its event in the block.
    pub log_index: u64,
    /// The quote that was paid.
    pub quote_id: Option<B256>,
    /// Who paid.
    pub payer: Address,
    /// How much.
    pub amount: Wei,
    /// The block.
    pub block_number: u64,
    /// The block's time, in Unix milliseconds.
    pub block_time: u64,
}

/// An invoice with what can be paid of it, or was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvoiceRecord {
    /// The invoice.
    pub invoice: InvoiceRow,
    /// Its quote, while that can be paid.
    pub quote: Option<QuoteRow>,
    /// Its payment.
    pub payment: Option<InvoicePaymentRow>,
}

impl InvoiceRecord {
    /// The quote that can be paid at a time of the chain, in seconds; if that is not known, the one there is.
    pub fn payable_quote(&self, chain_time: Option<u64>) -> Option<&QuoteRow> {
        let is_open = self.invoice.state == InvoiceState::Open;
        let is_payable = |deadline| chain_time.is_none_or(|time| deadline >= time);
        self.quote.as_ref().filter(|quote| is_open && is_payable(quote.deadline))
    }
}
