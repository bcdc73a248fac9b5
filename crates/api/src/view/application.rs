//! A validator application, as everybody may see it and as the applicant sends it.

use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use validators::application::PublicApplication;

use super::{AddressText, CoinText, TimeText, WeiText, validator::percent};

/// What an applicant sends.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "only described: the body is read member by member, to name every fault")]
pub(crate) struct ApplicationRequest {
    /// Display name, 3 to 40 characters.
    #[schema(min_length = 3, max_length = 40, example = "Jakarta One")]
    moniker: String,
    /// Account of the operator, 0x-prefixed; mixed case must be EIP-55.
    #[schema(pattern = "^0x[0-9a-fA-F]{40}$", example = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266")]
    operator_address: String,
    /// Where the operator can be reached. Never shown.
    #[schema(format = Email, example = "ops@example.org")]
    email: String,
    /// Intended stake in coin, decimal, at least 100000.
    #[schema(pattern = "^[0-9]+(\\.[0-9]{1,18})?$", example = "100000")]
    stake_amount: String,
    /// Commission in percent, with at most two decimals.
    #[schema(minimum = 0, maximum = 20, example = 5)]
    commission: f64,
    /// The operator's website.
    #[schema(example = "https://validator.example.org")]
    website: Option<String>,
    /// Code of a region of the program.
    #[schema(example = "ID-JK")]
    region: Option<String>,
    /// Anything the reviewers should know. Never shown.
    #[schema(max_length = 2000, example = "Two sites, hardware keys.")]
    message: Option<String>,
}

/// An application.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApplicationView {
    /// Its id.
    #[schema(pattern = "^app_[0-9a-f]{32}$", example = "app_0192f00d0192f00d0192f00d0192f00d")]
    id: String,
    /// Where it stands.
    #[schema(
        pattern = "^(submitted|in_review|approved|staked|voting|active|rejected|withdrawn|removed)$",
        example = "submitted"
    )]
    state: &'static str,
    /// What has to happen next.
    #[schema(example = "The technical review starts within 7 days of the application.")]
    next_step: &'static str,
    /// Display name.
    #[schema(example = "Jakarta One")]
    moniker: String,
    /// Account of the operator.
    operator_address: AddressText,
    /// Intended stake in coin.
    #[schema(example = "100000")]
    stake_amount: CoinText,
    /// The same in wei.
    stake_amount_wei: WeiText,
    /// Commission in percent.
    #[schema(minimum = 0, maximum = 20, example = 5.0)]
    commission: f64,
    /// The operator's website.
    #[schema(example = "https://validator.example.org")]
    website: Option<String>,
    /// Code of a region.
    #[schema(example = "ID-JK")]
    region: Option<String>,
    /// When it came in.
    submitted_at: TimeText,
    /// When the review is to be over.
    review_due_at: TimeText,
    /// When its state last changed.
    updated_at: TimeText,
    /// The states it has been in, oldest first.
    history: Vec<ApplicationStepView>,
    /// Whether the applicant has confirmed the e-mail address, with the link that was sent there; news is sent only then. Null
    /// where the network sends no mail.
    is_email_confirmed: Option<bool>,
}

/// What a link that confirms an e-mail address carries.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "only described: the body is read member by member, to name every fault")]
pub(crate) struct ConfirmationRequest {
    /// The last part of the link.
    #[schema(pattern = "^[0-9a-f]{32}$", example = "0192f00d0192f00d0192f00d0192f00d")]
    token: String,
}

/// An address that is confirmed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConfirmationView {
    /// Always true.
    pub(crate) is_email_confirmed: bool,
}

/// A state that an application has been in.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApplicationStepView {
    /// The state.
    #[schema(example = "submitted")]
    state: &'static str,
    /// When it was entered.
    at: TimeText,
}

impl From<&PublicApplication> for ApplicationView {
    fn from(application: &PublicApplication) -> Self {
        let steps = application.history.iter();
        Self {
            id: application.id.to_string(),
            state: application.state.name(),
            next_step: application.next_step,
            moniker: application.moniker.clone(),
            operator_address: AddressText(application.operator),
            stake_amount: CoinText(application.stake),
            stake_amount_wei: WeiText(application.stake.0),
            commission: percent(application.commission_bps),
            website: application.website.clone(),
            region: application.region.clone(),
            submitted_at: from_millis(application.submitted_at),
            review_due_at: from_millis(application.review_due_at),
            updated_at: from_millis(application.updated_at),
            history: steps
                .map(|(state, at)| ApplicationStepView { state: state.name(), at: from_millis(*at) })
                .collect(),
            is_email_confirmed: application.is_email_confirmed,
        }
    }
}

fn from_millis(millis: u64) -> TimeText {
    let millis = i64::try_from(millis).unwrap_or(i64::MAX);
    TimeText(Timestamp::from_millisecond(millis).unwrap_or(Timestamp::MAX))
}
