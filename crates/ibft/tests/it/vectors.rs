//! Published and independently computed vectors: codec, hashes, seals, genesis.

use alloy_consensus::constants::EMPTY_WITHDRAWALS;
use alloy_consensus::{Block, BlockBody, Header, TxEnvelope};
use alloy_primitives::{Address, B256, Bytes, U256, address, b256, hex, keccak256};
use alloy_rlp::Decodable;
use chainnet_ibft::extra_data::ExtraData;
use chainnet_ibft::hash::{block_hash, seal_hash};
use chainnet_ibft::rules::{DIFFICULTY, HeaderContext, MIX_HASH, check_sealed};
use chainnet_ibft::seal::{Seal, SealScheme, Secp256k1, ValidatorKey};
use chainnet_ibft::votes::{Vote, VoteKind, VoteTally};

use crate::fixture::{SECRETS, VALIDATORS, child, config, genesis, key, sealed};

const LONDON_BLOCKS: &[u8] = include_bytes!("../vectors/london_2blocks.rlp");
const GWEI: u64 = 1_000_000_000;

fn small_address(last: u8) -> Address {
    Address::with_last_byte(last)
}

/// Besu's own constant for the codec.
#[test]
fn extra_data_encodes_to_besus_known_bytes() {
    let expected = hex!(
        "f8f1a00102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20"
        "ea940000000000000000000000000000000000000001940000000000000000000000000000000000000002"
        "d794000000000000000000000000000000000000000181ff"
        "8400fedcbaf886"
        "b841" "0000000000000000000000000000000000000000000000000000000000000001"
        "000000000000000000000000000000000000000000000000000000000000000a" "00"
        "b841" "000000000000000000000000000000000000000000000000000000000000000a"
        "0000000000000000000000000000000000000000000000000000000000000001" "00"
    );
    let (one, ten) = (U256::from(1), U256::from(10));
    let extra = ExtraData {
        vanity: b256!("0x0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20"),
        validators: vec![small_address(1), small_address(2)],
        vote: Some(Vote { recipient: small_address(1), kind: VoteKind::Add }),
        round: 0x00fe_dcba,
        seals: vec![Seal::new(one, ten, false).unwrap(), Seal::new(ten, one, false).unwrap()],
    };
    assert_eq!(extra.encode(), Bytes::from(expected));
    assert_eq!(ExtraData::decode(&expected).unwrap(), extra);
}

#[test]
fn a_drop_vote_is_the_single_byte_zero() {
    let extra = ExtraData {
        vote: Some(Vote { recipient: small_address(1), kind: VoteKind::Drop }),
        ..crate::fixture::extra(&[])
    };
    let vote = hex!("d694000000000000000000000000000000000000000100");
    assert!(extra.encode().windows(vote.len()).any(|window| window == vote));
    assert_eq!(ExtraData::decode(&extra.encode()).unwrap(), extra);
}

/// Block 100 of a chain with one validator, from the Besu documentation.
#[test]
fn a_published_block_has_its_published_hash_and_its_validators_seal() {
    let coinbase = address!("0x9811ebc35d7b06b3fa8dc5809a1f9c52751e1deb");
    let extra_data = hex!(
        "f882a00000000000000000000000000000000000000000000000000000000000000000"
        "d5949811ebc35d7b06b3fa8dc5809a1f9c52751e1deb808400000000f843b841"
        "4d877d8d0ced37ea138fab55a978f3740367a24a31731322ecdc3368f11e0d49"
        "66c9ce17ae59a76fb94eb436e8a386868f6bd6b0a5678e58daf49f5dd940558b00"
    );
    let header = Header {
        parent_hash: b256!("0x7bca25e1fa5e395fd6029eb496a70b6b5495843976bf9e49b993c723ded29d9e"),
        beneficiary: coinbase,
        state_root: b256!("0xd650578a04b39f50cc979155f4510ec28c2c0a7c1e5fdbf84609bc7b1c430f48"),
        difficulty: DIFFICULTY,
        number: 100,
        gas_limit: 4_700_000,
        timestamp: 0x5cd1_0933,
        extra_data: extra_data.into(),
        mix_hash: MIX_HASH,
        ..Header::default()
    };
    let digest = b256!("0xff452b35cfc72362224e7298d913c3e6769f68f8d5e270308fd71cca3a8e7e38");
    assert_eq!(
        block_hash(&header).unwrap(),
        b256!("0x63b3ea2bc37fec8f82680eb823652da6af8acebb4f6c4d0ff659c55be473c8b0")
    );
    assert_eq!(seal_hash(&header).unwrap(), digest);
    let extra = ExtraData::decode(&header.extra_data).unwrap();
    assert_eq!(Secp256k1.recover(digest, &extra.seals[0]), Some(coinbase));
}

