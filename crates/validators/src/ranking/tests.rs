use std::collections::HashMap;

use alloy_primitives::{Address, B256, U256};
use domain::Wei;
use proptest::prelude::*;

use super::*;
use crate::board::{
    Activity, Enrolment, Expansion, Offence, RegistryState, Sources, Standing, Votes, assemble,
};

const NOW: u64 = 1_800_000_000;
/// Turns and blocks a day of five validators with a block every two seconds.
const DAY_TURNS: u64 = 8_640;
const DAY_BLOCKS: u64 = 43_200;

fn node(number: u8) -> Address {
    Address::repeat_byte(number)
}

fn enrolment(number: u8) -> Enrolment {
    Enrolment {
        operator: node(number),
        consensus: Some(node(number)),
        moniker: format!("Validator {number}"),
        website: String::new(),
        stake: Wei::from_coin(100_000),
        rewards: Wei::default(),
        commission_bps: 500,
        standing: Standing::Active,
        registered_at: NOW - 90 * DAY_SECS,
        jailed_until: None,
        withdrawable_at: None,
        slash_count: 0,
    }
}

fn turns(days: u64, missed: u64) -> Turns {
    Turns {
        assigned: days * DAY_TURNS,
        missed,
        unclear: 0,
        sealed: days * DAY_BLOCKS * 4 / 5,
        blocks: days * DAY_BLOCKS,
    }
}

fn activity(missed: u64) -> Activity {
    Activity {
        day: turns(1, missed),
        week: turns(7, missed),
        month: turns(30, missed),
        missed_turns: missed,
        ..Activity::default()
    }
}

/// Five healthy validators that are alike.
fn sources() -> Sources {
    let set: Vec<Address> = (1..=5).map(node).collect();
    Sources {
        block: 1_000_000,
        block_hash: B256::ZERO,
        time: NOW,
        as_of_block: Some(1_000_000),
        registry: RegistryState {
            enrolments: (1..=5).map(enrolment).collect(),
            expansion: Expansion::default(),
            total_staked: Wei::from_coin(500_000),
        },
        votes: Votes { validator_set: set.clone(), ..Votes::default() },
        activity: set.into_iter().map(|node| (node, activity(0))).collect(),
        offences: HashMap::new(),
        regions: HashMap::new(),
    }
}

fn ranking(sources: Sources) -> Ranking {
    Ranking::of(&assemble(sources))
}

fn order(ranking: &Ranking) -> Vec<Address> {
    ranking.entries.iter().map(|entry| entry.record.address()).collect()
}

fn entry(ranking: &Ranking, number: u8) -> &RankedValidator {
    ranking.entries.iter().find(|entry| entry.record.address() == node(number)).expect("a listed validator")
}

/// The score as a reader of the documentation would compute it, from published numbers only.
fn recomputed(basis: &Basis, method: &Method) -> f64 {
    if basis.has_double_signed {
        return 0.0;
    }
    let uptime: f64 = basis
        .windows
        .iter()
        .zip(&method.windows)
        .filter(|(turns, _)| turns.assigned > 0)
        .map(|(turns, window)| {
            f64::from(window.percent) / 100.0 * (1.0 - turns.missed as f64 / turns.assigned as f64)
        })
        .sum();
    let floor = f64::from(method.uptime_floor_percent) / 100.0;
    let uptime = ((uptime - floor) / (1.0 - floor)).max(0.0);
    let log = |wei: U256| (f64::from(wei) / 100_000e18).ln_1p();
    let largest = log(method.largest_stake);
    let stake = if largest > 0.0 { log(basis.stake) / largest } else { 0.0 };
    let wanted = basis.expected_seals as f64 * f64::from(method.seals_full_percent) / 100.0;
    let seals = if wanted > 0.0 { (basis.windows[0].sealed as f64 / wanted).min(1.0) } else { 0.0 };
    let tenure = (basis.tenure_days.unwrap_or(0) as f64 / f64::from(method.tenure_full_days)).min(1.0);
    let most = f64::from(method.commission_zero_bps);
    let commission = basis.commission_bps.map_or(0.0, |bps| (1.0 - f64::from(bps) / most).max(0.0));
    let penalty: f64 = basis
        .downtime_slash_days
        .iter()
        .map(|days| {
            f64::from(method.downtime.points)
                / 2f64.powi((days / u64::from(method.downtime.half_life_days)) as i32)
        })
        .sum();
    let weights = method.weights;
    let points = f64::from(weights.uptime) * uptime
        + f64::from(weights.stake) * stake
        + f64::from(weights.seals) * seals
        + f64::from(weights.tenure) * tenure
        + f64::from(weights.commission) * commission;
    (points - penalty).max(0.0)
}

