//! The developer and merchant portal under `/api/v1/platform-dev`.
//!
//! People come with a wallet's session, programs with a developer key; which of them a handler serves, and what a key must be
//! good for, is in its signature ([`guard`]). Whoever pays an invoice needs nothing but its link.

mod answer;
mod cookie;
pub(crate) mod current_key;
pub(crate) mod dashboard;
pub(crate) mod deliveries;
pub(crate) mod description;
pub(crate) mod guard;
mod hand;
mod idempotency;
mod invoice_pages;
mod invoice_request;
pub(crate) mod invoices;
pub(crate) mod keys;
pub(crate) mod orders;
pub(crate) mod pay;
pub(crate) mod plans;
mod qr;
pub(crate) mod rates;
pub(crate) mod session;
mod stream;
pub(crate) mod summary;
mod view;
pub(crate) mod webhooks;

use std::sync::Arc;

use access::{Counting, UniformLimiter};
use accounts::{DeveloperKeys, Sessions};
use hyper::header::HeaderValue;
use merchant::{Checkout, Dashboards, Invoices, Orders, Rates};
use utoipa_axum::{router::OpenApiRouter, routes};

use ::webhooks::Webhooks;

use crate::{rest::Shared, state::ApiState};

pub(crate) use answer::json;
pub(crate) use webhooks::promised_wait;

pub use invoice_pages::InvoicePages;
pub use pay::QuoteLimits;
pub use qr::qr_picture;
pub use stream::PayStreams;

/// Challenges that a client gets in a minute.
const CHALLENGES_PER_MINUTE: u32 = 30;

/// What the portal's handlers work with.
pub struct Portal {
    /// Who is signed in. Its housekeeping must run somewhere.
    pub sessions: Arc<Sessions>,
    /// Who may use the API. Its recording of uses must run somewhere.
    pub keys: Arc<DeveloperKeys>,
    /// Origins whose pages may change something with the cookie of a session.
    pub origins: Vec<HeaderValue>,
    /// Challenges that a client may ask for: [`Portal::challenge_limits`].
    pub challenges: UniformLimiter,
    /// What wallets buy.
    pub orders: Orders,
    /// Merchants' invoices.
    pub invoices: Invoices,
    /// Pages of them that have not changed.
    pub invoice_pages: InvoicePages,
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
    /// Where wallets are told. Its worker must run somewhere.
    pub webhooks: Webhooks,
}

impl Portal {
    /// Challenges that a client gets in a minute.
    pub fn challenge_limits(counting: &Counting) -> UniformLimiter {
        counting.limiter("challenges", CHALLENGES_PER_MINUTE)
    }
}

impl ApiState {
    /// The time of the chain's head in seconds, if it is known.
    fn chain_time(&self) -> Option<u64> {
        self.head().ok().map(|head| head.header.timestamp)
    }
}

/// Every route of the portal, with its description.
pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(session::create_challenge))
        .routes(routes!(session::create_session, session::get_session, session::delete_session))
        .routes(routes!(current_key::get_current_key))
        .routes(routes!(plans::list_plans))
        .routes(routes!(keys::create_key, keys::list_keys))
        .routes(routes!(keys::revoke_key))
        .routes(routes!(orders::list_orders))
        .routes(routes!(orders::get_order))
        .routes(routes!(orders::cancel_order))
        .routes(routes!(invoices::create_invoice, invoices::list_invoices))
        .routes(routes!(invoices::get_invoice))
        .routes(routes!(invoices::void_invoice))
        .routes(routes!(dashboard::get_dashboard))
        .routes(routes!(summary::get_summary))
        .routes(routes!(rates::get_current_rate))
        .routes(routes!(pay::get_payment_page))
        .routes(routes!(pay::create_quote))
        .routes(routes!(stream::watch_payment_page))
        .routes(routes!(qr::get_qr_code))
        .routes(routes!(webhooks::save_webhook, webhooks::get_webhook))
        .routes(routes!(webhooks::rotate_webhook))
        .routes(routes!(webhooks::test_webhook))
        .routes(routes!(deliveries::list_deliveries))
        .routes(routes!(deliveries::get_delivery))
        .routes(routes!(deliveries::redeliver))
        .routes(routes!(deliveries::list_events))
}
