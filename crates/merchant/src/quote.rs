//! Quotes: what an invoice costs in coin, for a quarter of an hour.
//!
//! Time is the chain's: a quote ends when a block after its deadline is there, because that is how the contract decides. An
//! invoice has one quote at a time that can be paid, so that nobody can pay it twice.

use std::{borrow::Cow, sync::Arc};

use access::Clock;
use alloy_primitives::{Address, B256};
use chain::ChainClient;
use contracts::quote::QuoteTerms;
use domain::{
    Failure, FailureKind, WebUrl,
    portal::{InvoiceState, InvoiceToken},
};
use store::{
    Db, StoreError,
    portal::{InvoiceRecord, InvoiceRow, NewQuote, QuoteIssue, QuoteRow, RateRow},
};

use crate::time::millis;

/// How long a quote can be paid, in seconds of the chain.
const LIFETIME: u64 = 15 * 60;

/// Where invoices are paid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckoutPlace {
    /// The chain.
    pub chain_id: u64,
    /// The contract on it.
    pub contract: Address,
    /// The web pages, of which one is for paying.
    pub pages: WebUrl,
}

/// Gives quotes.
#[derive(Clone)]
pub struct Checkout {
    db: Db,
    chain: Arc<dyn ChainClient>,
    place: CheckoutPlace,
    clock: Clock,
}

/// Why there is no quote.
#[derive(Debug, thiserror::Error)]
pub enum QuoteError {
    /// No invoice has this token.
    #[error("there is no such invoice")]
    NotFound,
    /// The invoice cannot be paid any more.
    #[error("the invoice cannot be paid any more")]
    NotOpen,
    /// Nobody has said what the coin costs.
    #[error("there is no rate")]
    RateMissing,
    /// The last quote may have been paid; that is not known yet.
    #[error("payments are not credited up to the deadline of the last quote")]
    Unsettled,
    /// The chain's time is not known.
    #[error("the chain does not answer")]
    ChainUnavailable,
    /// The database failed.
    #[error("quotes cannot be read or written")]
    Store(#[from] StoreError),
}

impl Checkout {
    /// Quotes for the contract at `place`.
    pub fn new(db: Db, chain: Arc<dyn ChainClient>, place: CheckoutPlace, clock: Clock) -> Self {
        Self { db, chain, place, clock }
    }

    /// The payment link with this token.
    pub fn pay_url(&self, token: InvoiceToken) -> String {
        format!("{}/pay/{token}", self.place.pages)
    }

    /// The invoice of a payment link.
    pub async fn find(&self, token: InvoiceToken) -> Result<InvoiceRecord, QuoteError> {
        self.db.find_invoice_by_token(token).await?.ok_or(QuoteError::NotFound)
    }

    /// The invoice of a payment link with a quote that can be paid: the one it has, or a new one.
    pub async fn quote(&self, token: InvoiceToken) -> Result<(InvoiceRecord, QuoteRow), QuoteError> {
        let record = self.find(token).await?;
        let invoice = &record.invoice;
        if invoice.state != InvoiceState::Open || invoice.void_requested_at.is_some() {
            return Err(QuoteError::NotOpen);
        }
        let chain_time = self.chain_time()?;
        if let Some(quote) = record.quote.clone().filter(|quote| quote.deadline >= chain_time) {
            return Ok((record, quote));
        }
        let rate = self.db.find_rate().await?.ok_or(QuoteError::RateMissing)?;
        let deadline = deadline(chain_time, invoice.expires_at).ok_or(QuoteError::NotOpen)?;
        let quote = self.price(invoice, &rate, deadline, B256::from(rand::random::<[u8; 32]>()));
        let at = millis((self.clock)());
        let new = NewQuote { wallet: invoice.wallet, invoice: invoice.id, quote: &quote, chain_time, at };
        match self.db.issue_quote(new).await? {
            QuoteIssue::Quoted(record) => {
                let quote = record.quote.clone().unwrap_or(quote);
                Ok((*record, quote))
            }
            QuoteIssue::NotOpen => Err(QuoteError::NotOpen),
            QuoteIssue::Unsettled => Err(QuoteError::Unsettled),
            QuoteIssue::Unknown => Err(QuoteError::NotFound),
        }
    }

    /// What the contract is told to settle a quote.
    pub fn terms(&self, invoice: &InvoiceRow, quote: &QuoteRow) -> QuoteTerms {
        QuoteTerms {
            chain_id: self.place.chain_id,
            checkout: self.place.contract,
            merchant: invoice.wallet,
            amount: quote.amount.0,
            deadline: quote.deadline,
            salt: quote.salt,
        }
    }

