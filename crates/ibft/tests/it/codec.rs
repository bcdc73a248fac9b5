//! The extraData codec: what comes out goes in again, and nothing else does.

use alloy_primitives::{Address, B256, U256, uint};
use chainnet_ibft::extra_data::{ExtraData, ExtraDataError, Item};
use chainnet_ibft::seal::{Seal, SealError};
use chainnet_ibft::votes::{Vote, VoteKind};
use proptest::prelude::*;

use crate::fixture::extra;

const CURVE_ORDER: U256 = uint!(0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141_U256);

fn any_seal() -> impl Strategy<Value = Seal> {
    (1..u128::MAX, any::<[u8; 31]>(), any::<bool>()).prop_map(|(r, s, odd)| {
        let s = U256::from_be_slice(&s) + U256::ONE;
        Seal::new(CURVE_ORDER - U256::from(r), s, odd).unwrap()
    })
}

fn any_extra_data() -> impl Strategy<Value = ExtraData> {
    let address = || any::<[u8; 20]>().prop_map(Address::new);
    let kind = prop_oneof![Just(VoteKind::Add), Just(VoteKind::Drop)];
    let vote = proptest::option::of((address(), kind).prop_map(|(recipient, kind)| Vote { recipient, kind }));
    let validators = proptest::collection::vec(address(), 0..30);
    let seals = proptest::collection::vec(any_seal(), 0..30);
    (any::<[u8; 32]>(), validators, vote, any::<u32>(), seals).prop_map(
        |(vanity, validators, vote, round, seals)| ExtraData {
            vanity: B256::new(vanity),
            validators,
            vote,
            round,
            seals,
        },
    )
}

proptest! {
    #[test]
    fn what_is_encoded_decodes_to_the_same(extra in any_extra_data()) {
        prop_assert_eq!(ExtraData::decode(&extra.encode()), Ok(extra));
    }

    #[test]
    fn the_hashed_forms_are_not_extra_data(extra in any_extra_data()) {
        prop_assert!(ExtraData::decode(&extra.encode_for_seal()).is_err());
        prop_assert!(ExtraData::decode(&extra.encode_for_block_hash()).is_err());
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = ExtraData::decode(&bytes);
    }

    /// Nearly valid input reaches deeper than noise. Strictness: what decodes at all encodes to the same bytes.
    #[test]
    fn damaged_extra_data_is_refused_or_canonical(
        extra in any_extra_data(),
        position in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = extra.encode().to_vec();
        let at = position.index(bytes.len());
        bytes[at] = byte;
        if let Ok(decoded) = ExtraData::decode(&bytes) {
            prop_assert_eq!(decoded.encode().to_vec(), bytes.clone());
        }
        prop_assert!(ExtraData::decode(&bytes[..cut.index(bytes.len())]).is_err());
        bytes.push(byte);
        prop_assert!(ExtraData::decode(&bytes).is_err());
    }
}

/// An RLP list of encoded items.
fn list(items: &[&[u8]]) -> Vec<u8> {
    let payload = items.concat();
    let mut out = Vec::new();
    alloy_rlp::Header { list: true, payload_length: payload.len() }.encode(&mut out);
    out.extend(payload);
    out
}

fn string(bytes: &[u8]) -> Vec<u8> {
    alloy_rlp::encode(bytes)
}

/// Decodes a list whose items are fine except for one.
fn decode_with(index: usize, item: &[u8]) -> Result<ExtraData, ExtraDataError> {
    let vanity = string(&[0; 32]);
    let mut items: [&[u8]; 5] = [&vanity, &[0xc0], &[0x80], &[0x84, 0, 0, 0, 0], &[0xc0]];
    items[index] = item;
    ExtraData::decode(&list(&items))
}

#[test]
fn the_plain_items_decode() {
    assert_eq!(decode_with(2, &[0x80]), Ok(extra(&[])));
}

