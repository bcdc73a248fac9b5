//! `GET /plans`: what the portal sells. For everybody.

use domain::{
    Wei,
    portal::{FeeSplit, MOST_ACTIVE_KEYS, Plan, WEBHOOK_FEE_COIN},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::view::order::SplitView;
use crate::{
    describe::Refusals,
    edge::answer::{Answer, Holds},
    problem::Problem,
    view::{CoinText, Long, WeiText},
};

/// What the portal sells
///
/// Plans of developer keys, and what saving the first webhook URL costs.
#[utoipa::path(
    get, path = "/api/v1/platform-dev/plans", tag = "Portal orders",
    responses((status = 200, description = "The plans", body = PlanListView))
)]
pub(super) async fn list_plans() -> Result<Answer, Problem> {
    let view = PlanListView {
        plans: Plan::ALL.into_iter().map(PlanView::from).collect(),
        webhook: FeeView::from(Wei::from_coin(WEBHOOK_FEE_COIN)),
        key_limit: Long(MOST_ACTIVE_KEYS),
    };
    Answer::json(&view, Holds::Process)
}

/// What the portal sells.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PlanListView {
    /// Plans of developer keys, shortest first.
    plans: Vec<PlanView>,
    /// What saving the first webhook URL costs.
    webhook: FeeView,
    /// Keys that a wallet may have active.
    #[schema(example = 5)]
    key_limit: Long,
}

/// A plan.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PlanView {
    /// Its word, for `POST /keys`.
    #[schema(pattern = "^(monthly|quarterly|yearly)$", example = "monthly")]
    plan: &'static str,
    /// Its name for people.
    #[schema(example = "Monthly")]
    title: &'static str,
    /// Days that a key is good for, from the moment it is made.
    #[schema(example = 30)]
    days: Long,
    #[serde(flatten)]
    fee: FeeView,
}

/// A price.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct FeeView {
    /// In coin.
    #[schema(value_type = String, example = "100")]
    amount: CoinText,
    /// In wei.
    #[schema(value_type = String, example = "100000000000000000000")]
    amount_wei: WeiText,
    /// Where it goes.
    split: SplitView,
}

impl From<Wei> for FeeView {
    fn from(fee: Wei) -> Self {
        Self { amount: CoinText(fee), amount_wei: WeiText(fee.0), split: FeeSplit::of(fee).into() }
    }
}

impl From<Plan> for PlanView {
    fn from(plan: Plan) -> Self {
        let fee = plan.fee().into();
        Self { plan: plan.name(), title: plan.title(), days: Long(plan.days()), fee }
    }
}

/// Refusals of what everybody may ask.
pub(crate) const REFUSALS: &[Refusals] = &[("list_plans", &[])];
