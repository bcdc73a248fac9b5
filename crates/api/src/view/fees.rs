//! Burned and held fees, in total and per source.

use alloy_primitives::B256;
use async_graphql::SimpleObject;
use contracts::fees::{BURN_BPS, FeeSource};
use serde::Serialize;
use store::index::{FeeDay, FeeSums, FeeTotals, SourceFees};
use utoipa::ToSchema;

use super::{CoinText, Long, TimeText, WeiText};

/// The burn policy, and what it came to.
#[derive(Debug, Clone, Serialize, ToSchema, SimpleObject)]
#[serde(rename_all = "camelCase")]
#[graphql(name = "Burns")]
pub(crate) struct BurnsView {
    /// How a fee is split.
    policy: BurnPolicyView,
    /// All sources together.
    totals: FeeSumsView,
    /// Every source, also those that nobody has paid for yet.
    sources: Vec<SourceView>,
    /// The last block that is counted; null while nothing is indexed.
    as_of_block: Option<Long>,
    /// Days on which fees were paid, oldest first, at most 366; null unless `interval=day`.
    history: Option<Vec<BurnDayView>>,
}

/// How a fee is split.
#[derive(Debug, Clone, Serialize, ToSchema, SimpleObject)]
#[serde(rename_all = "camelCase")]
#[graphql(name = "BurnPolicy")]
pub(crate) struct BurnPolicyView {
    /// Percent that is burned.
    #[schema(example = 30)]
    burn_percent: u32,
    /// Percent that is held for operations.
    #[schema(example = 70)]
    hold_percent: u32,
}

/// Fees summed up.
#[derive(Debug, Clone, Serialize, ToSchema, SimpleObject)]
#[serde(rename_all = "camelCase")]
#[graphql(name = "FeeSums")]
pub(crate) struct FeeSumsView {
    /// Coin paid.
    #[schema(example = "100")]
    collected: CoinText,
    /// The same in wei.
    collected_wei: WeiText,
    /// Coin burned of it.
    #[schema(example = "30")]
    burned: CoinText,
    /// The same in wei.
    burned_wei: WeiText,
    /// Coin held of it.
    #[schema(example = "70")]
    held: CoinText,
    /// The same in wei.
    held_wei: WeiText,
    /// Number of payments.
    #[schema(example = 1)]
    payments: Long,
}

/// Fees of one source.
#[derive(Debug, Clone, Serialize, ToSchema, SimpleObject)]
#[serde(rename_all = "camelCase")]
#[graphql(name = "FeeSource")]
pub(crate) struct SourceView {
    /// The source's name.
    #[schema(example = "developer-portal")]
    source: String,
    #[serde(flatten)]
    #[graphql(flatten)]
    sums: FeeSumsView,
}

/// Fees of one day.
#[derive(Debug, Clone, Serialize, ToSchema, SimpleObject)]
#[serde(rename_all = "camelCase")]
#[graphql(name = "BurnDay")]
pub(crate) struct BurnDayView {
    /// When the day began, UTC.
    day: TimeText,
    /// All sources together.
    totals: FeeSumsView,
    /// The sources that were paid for on that day.
    sources: Vec<SourceView>,
}

impl BurnsView {
    pub(crate) fn new(totals: &FeeTotals, history: Option<&[FeeDay]>) -> Self {
        let burn_percent = u32::try_from(BURN_BPS / 100).unwrap_or(0);
        let of = |source: FeeSource| {
            let paid = totals.sources.iter().find(|paid| paid.source == source.id());
            SourceView {
                source: source.name().to_owned(),
                sums: paid.map_or(FeeSums::default(), |paid| paid.sums).into(),
            }
        };
        Self {
            policy: BurnPolicyView { burn_percent, hold_percent: 100 - burn_percent },
            totals: totals.total.into(),
            sources: FeeSource::ALL.into_iter().map(of).collect(),
            as_of_block: totals.as_of_block.map(Long),
            history: history.map(|days| days.iter().map(BurnDayView::from).collect()),
        }
    }
}

impl From<FeeSums> for FeeSumsView {
    fn from(sums: FeeSums) -> Self {
        let FeeSums { payments, collected, burned, held } = sums;
        Self {
            collected: CoinText(collected),
            collected_wei: WeiText(collected.0),
            burned: CoinText(burned),
            burned_wei: WeiText(burned.0),
            held: CoinText(held),
            held_wei: WeiText(held.0),
            payments: Long(payments),
        }
    }
}

impl From<&SourceFees> for SourceView {
    fn from(fees: &SourceFees) -> Self {
        Self { source: source_name(fees.source), sums: fees.sums.into() }
    }
}

/// The source's name, or its id for one that this version does not know.
fn source_name(id: B256) -> String {
    FeeSource::from_id(id).map_or_else(|| id.to_string(), |source| source.name().to_owned())
}

impl From<&FeeDay> for BurnDayView {
    fn from(day: &FeeDay) -> Self {
        Self {
            day: TimeText::from_unix(day.start),
            totals: day.total.into(),
            sources: day.sources.iter().map(SourceView::from).collect(),
        }
    }
}