    /// The time of the chain's head, in seconds.
    fn chain_time(&self) -> Result<u64, QuoteError> {
        let head = self.chain.heads().borrow().clone();
        let head = head.filter(|_| self.chain.is_reachable());
        head.map(|head| head.header.timestamp).ok_or(QuoteError::ChainUnavailable)
    }

    fn price(&self, invoice: &InvoiceRow, rate: &RateRow, deadline: u64, salt: B256) -> QuoteRow {
        let mut quote = QuoteRow {
            id: B256::ZERO,
            amount: rate.rate.price(invoice.amount_idr),
            rate_id: rate.id,
            rate: rate.rate,
            rate_at: rate.created_at,
            deadline,
            salt,
        };
        quote.id = self.terms(invoice, &quote).id();
        quote
    }
}

/// Until when a quote can be paid that is given now: never beyond the invoice. None if the next block is beyond it.
fn deadline(chain_time: u64, expires_at_millis: u64) -> Option<u64> {
    let end = expires_at_millis / 1_000;
    (chain_time < end).then(|| chain_time.saturating_add(LIFETIME).min(end))
}

/// The transaction that settles a quote, as a link for wallets (EIP-681).
pub fn payment_link(terms: &QuoteTerms) -> String {
    format!(
        "ethereum:{}@{}/pay?bytes32={}&address={}&uint256={}&uint256={}&bytes32={}&value={}",
        terms.checkout,
        terms.chain_id,
        terms.id(),
        terms.merchant,
        terms.amount,
        terms.deadline,
        terms.salt,
        terms.amount
    )
}

impl Failure for QuoteError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::NotFound => FailureKind::NotFound,
            Self::NotOpen => FailureKind::Conflict,
            Self::RateMissing | Self::Unsettled | Self::ChainUnavailable => FailureKind::Unavailable,
            Self::Store(error) => error.kind(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NotFound => "invoice_not_found",
            Self::NotOpen => "invoice_not_open",
            Self::RateMissing => "rate_unavailable",
            Self::Unsettled => "payments_behind",
            Self::ChainUnavailable => "chain_unavailable",
            Self::Store(error) => error.code(),
        }
    }

    fn detail(&self) -> Cow<'static, str> {
        match self {
            Self::NotFound => "There is no such invoice.".into(),
            Self::NotOpen => {
                "The invoice is paid, has expired or was taken back: there is nothing to pay.".into()
            }
            Self::RateMissing => "The operator of this network has not said what the coin costs, so that there is no price yet; try again later.".into(),
            Self::Unsettled => {
                "The last quote has just ended and may have been paid; try again in a moment.".into()
            }
            Self::ChainUnavailable => "No node of the chain answers; try again in a moment.".into(),
            Self::Store(error) => error.detail(),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloy_primitives::{U256, address};
    use alloy_sol_types::SolCall;
    use contracts::PlatformCheckout::payCall;
    use domain::Wei;

    use super::*;
    use crate::PaymentRequest;

    #[test]
    fn a_quote_ends_with_its_invoice_at_the_latest() {
        assert_eq!(deadline(1_000, 10_000_000), Some(1_900));
        assert_eq!(deadline(1_000, 1_900_000), Some(1_900));
        assert_eq!(deadline(1_000, 1_899_999), Some(1_899));
        assert_eq!(deadline(1_000, 1_001_000), Some(1_001));
        assert_eq!(deadline(1_000, 1_000_999), None, "the next block is too late");
        assert_eq!(deadline(1_000, 5), None);
    }

    #[test]
    fn a_link_names_everything_that_the_call_has() {
        let terms = QuoteTerms {
            chain_id: 8845,
            checkout: address!("0000000000000000000000000000000000008803"),
            merchant: address!("f39fd6e51aad88f6f4ce6ab8827279cfffb92266"),
            amount: U256::from(150u64),
            deadline: 1_767_226_500,
            salt: B256::repeat_byte(7),
        };
        let link = payment_link(&terms);
        let expected = format!(
            "ethereum:0x0000000000000000000000000000000000008803@8845/pay?bytes32={}&\
             address=0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266&uint256=150&uint256=1767226500&bytes32=0x{}&value=150",
            terms.id(),
            "07".repeat(32)
        );
        assert_eq!(link, expected);
        let call = PaymentRequest::quote(&terms);
        assert_eq!((call.chain_id, call.to, call.value), (8845, terms.checkout, Wei(terms.amount)));
        let decoded = payCall::abi_decode(&call.data).unwrap();
        assert_eq!((decoded.quoteId, decoded.deadline), (terms.id(), U256::from(terms.deadline)));
    }
}
