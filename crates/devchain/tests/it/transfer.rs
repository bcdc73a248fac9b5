//! Export and import: the same chain elsewhere, and nothing but a valid one.

use std::sync::Arc;

use alloy_consensus::{Header, TxEnvelope, constants::EMPTY_WITHDRAWALS};
use alloy_primitives::{Address, B256, U256};
use alloy_rlp::{Decodable, Encodable};
use chainnet_devchain::{chain::Chain, transfer};
use ibft::{
    extra_data::ExtraData,
    seal::ValidatorKey,
    votes::{Vote, VoteKind},
};

use crate::rig::{Rig, genesis, keys};

type FileBlock = alloy_consensus::Block<TxEnvelope>;

const BOB: Address = Address::repeat_byte(0xb0);

fn exported(rig: &Rig) -> Vec<u8> {
    let mut file = Vec::new();
    let head = rig.chain.head().block.number();
    transfer::export(&rig.chain, 0..=head, &mut file, |_| ()).unwrap();
    file
}

fn fresh() -> (tempfile::TempDir, Arc<Chain>) {
    let dir = tempfile::tempdir().unwrap();
    let chain = Chain::open(&dir.path().join("chain"), &genesis()).unwrap();
    (dir, chain)
}

/// A chain with transfers, a round change, and a validator voted in and one voted out.
async fn eventful() -> Rig {
    let rig = Rig::new();
    let (first, sixth) = (keys()[0].address(), keys()[5].address());
    for voter in ["V1", "V2", "V3", "V4"] {
        rig.control.propose_vote(voter, Vote { recipient: sixth, kind: VoteKind::Add }).await.unwrap();
        rig.control.propose_vote(voter, Vote { recipient: first, kind: VoteKind::Drop }).await.unwrap();
    }
    for nonce in 0..20 {
        rig.transfer(0, nonce, BOB, nonce);
        if nonce == 10 {
            rig.control.stop_validator("V5").await.unwrap();
        }
        rig.mine().await;
    }
    let tally = &rig.chain.head().tally;
    assert!(tally.is_validator(sixth) && !tally.is_validator(first));
    rig
}

#[tokio::test]
async fn an_exported_chain_imports_to_the_same_head_and_state() {
    let rig = eventful().await;
    let file = exported(&rig);
    let (_dir, copy) = fresh();
    // The chain's clock ran ahead while blocks were sealed on demand.
    copy.clock().not_before(rig.chain.clock().now_ms());
    let imported = transfer::import(&copy, file.as_slice(), |_| ()).unwrap();
    assert_eq!((imported.added, imported.known, imported.transactions), (20, 1, 20));
    assert_eq!(copy.head().block, rig.chain.head().block);
    assert_eq!(copy.head().tally, rig.chain.head().tally);
    let again = transfer::import(&copy, file.as_slice(), |_| ()).unwrap();
    assert_eq!((again.added, again.known), (0, 21));
}

/// Changes the last block of a file.
fn tampered(file: &[u8], change: impl FnOnce(&mut FileBlock)) -> Vec<u8> {
    let mut rest = file;
    let mut blocks = Vec::new();
    while !rest.is_empty() {
        blocks.push(FileBlock::decode(&mut rest).unwrap());
    }
    change(blocks.last_mut().unwrap());
    let mut out = Vec::new();
    for block in blocks {
        block.encode(&mut out);
    }
    out
}

#[tokio::test]
async fn a_tampered_block_is_refused_with_the_rule_it_breaks() {
    let rig = Rig::new();
    rig.transfer(0, 0, BOB, 5);
    rig.mine().await;
    let file = exported(&rig);
    let header = |change: fn(&mut Header)| tampered(&file, |block| change(&mut block.header));
    let cases = [
        (header(|h| h.timestamp -= 1), "commit-seals"),
        (header(|h| h.parent_hash = B256::ZERO), "parent-link"),
        (header(|h| h.difficulty = U256::from(2)), "difficulty"),
        (tampered(&file, |b| b.body.transactions.clear()), "transactions-root"),
        (tampered(&file, |b| b.body.ommers.push(Header::default())), "ommers"),
    ];
    for (file, rule) in cases {
        let (_dir, copy) = fresh();
        copy.clock().not_before(rig.chain.clock().now_ms());
        let error = transfer::import(&copy, file.as_slice(), |_| ()).unwrap_err().to_string();
        assert!(error.starts_with("block 1: rule `"), "{error}");
        assert!(error.contains(rule), "expected {rule} in: {error}");
        assert_eq!(copy.head().block.number(), 0);
    }
}