#[test]
fn the_weights_add_up_to_a_hundred_and_the_windows_to_the_whole_uptime() {
    let Method { weights, windows, .. } = Method::new(U256::ZERO);
    let Weights { uptime, stake, seals, tenure, commission } = weights;
    assert_eq!(uptime + stake + seals + tenure + commission, 100);
    assert_eq!(windows.iter().map(|window| window.percent).sum::<u8>(), 100);
}

/// The worked example of `docs/validators.md`.
#[test]
fn the_example_of_the_documentation_has_its_score() {
    let mut sources = sources();
    sources.registry.enrolments[0].stake = Wei::from_coin(400_000);
    sources.activity.insert(node(2), activity(54));
    let offence = Offence { reason: SlashReason::Downtime, at: NOW - 40 * DAY_SECS };
    sources.offences.insert(node(2), vec![offence]);
    let ranking = ranking(sources);
    let entry = entry(&ranking, 2);
    let Components { uptime, stake, seals, tenure, commission } = entry.score.components;
    let points = [uptime, stake, seals, tenure, commission, entry.score.penalty, entry.score.total];
    assert_eq!(
        points.map(|points| points.to_string()),
        ["41.91", "8.61", "10.00", "5.00", "11.25", "5.00", "71.77"]
    );
    assert_eq!(entry.rank, 5);
}

#[test]
fn a_missed_turn_costs_points_and_a_place() {
    let mut sources = sources();
    let healthy = ranking(sources.clone());
    assert_eq!(order(&healthy), [1, 2, 3, 4, 5].map(node));

    sources.activity.insert(node(3), activity(40));
    let ranking = ranking(sources);
    assert_eq!(order(&ranking), [1, 2, 4, 5, 3].map(node));
    assert!(entry(&ranking, 3).score.total < entry(&healthy, 3).score.total);
}

#[test]
fn another_nodes_view_of_the_seals_changes_neither_uptime_nor_order() {
    let mut sources = sources();
    sources.activity.insert(node(4), activity(10));
    let ours = ranking(sources.clone());
    // In one block the other node holds the seal of 5 instead of that of 1.
    sources.activity.get_mut(&node(1)).expect("an activity").day.sealed -= 1;
    sources.activity.get_mut(&node(5)).expect("an activity").day.sealed += 1;
    let theirs = ranking(sources);
    assert_eq!(order(&ours), order(&theirs));
    for (ours, theirs) in ours.entries.iter().zip(&theirs.entries) {
        let uptimes = |entry: &RankedValidator| entry.basis.windows.map(|turns| turns.uptime_ppm());
        assert_eq!(uptimes(ours), uptimes(theirs));
        assert_eq!(ours.score.components.uptime, theirs.score.components.uptime);
    }
}

#[test]
fn a_validator_without_seals_loses_the_points_for_seals_and_no_others() {
    let mut sources = sources();
    sources.activity.get_mut(&node(2)).expect("an activity").day.sealed = 0;
    let ranking = ranking(sources);
    let (with, without) = (entry(&ranking, 1).score, entry(&ranking, 2).score);
    assert_eq!(without.components.seals, Points::default());
    assert_eq!(with.total, without.total.plus(Points::from_hundredths(1_000)));
}

#[test]
fn jailed_and_former_validators_stay_listed_and_former_ones_come_last() {
    let mut sources = sources();
    for (place, standing) in
        [(0, Standing::Removed), (1, Standing::Jailed), (2, Standing::Slashed), (3, Standing::Inactive)]
    {
        sources.registry.enrolments[place].standing = standing;
    }
    assert_eq!(order(&ranking(sources)), [2, 5, 1, 3, 4].map(node));
}

#[test]
fn signing_two_blocks_leaves_no_score() {
    let mut sources = sources();
    sources.registry.enrolments[0].stake = Wei::from_coin(9_000_000);
    sources.registry.enrolments[4].standing = Standing::Removed;
    let offence = Offence { reason: SlashReason::DoubleSign, at: NOW - 300 * DAY_SECS };
    sources.offences.insert(node(1), vec![offence]);
    let ranking = ranking(sources);
    assert_eq!(entry(&ranking, 1).score.total, Points::default());
    assert_eq!(order(&ranking), [2, 3, 4, 5, 1].map(node));
}

