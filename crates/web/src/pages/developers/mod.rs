//! The developer and merchant portal: who is signed in, and what the pages of it have in common.
//!
//! Everything here is for a wallet's session. Forms are sent to the page that they are on, and do what the API does for the same
//! wallet; only signing in and paying need a script, because a wallet does.

mod dashboard;
mod delivery;
mod events;
mod invoice;
mod invoice_draft;
mod invoices;
mod keys;
pub(crate) mod labels;
mod order;
mod secret;
mod webhook;
mod webhook_change;
mod welcome;

use std::{net::IpAddr, sync::Arc};

use accounts::Session;
use alloy_primitives::Address;
use api::Portal;
use askama::Template;
use axum::{
    Router,
    extract::{FromRequestParts, Query, rejection::QueryRejection},
    http::request::Parts,
    response::{IntoResponse, Response},
    routing::get,
};
use domain::{FailureKind, portal::origin_of};
use hyper::{
    Method, StatusCode,
    header::{self, HeaderValue},
};

use crate::{
    failure::{Failure, Malformed, Missing},
    page::{Shown, go_to, show_with},
    parts::AddressLink,
    site::Site,
    visit::Visit,
    words::Language,
};

/// Rows of a list.
const ROWS: u32 = 25;

words! {
    TabWords {
        portal: "Developer portal", "Portal pengembang";
        dashboard: "Dashboard", "Dasbor";
        keys: "Keys", "Kunci";
        webhook: "Webhook", "Webhook";
        invoices: "Invoices", "Tagihan";
        signed_in: "Signed in as", "Masuk sebagai";
        sign_out: "Sign out", "Keluar";
    }
}

/// Every route of the portal's pages.
pub(crate) fn routes() -> Router<Arc<Site>> {
    Router::new()
        .route("/developers", get(dashboard::show).post(dashboard::sign_out))
        .route("/developers/keys", get(keys::show).post(keys::change))
        .route("/developers/orders/{id}", get(order::show).post(order::change))
        .route("/developers/webhook", get(webhook::show).post(webhook_change::change))
        .route("/developers/webhook/events", get(events::show))
        .route("/developers/webhook/deliveries/{id}", get(delivery::show).post(delivery::redeliver))
        .route("/developers/invoices", get(invoices::show).post(invoices::create))
        .route("/developers/invoices/{id}", get(invoice::show).post(invoice::void))
}

/// The portal, where there is one.
pub(crate) fn portal(site: &Site) -> Result<&Portal, Failure> {
    site.api.portal.as_ref().ok_or(Failure::Missing(Missing::Portal))
}

/// Whoever is signed in. A handler that takes one cannot forget to ask, nor that a change must come from a page of ours; who is
/// not signed in is shown how to be.
pub(crate) struct Member {
    session: Session,
    address: IpAddr,
}

impl Member {
    /// The wallet.
    pub(crate) fn wallet(&self) -> Address {
        self.session.wallet
    }

    /// Where it comes from, for the audit log.
    pub(crate) fn origin(&self) -> Option<String> {
        Some(origin_of(self.address))
    }
}

impl FromRequestParts<Arc<Site>> for Member {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, site: &Arc<Site>) -> Result<Self, Response> {
        let portal = portal(site).map_err(IntoResponse::into_response)?;
        let is_change = parts.method != Method::GET;
        if is_change && !portal.is_own_page(&parts.headers) {
            return Err(Failure::WrongOrigin.into_response());
        }
        let session = portal.session_of(&parts.headers).await;
        let session = session.map_err(|error| Failure::from(error).into_response())?;
        let Ok(visit) = Visit::from_request_parts(parts, site).await;
        match session {
            Some(session) => Ok(Self { session, address: visit.address }),
            None if is_change => Err(go_to(parts.uri.path())),
            None => Err(welcome::ask(site, &visit)),
        }
    }
}

/// What stands above every page of the portal.
#[derive(Template)]
#[template(path = "developers_tabs.html")]
pub(crate) struct Tabs {
    w: &'static TabWords,
    current: &'static str,
    wallet: AddressLink,
}

impl Tabs {
    fn new(current: &'static str, member: &Member, language: Language) -> Self {
        let wallet = AddressLink::new(member.wallet(), None).pictured();
        Self { w: TabWords::of(language), current, wallet }
    }
}

/// A page of whoever is signed in: nobody keeps it. Forms of a page without a referrer would be sent without their origin, too,
/// which is what tells that they are ours.
fn show(template: &impl Template) -> Shown {
    show_as(StatusCode::OK, template)
}

/// The same with another status.
fn show_as(status: StatusCode, template: &impl Template) -> Shown {
    let mut response = show_with(status, template)?;
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    Ok(response)
}

/// What went wrong below, as far as a page cannot say it better.
fn refused(error: impl domain::Failure) -> Failure {
    match error.kind() {
        FailureKind::NotFound => Failure::Missing(Missing::OfWallet),
        FailureKind::Unavailable => Failure::DatabaseUnavailable(error.to_string()),
        FailureKind::Limited => Failure::TooMany(60),
        FailureKind::Malformed
        | FailureKind::Invalid
        | FailureKind::Unauthenticated
        | FailureKind::Forbidden
        | FailureKind::Conflict
        | FailureKind::Internal => Failure::Internal(error.to_string()),
    }
}

/// What the query of a page asks for.
fn asked<T>(query: Result<Query<T>, QueryRejection>) -> Result<T, Failure> {
    let Query(wanted) = query.map_err(|_| Failure::Malformed(Malformed::Parameter("query")))?;
    Ok(wanted)
}

/// What is no id is the id of nothing.
fn read_id<T: std::str::FromStr>(text: &str) -> Result<T, Failure> {
    text.parse().map_err(|_| Failure::Missing(Missing::OfWallet))
}