/// Seals a header anew after a change.
fn sealed(header: &mut Header, change: impl FnOnce(&mut Header)) {
    change(header);
    let mut extra = ExtraData::decode(&header.extra_data).unwrap();
    let digest = ibft::hash::seal_hash_with(header, &extra);
    extra.seals = keys().iter().take(5).map(|key| key.sign(digest)).collect();
    header.extra_data = extra.encode();
}

#[tokio::test]
async fn fields_that_later_releases_of_besu_write_are_read_and_checked() {
    type Change = fn(&mut Header);
    let rig = Rig::new();
    rig.mine().await;
    let file = exported(&rig);
    let import = |change: Change| {
        let file = tampered(&file, |block| {
            sealed(&mut block.header, change);
            block.body.withdrawals = block.header.withdrawals_root.map(|_| Default::default());
        });
        let (_dir, copy) = fresh();
        copy.clock().not_before(rig.chain.clock().now_ms());
        transfer::import(&copy, file.as_slice(), |_| ()).map_err(|error| error.to_string())
    };
    let seventeen: Change = |header| header.withdrawals_root = Some(EMPTY_WITHDRAWALS);
    let nineteen: Change = |header| {
        header.withdrawals_root = Some(EMPTY_WITHDRAWALS);
        (header.blob_gas_used, header.excess_blob_gas) = (Some(0), Some(0));
    };
    for good in [seventeen, nineteen] {
        assert_eq!(import(good).unwrap().added, 1);
    }
    let bad: [(Change, &str); 4] = [
        (|header| header.withdrawals_root = Some(B256::ZERO), "withdrawals-root"),
        (
            |header| {
                header.withdrawals_root = Some(EMPTY_WITHDRAWALS);
                (header.blob_gas_used, header.excess_blob_gas) = (Some(131_072), Some(0));
            },
            "blob-gas-used",
        ),
        (
            |header| {
                header.withdrawals_root = Some(EMPTY_WITHDRAWALS);
                (header.blob_gas_used, header.excess_blob_gas) = (Some(0), Some(1));
            },
            "excess-blob-gas",
        ),
        (
            |header| {
                header.withdrawals_root = Some(EMPTY_WITHDRAWALS);
                (header.blob_gas_used, header.excess_blob_gas) = (Some(0), Some(0));
                header.parent_beacon_block_root = Some(B256::ZERO);
            },
            "fields",
        ),
    ];
    for (change, rule) in bad {
        let error = import(change).unwrap_err();
        assert!(error.starts_with(&format!("block 1: rule `{rule}`")), "{error}");
    }
}

#[tokio::test]
async fn a_file_of_another_chain_or_cut_short_is_refused() {
    let rig = Rig::new();
    rig.mine().await;
    let file = exported(&rig);
    let (_dir, copy) = fresh();
    copy.clock().not_before(rig.chain.clock().now_ms());
    let cut = &file[..file.len() - 1];
    let error = transfer::import(&copy, cut, |_| ()).unwrap_err().to_string();
    assert!(error.contains("ends inside the block"), "{error}");

    let mut other = genesis();
    other.timestamp += 1;
    let dir = tempfile::tempdir().unwrap();
    let stranger = Chain::open(&dir.path().join("chain"), &other).unwrap();
    let error = transfer::import(&stranger, file.as_slice(), |_| ()).unwrap_err().to_string();
    assert!(error.contains("the file starts with genesis"), "{error}");
}
