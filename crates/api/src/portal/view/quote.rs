//! Quotes, and the transaction that settles one.

use contracts::quote::QuoteTerms;
use merchant::{PaymentRequest, payment_link};
use serde::Serialize;
use store::portal::QuoteRow;
use utoipa::ToSchema;

use super::rate::RateView;
use crate::view::{AddressText, CoinText, HashText, HexText, Long, TimeText, WeiText};

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
    tx: QuoteTransactionView,
    /// The same as a link for wallets (EIP-681).
    #[schema(
        pattern = "^ethereum:",
        example = "ethereum:0x0000000000000000000000000000000000008803@8845/pay?value=1"
    )]
    eip681: String,
}

/// The transaction that settles a quote.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct QuoteTransactionView {
    /// The chain.
    #[schema(example = 8845)]
    chain_id: Long,
    /// The contract.
    to: AddressText,
    /// The amount to send, in wei and hexadecimal.
    #[schema(pattern = "^0x[0-9a-f]+$", example = "0x821ab0d4414980000")]
    value: String,
    /// The call.
    data: HexText,
}

/// A quote by itself.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct QuoteAnswerView {
    /// The quote.
    pub(crate) quote: QuoteView,
}

impl QuoteView {
    pub(crate) fn new(quote: &QuoteRow, terms: &QuoteTerms) -> Self {
        let call = PaymentRequest::quote(terms);
        Self {
            id: HashText(quote.id),
            amount: CoinText(quote.amount),
            amount_wei: WeiText(quote.amount.0),
            rate: quote.into(),
            deadline: TimeText::from_unix(quote.deadline),
            deadline_seconds: Long(quote.deadline),
            tx: QuoteTransactionView {
                chain_id: Long(call.chain_id),
                to: AddressText(call.to),
                value: format!("{:#x}", call.value.0),
                data: HexText(call.data),
            },
            eip681: payment_link(terms),
        }
    }
}
