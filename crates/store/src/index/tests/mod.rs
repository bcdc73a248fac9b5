//! The index on both engines, fed with made-up blocks.

mod append;
mod list;
mod sums;
mod validator;

use alloy_primitives::{Address, B256, U256};
use domain::Wei;

use super::*;
use crate::Db;

pub(super) const CHAIN: ChainIdentity =
    ChainIdentity { chain_id: 8845, genesis_hash: B256::repeat_byte(0xee) };
/// When block 0 was made: half past an hour, so that spans end in between.
pub(super) const BEGIN: u64 = 1_767_225_600 + 1_800;

pub(super) fn validator(index: u8) -> Address {
    Address::repeat_byte(0xa0 + index)
}

pub(super) fn user(index: u8) -> Address {
    Address::repeat_byte(index)
}

pub(super) fn hash(number: u64) -> B256 {
    B256::left_padding_from(&(number + 1).to_be_bytes())
}

/// A block of five validators, ten seconds after the one before, without transactions.
pub(super) fn block(number: u64) -> NewBlock {
    let validators: Vec<_> = (0..5).map(validator).collect();
    let proposer = validators[(number % 5) as usize];
    NewBlock {
        number,
        hash: hash(number),
        parent_hash: number.checked_sub(1).map_or(B256::ZERO, hash),
        timestamp: BEGIN + 10 * number,
        proposer,
        round: 0,
        gas_used: 21_000,
        gas_limit: u64::MAX,
        size: 600,
        sealers: validators.iter().copied().take(4).collect(),
        validators,
        turns: match number {
            0 => vec![],
            _ => vec![NewTurn { validator: proposer, round: 0, outcome: TurnOutcome::Kept }],
        },
        vote: None,
        transactions: vec![],
        events: vec![],
    }
}

pub(super) fn transfer(from: u8, to: u8) -> NewTransaction {
    NewTransaction {
        hash: B256::repeat_byte(from ^ (to << 4)),
        from: user(from),
        to: Some(user(to)),
        contract_address: None,
        value: Wei(U256::from(from) * U256::MAX / U256::from(255)),
        success: true,
        gas_used: 21_000,
        fee: Wei(U256::from(to)),
        selector: None,
        nonce: u64::MAX - 1,
    }
}

/// A block with transfers.
pub(super) fn block_with(number: u64, transactions: Vec<NewTransaction>) -> NewBlock {
    NewBlock { transactions, ..block(number) }
}

pub(super) async fn writer(db: &Db) -> IndexWriter {
    IndexWriter::open(db.clone(), CHAIN).await.unwrap()
}

/// Appends blocks one transaction for all.
pub(super) async fn fill(db: &Db, blocks: &[NewBlock]) {
    assert_eq!(writer(db).await.append(blocks).await.unwrap(), Appended::Written);
}
