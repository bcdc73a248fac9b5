//! Developer keys as their owner sees them.

use domain::portal::{MOST_ACTIVE_KEYS, Scopes};
use merchant::ClaimedKey;
use serde::Serialize;
use store::portal::DeveloperKeyRow;
use utoipa::ToSchema;

use crate::view::{Long, TimeText};

/// A developer key. Its secret is not here.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeveloperKeyView {
    /// Its public part.
    #[schema(pattern = "^[0-9A-Za-z]{12}$", example = "7Kq2mXc9TzPa")]
    id: String,
    /// What its owner calls it.
    #[schema(example = "shop backend")]
    name: String,
    /// What it may be used for.
    #[schema(example = json!(["invoices:read", "invoices:write"]))]
    scopes: Vec<&'static str>,
    /// The plan that it was bought with.
    #[schema(pattern = "^(monthly|quarterly|yearly)$", example = "monthly")]
    plan: &'static str,
    /// Whether it is good.
    #[schema(pattern = "^(active|expired|revoked)$", example = "active")]
    state: &'static str,
    /// The last four characters of its text.
    #[schema(example = "Zr0T")]
    last4: String,
    /// The order that bought it.
    #[schema(pattern = "^ord_[0-9a-hjkmnp-tv-z]{26}$", example = "ord_01kdvh3c0g5t8v9w2x4y6z8a1b")]
    order_id: String,
    /// When it was made.
    created_at: TimeText,
    /// From when on it is refused.
    expires_at: TimeText,
    /// When it was taken back.
    revoked_at: Option<TimeText>,
    /// When it was last used, to the minute or so.
    last_used_at: Option<TimeText>,
}

impl DeveloperKeyView {
    /// A key as it is at a time, in Unix milliseconds.
    pub(crate) fn new(row: DeveloperKeyRow, now: u64) -> Self {
        let state = row.state_at(now).name();
        let DeveloperKeyRow {
            id,
            wallet: _,
            order,
            plan,
            name,
            scopes,
            mac: _,
            pepper_version: _,
            last4,
            created_at,
            expires_at,
            revoked_at,
            last_used_at,
        } = row;
        Self {
            id: id.to_string(),
            name,
            scopes: scope_names(scopes),
            plan: plan.name(),
            state,
            last4,
            order_id: order.to_string(),
            created_at: TimeText::from_millis(created_at),
            expires_at: TimeText::from_millis(expires_at),
            revoked_at: revoked_at.map(TimeText::from_millis),
            last_used_at: last_used_at.map(TimeText::from_millis),
        }
    }
}

/// The words of scopes.
pub(crate) fn scope_names(scopes: Scopes) -> Vec<&'static str> {
    scopes.iter().map(|scope| scope.name()).collect()
}

/// A key by itself.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KeyAnswerView {
    /// The key.
    pub(crate) key: DeveloperKeyView,
}

/// A key that was made just now.
#[derive(Serialize, ToSchema)]
pub(crate) struct ClaimedKeyView {
    /// The key.
    key: DeveloperKeyView,
    /// Its text. It is shown here and never again.
    #[schema(
        pattern = "^pdk_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}$",
        example = "pdk_7Kq2mXc9TzPa_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg2ZZr0T"
    )]
    secret: String,
}

impl From<ClaimedKey> for ClaimedKeyView {
    fn from(claimed: ClaimedKey) -> Self {
        let ClaimedKey { key, secret } = claimed;
        let now = key.created_at;
        Self { key: DeveloperKeyView::new(key, now), secret: secret.expose().to_owned() }
    }
}

/// A wallet's keys.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KeyListView {
    /// The keys, newest first; those that are no longer good are listed, too.
    keys: Vec<DeveloperKeyView>,
    /// Keys that are active.
    active: Long,
    /// Keys that may be active at once, those included that are ordered.
    #[schema(example = 5)]
    limit: Long,
}

impl KeyListView {
    /// Keys as they are at a time, in Unix milliseconds.
    pub(crate) fn new(rows: Vec<DeveloperKeyRow>, now: u64) -> Self {
        let keys: Vec<DeveloperKeyView> =
            rows.into_iter().map(|row| DeveloperKeyView::new(row, now)).collect();
        let active = keys.iter().filter(|key| key.state == "active").count();
        Self { keys, active: Long(active as u64), limit: Long(MOST_ACTIVE_KEYS) }
    }
}