/// The header of Besu's block-hashing test; the hashes were computed apart from this code.
#[test]
fn a_block_with_vote_and_round_has_its_computed_hashes_and_seal() {
    let extra = ExtraData {
        vanity: b256!("0x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"),
        validators: vec![small_address(1), small_address(2)],
        vote: Some(Vote { recipient: small_address(3), kind: VoteKind::Add }),
        round: 0x00fe_dcba,
        seals: vec![],
    };
    let header = Header {
        parent_hash: b256!("0xa7762d3307dbf2ae6a1ae1b09cf61c7603722b2379731b6b90409cdb8c8288a0"),
        state_root: b256!("0xca07595b82f908822971b7e848398e3395e59ee52565c7ef3603df1a1fa7bc80"),
        difficulty: DIFFICULTY,
        number: 1,
        gas_limit: 4_704_588,
        timestamp: 1_530_674_616,
        extra_data: extra.encode(),
        mix_hash: MIX_HASH,
        ..Header::default()
    };
    let digest = b256!("0xb1d26d018658f2556a2c3f0080596055cb0d05bcab91397f8ae8f01ea831559c");
    assert_eq!(seal_hash(&header).unwrap(), digest);
    assert_eq!(
        block_hash(&header).unwrap(),
        b256!("0x8d8736980278155e486cf0543c0a53cd3a3c961c3b976c6a4ac7dc5310dad88d")
    );
    let seal = hex!(
        "2d98a30d2844aa05b4fcf3abcd333e195d4ad365726a7b9a5bc19744dcec0ad4"
        "2d129ad2890b86c32a969a9b511d8c1c846f7eb694455bb29b7365ab260a188100"
    );
    assert_eq!(key(1).sign(digest).to_bytes(), seal);
    let with_seal = sealed(&header, &[1, 2]);
    assert_eq!(seal_hash(&with_seal).unwrap(), digest, "seals are under no hash");
    assert_eq!(block_hash(&with_seal), block_hash(&header));
}

#[test]
fn private_keys_one_to_five_are_the_five_validators() {
    assert_eq!(SECRETS.map(|secret| key(secret).address()), VALIDATORS);
    assert!(VALIDATORS.is_sorted());
}

#[test]
fn genesis_has_its_computed_hash_at_every_fork() {
    let berlin = genesis();
    assert_eq!(berlin.extra_data.len(), 149);
    let london = Header { base_fee_per_gas: Some(GWEI), ..berlin.clone() };
    let london_free = Header { base_fee_per_gas: Some(0), ..berlin.clone() };
    let shanghai = Header { withdrawals_root: Some(EMPTY_WITHDRAWALS), ..london.clone() };
    let expected = [
        (berlin, b256!("0x97db44beceebd28494383f92a943bb1e125012b1f5e6c8911f51b02a0f47454f")),
        (london, b256!("0x9946a1849c43b1a2d5215ef7792d57b518a6fad784e95c3975e3f88b9f5d5959")),
        (london_free, b256!("0xad89c92bc702772e561a2d3f9c3b66b6e44202b5bc6ead7608c23014689810f4")),
        (shanghai, b256!("0xcbf769adab97584cc2e01ef97a87bde9ce98c8246ae72ead1e30b4a95d108e9c")),
    ];
    for (header, hash) in expected {
        assert_eq!(block_hash(&header).unwrap(), hash);
    }
}

fn london_genesis() -> Header {
    Header { base_fee_per_gas: Some(GWEI), ..genesis() }
}

fn encode_block(header: &Header) -> Vec<u8> {
    let body = BlockBody::<TxEnvelope> { transactions: vec![], ommers: vec![], withdrawals: None };
    alloy_rlp::encode(Block { header: header.clone(), body })
}

#[test]
fn the_first_blocks_of_a_london_chain_have_their_computed_hashes_and_bytes() {
    let first = child(&london_genesis(), VALIDATORS[0]);
    assert_eq!(
        seal_hash(&first).unwrap(),
        b256!("0x7478f7cad83788278875c25ff50b7c3b380f21622816f3e9b65a634456988ab4")
    );
    assert_eq!(
        block_hash(&first).unwrap(),
        b256!("0xb7eaf5fb5510768f403caa23f1ff1d967b97b93a9256a111e95fe453553e5eef")
    );
    let first = sealed(&first, &SECRETS[..4]);
    let bytes = encode_block(&first);
    assert_eq!(bytes.len(), 935);
    let expected: B256 = b256!("0x4570214386e57762dbffed943ee090a8048366cb22a5661111eeafded0b70dad");
    assert_eq!(keccak256(&bytes), expected);

    let second = child(&first, VALIDATORS[1]);
    assert_eq!(
        block_hash(&second).unwrap(),
        b256!("0xffb1f5d1f216ab198811fb4fbdb7f43653acfbd2f88a2715a52c94dd5639c895")
    );
    let file = [bytes, encode_block(&sealed(&second, &SECRETS[..4]))].concat();
    assert!(file == LONDON_BLOCKS, "the import file is reproduced byte for byte");
}

#[test]
fn the_import_file_passes_every_rule() {
    let mut file = LONDON_BLOCKS;
    let mut parent = london_genesis();
    let mut tally = VoteTally::at_epoch(&parent).unwrap();
    while !file.is_empty() {
        let before = file;
        let block = Block::<TxEnvelope>::decode(&mut file).unwrap();
        assert_eq!(before.len() - file.len(), encode_block(&block.header).len());
        let context = HeaderContext {
            parent: &parent,
            parent_hash: block_hash(&parent).unwrap(),
            validators: &tally.validators(),
            config: &config(),
            now_secs: block.header.timestamp,
        };
        check_sealed(&block.header, &context, &Secp256k1).unwrap();
        tally.apply(&block.header, &config()).unwrap();
        parent = block.header;
    }
    assert_eq!(parent.number, 2);
}
