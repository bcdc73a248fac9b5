//! Every header rule, broken one at a time.

use alloy_consensus::Header;
use alloy_primitives::{Address, B64, B256, Bytes, U256};
use chainnet_ibft::extra_data::{ExtraData, ExtraDataError, Item};
use chainnet_ibft::hash::block_hash;
use chainnet_ibft::rules::{HeaderContext, MAX_GAS_LIMIT, RuleViolation, check_proposal, check_sealed};
use chainnet_ibft::seal::{Seal, Secp256k1};
use chainnet_ibft::{BaseFee, IbftConfig};

use crate::fixture::{SECRETS, VALIDATORS, child, config, extra, genesis, sealed};

const GAS_LIMIT: u64 = 30_000_000;

fn parent() -> Header {
    let genesis = Header { gas_limit: GAS_LIMIT, base_fee_per_gas: Some(0), ..genesis() };
    sealed(&child(&genesis, VALIDATORS[0]), &SECRETS)
}

fn good() -> Header {
    child(&parent(), VALIDATORS[1])
}

fn judge(header: &Header) -> Result<(), RuleViolation> {
    judge_with(header, &parent(), &config(), header.timestamp)
}

fn judge_with(
    header: &Header,
    parent: &Header,
    config: &IbftConfig,
    now_secs: u64,
) -> Result<(), RuleViolation> {
    let parent_hash = block_hash(parent).unwrap();
    let context = HeaderContext { parent, parent_hash, validators: &VALIDATORS, config, now_secs };
    check_sealed(header, &context, &Secp256k1)
}

/// The violation of a header that is sealed well after the change.
fn violation(change: impl FnOnce(&mut Header)) -> RuleViolation {
    let mut header = good();
    change(&mut header);
    judge(&sealed(&header, &SECRETS[..4])).unwrap_err()
}

#[test]
fn a_good_header_passes() {
    assert_eq!(judge(&sealed(&good(), &SECRETS[..4])), Ok(()));
    assert_eq!(judge(&sealed(&good(), &SECRETS)), Ok(()), "more seals than needed");
    assert_eq!(judge(&sealed(&good(), &[5, 1, 2, 4])), Ok(()), "in any order");
}

#[test]
fn a_proposal_needs_no_seals() {
    let (parent, header) = (parent(), good());
    let context = HeaderContext {
        parent: &parent,
        parent_hash: block_hash(&parent).unwrap(),
        validators: &VALIDATORS,
        config: &config(),
        now_secs: header.timestamp,
    };
    assert_eq!(check_proposal(&header, &context), Ok(()));
    let early = Header { timestamp: parent.timestamp + 1, ..header };
    assert_eq!(check_proposal(&early, &context).unwrap_err().rule(), "block-period");
}

#[test]
fn the_header_must_name_its_parent() {
    let expected = good().parent_hash;
    let found = violation(|header| header.parent_hash = B256::ZERO);
    assert_eq!(found, RuleViolation::ParentHash { found: B256::ZERO, expected });
    assert_eq!(found.rule(), "parent-link");
}

#[test]
fn the_number_must_follow_the_parents() {
    for number in [1, 3] {
        let found = violation(|header| header.number = number);
        assert_eq!(found, RuleViolation::Number { found: number, parent: 1 });
        assert_eq!(found.rule(), "parent-link");
    }
}

#[test]
fn gas_used_must_not_exceed_the_limit() {
    let found = violation(|header| header.gas_used = GAS_LIMIT + 1);
    assert_eq!(found, RuleViolation::GasUsed { gas_used: GAS_LIMIT + 1, gas_limit: GAS_LIMIT });
    assert_eq!(found.rule(), "gas-used");
}

#[test]
fn the_gas_limit_has_bounds() {
    for gas_limit in [4999, MAX_GAS_LIMIT + 1] {
        let found = violation(|header| header.gas_limit = gas_limit);
        assert_eq!(found, RuleViolation::GasLimitRange { gas_limit });
        assert_eq!(found.rule(), "gas-limit");
    }
}

#[test]
fn the_gas_limit_moves_by_less_than_a_1024th() {
    let bound = GAS_LIMIT / 1024;
    for gas_limit in [GAS_LIMIT - bound, GAS_LIMIT + bound] {
        let found = violation(|header| header.gas_limit = gas_limit);
        assert_eq!(found, RuleViolation::GasLimitStep { gas_limit, parent: GAS_LIMIT });
        assert_eq!(found.rule(), "gas-limit");
    }
    let just = Header { gas_limit: GAS_LIMIT + bound - 1, ..good() };
    assert_eq!(judge(&sealed(&just, &SECRETS)), Ok(()));
}

#[test]
fn the_timestamp_is_at_most_a_second_ahead() {
    let header = sealed(&good(), &SECRETS);
    let timestamp = header.timestamp;
    assert_eq!(judge_with(&header, &parent(), &config(), timestamp - 1), Ok(()));
    let found = judge_with(&header, &parent(), &config(), timestamp - 2).unwrap_err();
    assert_eq!(found, RuleViolation::FutureTimestamp { timestamp, latest: timestamp - 1 });
    assert_eq!(found.rule(), "timestamp-drift");
}

#[test]
fn constant_fields_are_constant() {
    let found = violation(|header| header.mix_hash = B256::ZERO);
    assert_eq!((found.rule(), found), ("mix-hash", RuleViolation::MixHash { found: B256::ZERO }));
    let found = violation(|header| header.ommers_hash = B256::ZERO);
    assert_eq!((found.rule(), found), ("ommers", RuleViolation::Ommers { found: B256::ZERO }));
    let two = U256::from(2);
    let found = violation(|header| header.difficulty = two);
    assert_eq!((found.rule(), found), ("difficulty", RuleViolation::Difficulty { found: two }));
    let nonce = B64::with_last_byte(1);
    let found = violation(|header| header.nonce = nonce);
    assert_eq!((found.rule(), found), ("nonce", RuleViolation::Nonce { found: nonce }));
}

