//! What a merchant has done, at a glance.

use alloy_primitives::Address;
use domain::{Wei, portal::MOST_ACTIVE_KEYS};
use jiff::{Timestamp, tz::TimeZone};
use merchant::{Checkout, Dashboard};
use serde::Serialize;
use store::portal::{RevenueRow, WalletRow, WebhookRow};
use utoipa::ToSchema;

use super::invoice::InvoiceView;
use crate::view::{AddressText, CoinText, Long, TimeText, WeiText};

const DAY_SECONDS: u64 = 86_400;

/// What a merchant has done.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DashboardView {
    /// The merchant.
    wallet: AddressText,
    /// How many invoices there are.
    invoices: InvoiceCountsView,
    /// What they brought.
    revenue: RevenueView,
    /// Developer keys.
    keys: KeyCountView,
    /// The webhook, if there is one.
    webhook: Option<WebhookHealthView>,
    /// The newest invoices.
    recent_invoices: Vec<InvoiceView>,
}

/// How many invoices there are in each state.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InvoiceCountsView {
    /// Those that can be paid.
    open: Long,
    /// Those that are paid.
    paid: Long,
    /// Those that nobody paid in time.
    expired: Long,
    /// Those that were taken back.
    void: Long,
}

/// What paid invoices brought.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RevenueView {
    /// In rupiah.
    #[schema(example = 150000)]
    idr: Long,
    /// In coin.
    #[schema(value_type = String, example = "150")]
    coin: CoinText,
    /// In wei.
    #[schema(value_type = String, example = "150000000000000000000")]
    coin_wei: WeiText,
    /// The last 30 days in UTC, today last.
    last30_days: Vec<RevenueDayView>,
}

/// What paid invoices brought on a day.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RevenueDayView {
    /// The day, in UTC.
    #[schema(pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$", example = "2026-01-01")]
    date: String,
    /// In rupiah.
    #[schema(example = 150000)]
    idr: Long,
    /// In coin.
    #[schema(value_type = String, example = "150")]
    coin: CoinText,
    /// In wei.
    #[schema(value_type = String, example = "150000000000000000000")]
    coin_wei: WeiText,
    /// How many were paid.
    invoices: Long,
}

/// How many developer keys a wallet has.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KeyCountView {
    /// Those that are good.
    #[schema(example = 1)]
    active: Long,
    /// Most that may be.
    #[schema(example = 5)]
    limit: Long,
}

/// How a webhook is doing.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WebhookHealthView {
    /// Where events are sent.
    #[schema(example = "https://shop.example.org/hooks")]
    url: String,
    /// Whether they are sent.
    #[schema(pattern = "^(active|disabled)$", example = "active")]
    state: &'static str,
    /// Part of the attempts that succeeded, from 0 to 1; null before the first.
    #[schema(minimum = 0, maximum = 1, example = 0.98)]
    success_rate: Option<f64>,
    /// Attempts that succeeded.
    delivered_count: Long,
    /// Attempts that failed.
    failed_count: Long,
    /// Since when nothing was delivered.
    failing_since: Option<TimeText>,
    /// Why nothing is sent.
    disabled_reason: Option<String>,
}

/// What a dashboard is made of.
pub(crate) struct DashboardParts {
    pub(crate) wallet: Address,
    pub(crate) dashboard: Dashboard,
    pub(crate) active_keys: u64,
    pub(crate) webhook: Option<WebhookRow>,
}

impl DashboardView {
    pub(crate) fn new(checkout: &Checkout, parts: DashboardParts) -> Self {
        let Dashboard { wallet, days, recent } = parts.dashboard;
        let count = |count: fn(&WalletRow) -> u64| Long(wallet.as_ref().map_or(0, count));
        let revenue = wallet.as_ref().map_or(Wei::default(), |wallet| wallet.revenue);
        Self {
            wallet: AddressText(parts.wallet),
            invoices: InvoiceCountsView {
                open: count(|wallet| wallet.open_count),
                paid: count(|wallet| wallet.paid_count),
                expired: count(|wallet| wallet.expired_count),
                void: count(|wallet| wallet.void_count),
            },
            revenue: RevenueView {
                idr: count(|wallet| wallet.revenue_idr),
                coin: CoinText(revenue),
                coin_wei: WeiText(revenue.0),
                last30_days: days.iter().map(RevenueDayView::from).collect(),
            },
            keys: KeyCountView { active: Long(parts.active_keys), limit: Long(MOST_ACTIVE_KEYS) },
            webhook: parts.webhook.map(WebhookHealthView::from),
            recent_invoices: recent.into_iter().map(|record| InvoiceView::new(checkout, record)).collect(),
        }
    }
}

impl From<&RevenueRow> for RevenueDayView {
    fn from(row: &RevenueRow) -> Self {
        let TimeText(start) = TimeText::from_unix(row.day.saturating_mul(DAY_SECONDS));
        Self {
            date: date(start),
            idr: Long(row.amount_idr),
            coin: CoinText(row.amount),
            coin_wei: WeiText(row.amount.0),
            invoices: Long(row.invoices),
        }
    }
}

fn date(start: Timestamp) -> String {
    start.to_zoned(TimeZone::UTC).date().to_string()
}

impl From<WebhookRow> for WebhookHealthView {
    fn from(row: WebhookRow) -> Self {
        let attempts = row.delivered_count.saturating_add(row.failed_count);
        Self {
            url: row.url,
            state: row.state.name(),
            success_rate: (attempts > 0).then(|| row.delivered_count as f64 / attempts as f64),
            delivered_count: Long(row.delivered_count),
            failed_count: Long(row.failed_count),
            failing_since: row.failing_since.map(TimeText::from_millis),
            disabled_reason: row.disabled_reason,
        }
    }
}
