//! Payments.

use serde::Serialize;
use store::portal::{InvoicePaymentRow, PaymentRow};
use utoipa::ToSchema;

use crate::view::{AddressText, CoinText, HashText, Long, TimeText, WeiText};

/// The payment that settled an invoice.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InvoicePaymentView {
    /// Its id.
    #[schema(pattern = "^pay_[0-9a-hjkmnp-tv-z]{26}$", example = "pay_01kdvh3c0g5t8v9w2x4y6z8a1b")]
    id: String,
    /// The transaction.
    tx_hash: HashText,
    /// The quote that was paid.
    quote_id: Option<HashText>,
    /// Who paid.
    payer: AddressText,
    /// How much, in coin.
    #[schema(value_type = String, example = "150")]
    amount: CoinText,
    /// How much, in wei.
    #[schema(value_type = String, example = "150000000000000000000")]
    amount_wei: WeiText,
    /// The block.
    block_number: Long,
    /// The block's time.
    paid_at: TimeText,
}

impl From<&InvoicePaymentRow> for InvoicePaymentView {
    fn from(row: &InvoicePaymentRow) -> Self {
        Self {
            id: row.id.to_string(),
            tx_hash: HashText(row.tx_hash),
            quote_id: row.quote_id.map(HashText),
            payer: AddressText(row.payer),
            amount: CoinText(row.amount),
            amount_wei: WeiText(row.amount.0),
            block_number: Long(row.block_number),
            paid_at: TimeText::from_millis(row.block_time),
        }
    }
}

/// A payment to a wallet's invoice, or for its order.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PaymentView {
    /// Its id.
    #[schema(pattern = "^pay_[0-9a-hjkmnp-tv-z]{26}$", example = "pay_01kdvh3c0g5t8v9w2x4y6z8a1b")]
    id: String,
    /// What it was for.
    #[schema(pattern = "^(invoice|api_key|webhook|unmatched)$", example = "invoice")]
    purpose: &'static str,
    /// What is odd about it.
    #[schema(pattern = "^(none|underpaid|overpaid|paid_late|duplicate|unmatched)$", example = "none")]
    exception: &'static str,
    /// The invoice that it was for.
    #[schema(example = "inv_01kdvh3c0g5t8v9w2x4y6z8a1b")]
    invoice_id: Option<String>,
    /// The order that it was for.
    #[schema(example = "ord_01kdvh3c0g5t8v9w2x4y6z8a1b")]
    order_id: Option<String>,
    /// The quote that was paid.
    quote_id: Option<HashText>,
    /// The transaction.
    tx_hash: HashText,
    /// Who paid.
    payer: AddressText,
    /// How much, in coin.
    #[schema(value_type = String, example = "150")]
    amount: CoinText,
    /// How much, in wei.
    #[schema(value_type = String, example = "150000000000000000000")]
    amount_wei: WeiText,
    /// The block.
    block_number: Long,
    /// The block's time.
    paid_at: TimeText,
}

impl From<PaymentRow> for PaymentView {
    fn from(row: PaymentRow) -> Self {
        Self {
            id: row.id.to_string(),
            purpose: row.purpose.name(),
            exception: row.exception.name(),
            invoice_id: row.invoice_id.map(|id| id.to_string()),
            order_id: row.order_id.map(|id| id.to_string()),
            quote_id: row.quote_id.map(HashText),
            tx_hash: HashText(row.tx_hash),
            payer: AddressText(row.payer),
            amount: CoinText(row.amount),
            amount_wei: WeiText(row.amount.0),
            block_number: Long(row.block_number),
            paid_at: TimeText::from_millis(row.block_time),
        }
    }
}
