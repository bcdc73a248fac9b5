//! `/api/v1/platform-dev/v1/key`: what a developer key is good for, for programs that want to know before they need it.

use accounts::Grant;
use serde::Serialize;
use utoipa::ToSchema;

use super::guard::DeveloperCaller;
use crate::{
    code::Code,
    describe::Refusals,
    edge::answer::{Answer, Holds},
    problem::Problem,
    view::{AddressText, TimeText},
};

/// What this key is
///
/// Every good key may ask, whatever its scopes.
#[utoipa::path(
    get, path = "/api/v1/platform-dev/v1/key", tag = "Portal keys",
    responses((
        status = 200, description = "The key", body = CurrentKeyView,
        headers(("X-Key-Expires-At" = String, description = "From when on the key is refused"))
    ))
)]
pub(super) async fn get_current_key(caller: DeveloperCaller) -> Result<Answer, Problem> {
    Answer::json(&CurrentKeyView::from(&*caller.grant), Holds::Never)
}

/// A developer key, as it sees itself.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CurrentKeyView {
    /// Its public part.
    #[schema(example = "7Kq2mXc9TzPa")]
    id: String,
    /// What its owner calls it.
    #[schema(example = "shop backend")]
    name: String,
    /// The wallet that it acts for.
    wallet: AddressText,
    /// The plan that it was bought with.
    #[schema(example = "monthly")]
    plan: &'static str,
    /// What it may be used for.
    #[schema(example = json!(["invoices:read", "invoices:write"]))]
    scopes: Vec<&'static str>,
    /// From when on it is refused.
    expires_at: TimeText,
}

impl From<&Grant> for CurrentKeyView {
    fn from(grant: &Grant) -> Self {
        let Grant { id, wallet, scopes, name, plan, expires_at } = grant;
        Self {
            id: id.to_string(),
            name: name.clone(),
            wallet: AddressText(*wallet),
            plan: plan.name(),
            scopes: scopes.iter().map(|scope| scope.name()).collect(),
            expires_at: TimeText(*expires_at),
        }
    }
}

/// Refusals of what every good key may ask.
pub(crate) const REFUSALS: &[Refusals] = &[(
    "get_current_key",
    &[
        Code::ApiKeyAmbiguous,
        Code::ApiKeyMissing,
        Code::ApiKeyInvalid,
        Code::ApiKeyRevoked,
        Code::ApiKeyExpired,
        Code::NotFound,
        Code::DatabaseUnavailable,
    ],
)];
