//! The developer and merchant portal under `/api/v1/platform-dev`.

mod answer;
mod idempotency;
mod invoice_request;
mod pay;
mod qr;
mod rates;
mod stream;
mod view;

use merchant::{Checkout, Dashboards, Invoices, Rates};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{problem::Problem, rest::Shared, state::ApiState};

pub use pay::QuoteLimits;
pub use stream::PayStreams;

/// What the portal's handlers work with.
pub struct Portal {
    /// Merchants' invoices.
    pub invoices: Invoices,
    /// Quotes for whoever pays one.
    pub checkout: Checkout,
    /// What the coin costs.
    pub rates: Rates,
    /// What merchants have done.
    pub dashboards: Dashboards,
    /// How often quotes are asked for.
    pub quote_limits: QuoteLimits,
    /// Everybody who watches a payment link.
    pub streams: PayStreams,
}

impl ApiState {
    /// The portal.
    pub(crate) fn portal(&self) -> Result<&Portal, Problem> {
        Ok(&self.portal)
    }

    /// The time of the chain's head in seconds, if it is known.
    fn chain_time(&self) -> Option<u64> {
        self.head().ok().map(|head| head.header.timestamp)
    }
}

/// Every route of the portal, with its description.
pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(rates::get_current_rate))
        .routes(routes!(pay::get_payment_page))
        .routes(routes!(pay::create_quote))
        .routes(routes!(stream::watch_payment_page))
        .routes(routes!(qr::get_qr_code))
}
