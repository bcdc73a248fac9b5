//! An invoice as whoever is to pay it sees it. What the merchant wrote about the customer is not shown: the link may be
//! passed on.

use domain::{Deployment, portal::InvoiceState};
use merchant::Checkout;
use serde::Serialize;
use store::portal::{InvoiceRecord, RateRow};
use utoipa::ToSchema;

use super::{payment::InvoicePaymentView, quote::QuoteView, rate::RateView};
use crate::view::{AddressText, Long, TimeText};

/// What is to be paid, and how.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PayView {
    /// The invoice.
    invoice: PayInvoiceView,
    /// What it costs in coin, once somebody has asked, and while that holds.
    quote: Option<QuoteView>,
    /// What the coin costs now.
    rate: Option<RateView>,
    /// Where it is paid.
    network: PayNetworkView,
}

/// An invoice without what its merchant wrote.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PayInvoiceView {
    /// `open` until it is `paid`, has `expired` on the chain or is `void`.
    #[schema(pattern = "^(open|paid|expired|void)$", example = "open")]
    status: &'static str,
    /// How much, in rupiah.
    #[schema(example = 150000)]
    amount_idr: Long,
    /// Who is paid.
    merchant: AddressText,
    /// When it was made.
    created_at: TimeText,
    /// Until when it can be paid.
    expires_at: TimeText,
    /// When it was paid.
    paid_at: Option<TimeText>,
    /// The merchant has taken it back: there will be no further quote.
    is_voiding: bool,
    /// The payment that settled it.
    payment: Option<InvoicePaymentView>,
}

/// The network that an invoice is paid on.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PayNetworkView {
    /// The network.
    #[schema(example = "devnet")]
    network: &'static str,
    /// Its name in wallets.
    #[schema(example = "Platform Private Testnet")]
    name: String,
    /// Its chain id.
    #[schema(example = 8845)]
    chain_id: Long,
    /// The coin's symbol.
    #[schema(example = "PNC")]
    symbol: String,
    /// The contract that invoices are paid to.
    checkout: AddressText,
}

impl PayView {
    /// Whether nothing can change any more.
    pub(crate) fn is_over(&self) -> bool {
        self.invoice.status != InvoiceState::Open.name()
    }

    /// `chain_time` is that of the head, in seconds, if it is known: a quote from before it is not shown.
    pub(crate) fn new(
        deployment: &Deployment,
        checkout: &Checkout,
        record: &InvoiceRecord,
        rate: Option<&RateRow>,
        chain_time: Option<u64>,
    ) -> Self {
        let InvoiceRecord { invoice, quote: _, payment } = record;
        let is_open = invoice.state == InvoiceState::Open;
        let quote = record.payable_quote(chain_time);
        Self {
            invoice: PayInvoiceView {
                status: invoice.state.name(),
                amount_idr: Long(invoice.amount_idr),
                merchant: AddressText(invoice.wallet),
                created_at: TimeText::from_millis(invoice.created_at),
                expires_at: TimeText::from_millis(invoice.expires_at),
                paid_at: invoice.paid_at.map(TimeText::from_millis),
                is_voiding: is_open && invoice.void_requested_at.is_some(),
                payment: payment.as_ref().map(InvoicePaymentView::from),
            },
            quote: quote.map(|quote| QuoteView::new(quote, &checkout.terms(invoice, quote))),
            rate: rate.map(RateView::from),
            network: PayNetworkView {
                network: deployment.network.name(),
                name: deployment.wallet.chain_name.clone(),
                chain_id: Long(deployment.chain_id),
                symbol: deployment.wallet.native_currency.symbol.clone(),
                checkout: AddressText(deployment.contracts.platform_checkout),
            },
        }
    }
}
