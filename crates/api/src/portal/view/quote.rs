//! Quotes, and the transaction that settles one.

use contracts::quote::QuoteTerms;
use merchant::{PaymentRequest, payment_link};
use serde::Serialize;
use store::portal::QuoteRow;
use utoipa::ToSchema;

use super::{rate::RateView, transaction::TransactionRequestView};
use crate::view::{CoinText, HashText, Long, TimeText, WeiText};

/// What an invoice costs in coin, for a while.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct QuoteView {
    /// The hash of its terms, as the contract computes it.
    id: HashText,
    /// The price, in coin.
    #[schema(value_type = String, example = "150")]
    amount: CoinText,
    /// The price, in wei.
    #[schema(value_type = String, example = "150000000000000000000")]
    amount_wei: WeiText,
    /// What the coin costs.
    rate: RateView,
    /// Last second of the chain in which it can be paid.
    deadline: TimeText,
    /// The same in seconds since 1970, as the contract has it.
    deadline_seconds: Long,
    /// The transaction to send.
    tx: TransactionRequestView,
    /// The same as a link for wallets (EIP-681).
    #[schema(
        pattern = "^ethereum:",
        example = "ethereum:0x0000000000000000000000000000000000008803@8845/pay?value=1"
    )]
    eip681: String,
}

/// A quote by itself.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct QuoteAnswerView {
    /// The quote.
    pub(crate) quote: QuoteView,
}

impl QuoteView {
    pub(crate) fn new(quote: &QuoteRow, terms: &QuoteTerms) -> Self {
        Self {
            id: HashText(quote.id),
            amount: CoinText(quote.amount),
            amount_wei: WeiText(quote.amount.0),
            rate: quote.into(),
            deadline: TimeText::from_unix(quote.deadline),
            deadline_seconds: Long(quote.deadline),
            tx: PaymentRequest::quote(terms).into(),
            eip681: payment_link(terms),
        }
    }
}
