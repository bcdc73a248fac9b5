//! The ranking, with everything that is needed to compute it again.

use serde::Serialize;
use utoipa::ToSchema;
use validators::{
    board::Turns,
    ranking::{Basis, Method, RankedValidator, Ranking},
};

use super::{
    AddressText, CoinText, Long, WeiText,
    validator::{percent, uptime},
};

/// The validators, best first.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RankingView {
    /// The validators, best first.
    ranking: Vec<RankedView>,
    /// How scores are made.
    method: RankingMethodView,
    /// Newest block whose turns are counted; null while nothing is indexed.
    as_of_block: Option<Long>,
}

/// A validator with its place.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RankedView {
    /// Place, from 1.
    #[schema(example = 1)]
    rank: u32,
    /// The operator's account.
    address: AddressText,
    /// Display name.
    #[schema(example = "Jakarta One")]
    moniker: String,
    /// Standing in the registry.
    #[schema(example = "ACTIVE")]
    status: &'static str,
    /// The score, 0 to 100: the components' sum less the penalty, or 0 after a double signature.
    #[schema(minimum = 0, maximum = 100, example = 87.5)]
    score: f64,
    /// Points of each component.
    components: ComponentsView,
    /// Points that slashes for downtime take.
    #[schema(minimum = 0, example = 0.0)]
    penalty: f64,
    /// Whether it has had turns for less than a day, and so is ranked after the others.
    provisional: bool,
    /// Stake in coin.
    #[schema(example = "100000")]
    stake: CoinText,
    /// The same in wei.
    stake_wei: WeiText,
    /// Commission in percent.
    #[schema(minimum = 0, maximum = 100, example = 5.0)]
    commission: Option<f64>,
    /// Proposer turns kept in the last 24 hours, in percent.
    #[serde(rename = "uptime24h")]
    #[schema(minimum = 0, maximum = 100, example = 100.0)]
    uptime_24h: Option<f64>,
    /// The same over 30 days.
    #[serde(rename = "uptime30d")]
    #[schema(minimum = 0, maximum = 100, example = 99.98)]
    uptime_30d: Option<f64>,
    /// The numbers that the score is made from.
    basis: BasisView,
}

/// Points of each component.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ComponentsView {
    /// Proposer turns kept.
    #[schema(minimum = 0, example = 45.0)]
    uptime: f64,
    /// Stake, on a logarithmic scale.
    #[schema(minimum = 0, example = 20.0)]
    stake: f64,
    /// Seals seen.
    #[schema(minimum = 0, example = 10.0)]
    seals: f64,
    /// Time since registration.
    #[schema(minimum = 0, example = 1.25)]
    tenure: f64,
    /// Low commission.
    #[schema(minimum = 0, example = 11.25)]
    commission: f64,
}

/// The numbers that a score is made from.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BasisView {
    /// Turns and seals in each window, in the order of the method's windows.
    windows: Vec<WindowTurnsView>,
    /// Seals in the first window that were to be expected.
    expected_seals: Long,
    /// Whole days since registration.
    tenure_days: Option<Long>,
    /// Whole days since each slash for downtime that still counts.
    downtime_slash_days: Vec<Long>,
    /// Whether it ever signed two blocks of one height and round.
    has_double_signed: bool,
}

/// Turns and seals in a window.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WindowTurnsView {
    /// Turns of which the headers tell what became.
    assigned: Long,
    /// Turns of those in which nothing was proposed.
    missed: Long,
    /// Turns of which the headers do not tell.
    unclear: Long,
    /// Blocks that carry its seal, as our node stored them.
    sealed: Long,
    /// Blocks for which it was in the validator set.
    blocks: Long,
}

/// How scores are made.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RankingMethodView {
    /// Most points of each component; together 100.
    weights: WeightsView,
    /// The windows that uptime is blended from.
    windows: Vec<WindowView>,
    /// Blended uptime, in percent, that earns nothing.
    #[schema(example = 95)]
    uptime_floor_percent: u8,
    /// Part of the expected seals, in percent, that earns all points for seals.
    #[schema(example = 50)]
    seals_full_percent: u8,
    /// Days of membership that earn all points for tenure.
    #[schema(example = 180)]
    tenure_full_days: u16,
    /// Commission, in percent, that earns nothing.
    #[schema(example = 20.0)]
    commission_zero_percent: f64,
    /// What a slash for downtime takes.
    downtime_penalty: PenaltyView,
    /// The largest stake, which earns all points for stake, in wei.
    largest_stake_wei: WeiText,
}

