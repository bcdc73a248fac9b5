//! Everything about a wallet.

use serde::Serialize;
use utoipa::ToSchema;

use super::{
    dashboard::DashboardView, key::DeveloperKeyView, order::OrderView, payment::PaymentView,
    webhook::WebhookView,
};

/// Everything about a wallet, but its secrets.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SummaryView {
    /// What it has done.
    pub(crate) dashboard: DashboardView,
    /// Its developer keys, newest first; those that are no longer good are listed, too.
    pub(crate) keys: Vec<DeveloperKeyView>,
    /// Its webhook, if there is one.
    pub(crate) webhook: Option<WebhookView>,
    /// Its last orders, newest first.
    pub(crate) orders: Vec<OrderView>,
    /// Its last payments, newest first: for invoices and orders, and those that nobody knows what for.
    pub(crate) payments: Vec<PaymentView>,
}