#[test]
fn missing_and_surplus_items_are_refused() {
    let vanity = string(&[0; 32]);
    let items: [&[u8]; 6] = [&vanity, &[0xc0], &[0x80], &[0x84, 0, 0, 0, 0], &[0xc0], &[0x80]];
    let missing = [Item::Vanity, Item::Validators, Item::Vote, Item::Round, Item::Seals];
    for (count, item) in missing.into_iter().enumerate() {
        assert_eq!(ExtraData::decode(&list(&items[..count])), Err(ExtraDataError::Missing { item }));
    }
    let surplus = ExtraDataError::Surplus { item: Item::List, bytes: 1 };
    assert_eq!(ExtraData::decode(&list(&items)), Err(surplus.clone()));
    let trailing = [list(&items[..5]), vec![0]].concat();
    assert_eq!(ExtraData::decode(&trailing), Err(surplus));
    assert_eq!(ExtraData::decode(&[]), Err(ExtraDataError::Missing { item: Item::List }));
}

#[test]
fn items_of_the_wrong_length_are_refused() {
    let length = |item, expected, found| Err(ExtraDataError::Length { item, expected, found });
    assert_eq!(decode_with(0, &string(&[0; 31])), length(Item::Vanity, 32, 31));
    assert_eq!(decode_with(1, &list(&[&string(&[1; 21])])), length(Item::Validator, 20, 21));
    assert_eq!(decode_with(2, &string(&[1])), length(Item::Vote, 0, 1));
    assert_eq!(decode_with(2, &list(&[&string(&[1; 19]), &[0]])), length(Item::VoteRecipient, 20, 19));
    assert_eq!(decode_with(2, &list(&[&string(&[1; 20]), &[0x80]])), length(Item::VoteKind, 1, 0));
    assert_eq!(decode_with(4, &list(&[&string(&[1; 64])])), length(Item::Seal, 65, 64));
}

#[test]
fn a_round_as_a_minimal_scalar_is_refused() {
    let length = |found| Err(ExtraDataError::Length { item: Item::Round, expected: 4, found });
    assert_eq!(decode_with(3, &[0x80]), length(0));
    assert_eq!(decode_with(3, &[0x07]), length(1));
    assert_eq!(decode_with(3, &[0x82, 1, 0]), length(2));
}

#[test]
fn a_list_in_place_of_a_string_and_the_other_way_round_is_refused() {
    for (index, item, wrong) in [
        (0, Item::Vanity, [0xc0]),
        (1, Item::Validators, [0x80]),
        (3, Item::Round, [0xc0]),
        (4, Item::Seals, [0x80]),
    ] {
        let found = decode_with(index, &wrong);
        assert!(matches!(found, Err(ExtraDataError::Malformed { item: found, .. }) if found == item));
    }
}

#[test]
fn a_vote_is_add_or_drop_and_nothing_more() {
    let recipient = string(&[1; 20]);
    let found = decode_with(2, &list(&[&recipient, &[0x01]]));
    assert_eq!(found, Err(ExtraDataError::VoteByte { found: 1 }));
    let found = decode_with(2, &list(&[&recipient, &[0x81, 0xff], &[0x80]]));
    assert_eq!(found, Err(ExtraDataError::Surplus { item: Item::Vote, bytes: 1 }));
    let found = decode_with(2, &list(&[&recipient]));
    assert_eq!(found, Err(ExtraDataError::Missing { item: Item::VoteKind }));
}

#[test]
fn seals_outside_the_curve_are_refused() {
    let seal = |r: U256, s: U256, v: u8| {
        let bytes = [r.to_be_bytes_vec(), s.to_be_bytes_vec(), vec![v]].concat();
        decode_with(4, &list(&[&string(&bytes)])).map(|extra| extra.seals.len())
    };
    let wrong = |source| Err(ExtraDataError::Seal { index: 0, source });
    let last = CURVE_ORDER - U256::ONE;
    assert_eq!(seal(last, last, 1), Ok(1));
    for value in [U256::ZERO, CURVE_ORDER, U256::MAX] {
        assert_eq!(seal(value, last, 0), wrong(SealError::ValueRange { value }));
        assert_eq!(seal(last, value, 0), wrong(SealError::ValueRange { value }));
    }
    for found in [2, 27, 28, 255] {
        assert_eq!(seal(last, last, found), wrong(SealError::RecoveryByte { found }));
    }
}