/// Most points of each component.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WeightsView {
    /// Proposer turns kept.
    #[schema(example = 45)]
    uptime: u8,
    /// Stake, on a logarithmic scale.
    #[schema(example = 20)]
    stake: u8,
    /// Seals seen.
    #[schema(example = 10)]
    seals: u8,
    /// Time since registration.
    #[schema(example = 10)]
    tenure: u8,
    /// Low commission.
    #[schema(example = 15)]
    commission: u8,
}

/// A window of time and its part of the uptime.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WindowView {
    /// Its name.
    #[schema(example = "24h")]
    name: &'static str,
    /// Its length.
    #[schema(example = 86400)]
    seconds: Long,
    /// Its part of the blended uptime.
    #[schema(example = 50)]
    percent: u8,
}

/// What a slash for downtime takes from a score.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PenaltyView {
    /// Points at first.
    #[schema(example = 10)]
    points: u8,
    /// Days after which it has halved.
    #[schema(example = 30)]
    half_life_days: u16,
    /// Days after which it is forgotten.
    #[schema(example = 90)]
    forgotten_days: u16,
}

impl From<&Ranking> for RankingView {
    fn from(ranking: &Ranking) -> Self {
        Self {
            ranking: ranking.entries.iter().map(RankedView::from).collect(),
            method: (&ranking.method).into(),
            as_of_block: ranking.as_of_block.map(Long),
        }
    }
}

impl From<&RankedValidator> for RankedView {
    fn from(entry: &RankedValidator) -> Self {
        let (record, components) = (&entry.record, entry.score.components);
        Self {
            rank: entry.rank,
            address: AddressText(record.address()),
            moniker: record.moniker.clone(),
            status: record.standing.name(),
            score: entry.score.total.to_f64(),
            components: ComponentsView {
                uptime: components.uptime.to_f64(),
                stake: components.stake.to_f64(),
                seals: components.seals.to_f64(),
                tenure: components.tenure.to_f64(),
                commission: components.commission.to_f64(),
            },
            penalty: entry.score.penalty.to_f64(),
            provisional: entry.is_provisional,
            stake: CoinText(record.stake),
            stake_wei: WeiText(record.stake.0),
            commission: record.commission_bps.map(percent),
            uptime_24h: uptime(&record.activity.day),
            uptime_30d: uptime(&record.activity.month),
            basis: (&entry.basis).into(),
        }
    }
}

impl From<&Basis> for BasisView {
    fn from(basis: &Basis) -> Self {
        Self {
            windows: basis.windows.iter().map(WindowTurnsView::from).collect(),
            expected_seals: Long(basis.expected_seals),
            tenure_days: basis.tenure_days.map(Long),
            downtime_slash_days: basis.downtime_slash_days.iter().copied().map(Long).collect(),
            has_double_signed: basis.has_double_signed,
        }
    }
}

impl From<&Turns> for WindowTurnsView {
    fn from(turns: &Turns) -> Self {
        let Turns { assigned, missed, unclear, sealed, blocks } = *turns;
        Self {
            assigned: Long(assigned),
            missed: Long(missed),
            unclear: Long(unclear),
            sealed: Long(sealed),
            blocks: Long(blocks),
        }
    }
}

impl From<&Method> for RankingMethodView {
    fn from(method: &Method) -> Self {
        let weights = method.weights;
        let windows = method.windows.iter().map(|window| WindowView {
            name: window.name,
            seconds: Long(window.secs),
            percent: window.percent,
        });
        Self {
            weights: WeightsView {
                uptime: weights.uptime,
                stake: weights.stake,
                seals: weights.seals,
                tenure: weights.tenure,
                commission: weights.commission,
            },
            windows: windows.collect(),
            uptime_floor_percent: method.uptime_floor_percent,
            seals_full_percent: method.seals_full_percent,
            tenure_full_days: method.tenure_full_days,
            commission_zero_percent: percent(method.commission_zero_bps),
            downtime_penalty: PenaltyView {
                points: method.downtime.points,
                half_life_days: method.downtime.half_life_days,
                forgotten_days: method.downtime.forgotten_days,
            },
            largest_stake_wei: WeiText(method.largest_stake),
        }
    }
}