#[test]
fn extra_data_must_decode() {
    let header = Header { extra_data: Bytes::new(), ..good() };
    let found = judge(&header).unwrap_err();
    assert_eq!(found, RuleViolation::ExtraData(ExtraDataError::Missing { item: Item::List }));
    assert_eq!(found.rule(), "extra-data");
}

#[test]
fn validators_must_be_ascending() {
    let mut unsorted = VALIDATORS.to_vec();
    unsorted.swap(0, 1);
    let found = violation(|header| header.extra_data = extra(&unsorted).encode());
    assert_eq!((found.rule(), found), ("validators", RuleViolation::ValidatorOrder { found: unsorted }));
}

#[test]
fn validators_must_be_the_set_in_force() {
    let fewer = VALIDATORS[1..].to_vec();
    let found = violation(|header| header.extra_data = extra(&fewer).encode());
    let expected = RuleViolation::ValidatorSet { found: fewer, expected: VALIDATORS.to_vec() };
    assert_eq!((found.rule(), found), ("validators", expected));
}

#[test]
fn the_coinbase_must_be_a_validator_but_not_the_one_in_turn() {
    let found = violation(|header| header.beneficiary = Address::ZERO);
    assert_eq!((found.rule(), found), ("coinbase", RuleViolation::Coinbase { found: Address::ZERO }));
    let out_of_turn = child(&parent(), VALIDATORS[4]);
    assert_eq!(judge(&sealed(&out_of_turn, &SECRETS)), Ok(()));
}

#[test]
fn seals_must_be_a_quorum() {
    let found = judge(&sealed(&good(), &SECRETS[..3])).unwrap_err();
    assert_eq!((found.rule(), found), ("commit-seals", RuleViolation::TooFewSeals { found: 3, needed: 4 }));
    assert_eq!(judge(&good()).unwrap_err(), RuleViolation::TooFewSeals { found: 0, needed: 4 });
}

#[test]
fn nobody_seals_twice() {
    let found = judge(&sealed(&good(), &[4, 2, 3, 1, 4])).unwrap_err();
    let expected = RuleViolation::DuplicateSeal { signer: VALIDATORS[0] };
    assert_eq!((found.rule(), found), ("commit-seals", expected));
}

#[test]
fn strangers_do_not_seal() {
    let found = judge(&sealed(&good(), &[4, 2, 3, 1, 6])).unwrap_err();
    assert!(matches!(found, RuleViolation::ForeignSeal { .. }), "{found:?}");
    assert_eq!(found.rule(), "commit-seals");
}

#[test]
fn seals_of_another_round_do_not_count() {
    let header = sealed(&good(), &SECRETS);
    let other_round = ExtraData { round: 1, ..ExtraData::decode(&header.extra_data).unwrap() };
    let moved = Header { extra_data: other_round.encode(), ..header };
    let found = judge(&moved).unwrap_err();
    assert_eq!(found.rule(), "commit-seals");
}

#[test]
fn a_seal_must_recover() {
    // No point of the curve has the x coordinate 5.
    let nobody = Seal::new(U256::from(5), U256::ONE, false).unwrap();
    let extra = ExtraData { seals: vec![nobody], ..extra(&VALIDATORS) };
    let found = judge(&Header { extra_data: extra.encode(), ..good() }).unwrap_err();
    assert_eq!((found.rule(), found), ("commit-seals", RuleViolation::UnrecoverableSeal { index: 0 }));
}

#[test]
fn the_block_period_must_have_passed() {
    let earliest = parent().timestamp + 2;
    let found = violation(|header| header.timestamp = earliest - 1);
    let expected = RuleViolation::EarlyTimestamp { timestamp: earliest - 1, earliest };
    assert_eq!((found.rule(), found), ("block-period", expected));
}

#[test]
fn a_zero_base_fee_stays_zero() {
    for wrong in [None, Some(7)] {
        let found = violation(|header| header.base_fee_per_gas = wrong);
        let expected = RuleViolation::BaseFee { found: wrong, expected: Some(0) };
        assert_eq!((found.rule(), found), ("base-fee", expected));
    }
}

#[test]
fn otherwise_the_base_fee_follows_eip_1559() {
    let config = IbftConfig { base_fee: BaseFee::Eip1559, ..config() };
    let parent = Header { base_fee_per_gas: Some(1_000_000_000), ..parent() };
    // An empty block lowers it by an eighth.
    let header = Header { base_fee_per_gas: Some(875_000_000), ..child(&parent, VALIDATORS[1]) };
    let good = sealed(&header, &SECRETS);
    assert_eq!(judge_with(&good, &parent, &config, good.timestamp), Ok(()));
    let header = Header { base_fee_per_gas: Some(1_000_000_000), ..header };
    let found = judge_with(&sealed(&header, &SECRETS), &parent, &config, header.timestamp).unwrap_err();
    let expected = RuleViolation::BaseFee { found: Some(1_000_000_000), expected: Some(875_000_000) };
    assert_eq!(found, expected);
}

#[test]
fn the_first_broken_rule_in_order_is_told() {
    let found = violation(|header| {
        header.base_fee_per_gas = None;
        header.beneficiary = Address::ZERO;
        header.nonce = B64::with_last_byte(1);
        header.gas_used = u64::MAX;
    });
    assert_eq!(found.rule(), "gas-used");
}