#[test]
fn a_slash_for_downtime_fades_and_is_forgotten() {
    let penalty = |days: u64| {
        let mut sources = sources();
        let offence = Offence { reason: SlashReason::Downtime, at: NOW - days * DAY_SECS };
        sources.offences.insert(node(1), vec![offence]);
        entry(&ranking(sources), 1).score.penalty.to_string()
    };
    let penalties = [0, 29, 30, 59, 60, 89, 90].map(penalty);
    assert_eq!(penalties, ["10.00", "10.00", "5.00", "5.00", "2.50", "2.50", "0.00"]);
}

#[test]
fn ties_go_to_the_larger_stake_then_the_earlier_registration_then_the_lower_address() {
    let mut sources = sources();
    // Equal scores: without a score there is nothing else to tell them apart.
    for enrolment in &mut sources.registry.enrolments {
        let slash = Offence { reason: SlashReason::DoubleSign, at: NOW };
        sources.offences.insert(enrolment.operator, vec![slash]);
    }
    sources.registry.enrolments[4].stake = Wei::from_coin(100_001);
    sources.registry.enrolments[3].registered_at -= 1;
    assert_eq!(order(&ranking(sources)), [5, 4, 1, 2, 3].map(node));
}

#[test]
fn newcomers_are_provisional_for_a_day_and_rank_after_the_rest() {
    let mut sources = sources();
    let mut newcomer = activity(0);
    newcomer.week = newcomer.day;
    newcomer.month = newcomer.day;
    sources.activity.insert(node(1), newcomer);
    sources.activity.insert(node(2), activity(4_000));
    let ranking = ranking(sources);
    assert!(entry(&ranking, 1).is_provisional && !entry(&ranking, 2).is_provisional);
    assert_eq!(order(&ranking), [3, 4, 5, 2, 1].map(node));
}

#[test]
fn a_set_member_that_nobody_registered_is_ranked_on_what_is_known() {
    let mut sources = sources();
    sources.votes.validator_set.push(node(9));
    sources.activity.insert(node(9), activity(0));
    let ranking = ranking(sources);
    let stranger = entry(&ranking, 9);
    assert_eq!(stranger.record.standing, Standing::None);
    let Components { uptime, stake, tenure, commission, .. } = stranger.score.components;
    assert_eq!(uptime.to_string(), "45.00");
    assert_eq!([stake, tenure, commission], [Points::default(); 3]);
    assert_eq!(stranger.rank, 6);
}

prop_compose! {
    fn any_turns()(assigned in 0u64..20_000, share in 0u64..=1_000, sealed in 0u64..50_000, blocks in 0u64..50_000)
        -> Turns
    {
        Turns { assigned, missed: assigned * share / 1_000, unclear: 0, sealed: sealed.min(blocks), blocks }
    }
}

prop_compose! {
    fn any_validator()(
        stake in 0u64..50_000_000,
        commission_bps in 0u16..=2_000,
        age_days in 0u64..400,
        windows in [any_turns(), any_turns(), any_turns()],
        slashes in prop::collection::vec((0u64..200, 0u8..20), 0..4),
    ) -> (u64, u16, u64, [Turns; 3], Vec<(u64, u8)>) {
        (stake, commission_bps, age_days, windows, slashes)
    }
}

proptest! {
    #[test]
    fn anybody_can_recompute_every_score_from_the_answer(
        validators in prop::collection::vec(any_validator(), 1..9),
    ) {
        let mut sources = sources();
        sources.registry.enrolments.clear();
        for (number, (stake, commission_bps, age_days, [day, week, month], slashes)) in (1u8..).zip(validators) {
            sources.registry.enrolments.push(Enrolment {
                stake: Wei::from_coin(stake),
                commission_bps,
                registered_at: NOW - age_days * DAY_SECS,
                ..enrolment(number)
            });
            sources.activity.insert(node(number), Activity { day, week, month, ..Activity::default() });
            let offences = slashes.into_iter().map(|(days, kind)| Offence {
                reason: if kind == 0 { SlashReason::DoubleSign } else { SlashReason::Downtime },
                at: NOW - days * DAY_SECS,
            });
            sources.offences.insert(node(number), offences.collect());
        }
        let ranking = ranking(sources);
        for (rank, entry) in (1..).zip(&ranking.entries) {
            prop_assert_eq!(entry.rank, rank);
            let score = entry.score;
            prop_assert!(score.total <= Points::from_hundredths(10_000));
            if !entry.basis.has_double_signed {
                // What is shown adds up to the last digit.
                prop_assert_eq!(score.total, score.components.sum().minus(score.penalty));
            }
            // Five components are rounded to the nearest hundredth each.
            let expected = recomputed(&entry.basis, &ranking.method);
            prop_assert!((score.total.to_f64() - expected).abs() < 0.03, "{} {}", score.total, expected);
        }
    }
}
