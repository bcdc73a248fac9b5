//! Payments.

use serde::Serialize;
use store::portal::InvoicePaymentRow;
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
