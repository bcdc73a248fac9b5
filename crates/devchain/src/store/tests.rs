//! The store as its users see it: what was committed is read back, and other people's directories are left alone.

use std::{collections::BTreeMap, fs, ops::RangeInclusive, path::Path, sync::Arc};

use alloy_consensus::{Header, SignableTransaction, TxEip1559, TxEnvelope, TxLegacy};
use alloy_primitives::{Address, B256, Bytes, Log, Signature, TxKind, U256, keccak256};
use alloy_trie::{EMPTY_ROOT_HASH, KECCAK_EMPTY};

use super::{BlockCommit, Damage, Store, StoreError, TxLocation};
use crate::{
    block::{Block, Receipt, Transaction},
    state::{AccountDiff, AccountFields, NodeSource, StateDiff, StateError, StateView},
};

fn transaction(block: u64, index: u64) -> Transaction {
    let signature = Signature::new(U256::from(block + 1), U256::from(index + 1), false);
    let to = TxKind::Call(Address::repeat_byte(9));
    let envelope = if index.is_multiple_of(2) {
        TxEnvelope::from(TxEip1559 { nonce: index, to, ..TxEip1559::default() }.into_signed(signature))
    } else {
        TxEnvelope::from(TxLegacy { nonce: index, to, ..TxLegacy::default() }.into_signed(signature))
    };
    Transaction::new_unchecked(envelope, Address::with_last_byte(index as u8))
}

fn receipt(index: u64) -> Receipt {
    let logs = vec![Log::new_unchecked(
        Address::repeat_byte(3),
        vec![B256::repeat_byte(4)],
        Bytes::from(vec![5; 70]),
    )];
    Receipt {
        tx_type: if index.is_multiple_of(2) { 2 } else { 0 },
        success: index != 1,
        cumulative_gas_used: 21_000 * (index + 1),
        gas_used: 21_000,
        logs,
        contract_address: (index == 2).then_some(Address::repeat_byte(6)),
        revert_reason: (index == 1).then(|| Bytes::from_static(b"no")),
    }
}

/// A chain whose block `n` holds `n` transactions and sets one account's nonce to `n`.
struct TestChain {
    store: Store,
    root: B256,
}

impl TestChain {
    fn open(dir: &Path) -> Self {
        let store = Store::open(dir).unwrap();
        let head = store.head().unwrap().map(|(number, _)| store.header(number).unwrap().unwrap().state_root);
        Self { store, root: head.unwrap_or(EMPTY_ROOT_HASH) }
    }

    fn block(&self, number: u64, root: B256) -> Block {
        let header = Header {
            number,
            state_root: root,
            extra_data: Bytes::from_static(b"seals"),
            ..Header::default()
        };
        // Not `hash_slow`: the store must not assume how blocks are hashed.
        let hash = keccak256(number.to_be_bytes());
        Block {
            header,
            hash,
            transactions: Arc::new((0..number).map(|index| Arc::new(transaction(number, index))).collect()),
        }
    }

    fn commit(&mut self, number: u64) -> Result<(Block, Vec<Receipt>), StoreError> {
        let fields = AccountFields { nonce: number, balance: U256::ONE, code_hash: KECCAK_EMPTY };
        let diff = AccountDiff { account: Some(fields), ..AccountDiff::default() };
        let diff = StateDiff { accounts: [(Address::ZERO, diff)].into(), code: BTreeMap::new() };
        let update = StateView::new(self.root, Arc::new(self.store.clone())).apply(&diff).unwrap();
        let block = self.block(number, update.root);
        let receipts: Vec<_> = (0..number).map(receipt).collect();
        let code = BTreeMap::from([(keccak256([number as u8]), Bytes::from(vec![number as u8]))]);
        self.store.commit(&BlockCommit {
            block: &block,
            receipts: &receipts,
            nodes: &update.nodes,
            replaced: &update.replaced,
            code: &code,
        })?;
        self.root = update.root;
        Ok((block, receipts))
    }
}

fn check_block(store: &Store, block: &Block, receipts: &[Receipt]) {
    let number = block.number();
    assert_eq!(*store.block(number).unwrap().unwrap(), *block);
    assert_eq!(*store.receipts(number).unwrap().unwrap(), receipts);
    assert_eq!(store.header(number).unwrap().unwrap(), block.header);
    assert_eq!(store.number_of(block.hash).unwrap(), Some(number));
    assert_eq!(store.hash_of(number).unwrap(), Some(block.hash));
    for (index, transaction) in (0..).zip(block.transactions.iter()) {
        let location = store.find_transaction(*transaction.tx_hash()).unwrap();
        assert_eq!(location, Some(TxLocation { block: number, index }));
    }
    let state = StateView::new(block.header.state_root, Arc::new(store.clone()));
    assert_eq!(state.account(Address::ZERO).unwrap().unwrap().nonce, number);
    let code = state.code(keccak256([number as u8])).unwrap();
    assert_eq!(code.as_ref(), [number as u8]);
}

#[test]
fn a_fresh_store_is_empty() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("new")).unwrap();
    assert_eq!(store.head().unwrap(), None);
    assert_eq!(store.block(0).unwrap(), None);
    assert_eq!(store.find_transaction(B256::ZERO).unwrap(), None);
    assert!(matches!(store.node(B256::ZERO), Err(StateError::MissingNode(_))));
    assert!(matches!(store.code(B256::ZERO), Err(StateError::MissingCode(_))));
}

#[test]
fn committed_blocks_are_read_back_before_and_after_reopening() {
    let dir = tempfile::tempdir().unwrap();
    let mut chain = TestChain::open(dir.path());
    let blocks: Vec<_> = (0..6).map(|number| chain.commit(number).unwrap()).collect();
    for round in 0..3 {
        assert_eq!(chain.store.head().unwrap(), Some((5, blocks[5].0.hash)), "round {round}");
        for (block, receipts) in &blocks {
            check_block(&chain.store, block, receipts);
        }
        let numbers: Vec<_> = chain.store.headers(2..=9).map(|header| header.unwrap().number).collect();
        assert_eq!(numbers, [2, 3, 4, 5]);
        assert_eq!(chain.store.headers(RangeInclusive::new(4, 3)).count(), 0);
        drop(chain);
        chain = TestChain::open(dir.path());
    }
}

#[test]
fn a_block_that_does_not_follow_the_head_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut chain = TestChain::open(dir.path());
    assert!(matches!(chain.commit(1), Err(StoreError::OutOfOrder { head: None, number: 1 })));
    chain.commit(0).unwrap();
    for number in [0, 2] {
        assert!(matches!(chain.commit(number), Err(StoreError::OutOfOrder { head: Some(0), .. })));
    }
}

#[test]
fn truncating_drops_later_blocks_and_the_chain_goes_on_from_there() {
    let dir = tempfile::tempdir().unwrap();
    let mut chain = TestChain::open(dir.path());
    let blocks: Vec<_> = (0..6).map(|number| chain.commit(number).unwrap()).collect();
    chain.store.truncate(2).unwrap();
    for _ in 0..2 {
        assert_eq!(chain.store.head().unwrap(), Some((2, blocks[2].0.hash)));
        check_block(&chain.store, &blocks[2].0, &blocks[2].1);
        assert_eq!(chain.store.block(3).unwrap(), None);
        assert_eq!(chain.store.receipts(3).unwrap(), None);
        assert_eq!(chain.store.number_of(blocks[4].0.hash).unwrap(), None);
        assert_eq!(chain.store.find_transaction(*blocks[5].0.transactions[0].tx_hash()).unwrap(), None);
        assert_eq!(chain.store.headers(0..=9).count(), 3);
        drop(chain);
        chain = TestChain::open(dir.path());
    }
    assert!(matches!(chain.store.truncate(3), Err(StoreError::UnknownBlock(3))));
    let (block, receipts) = chain.commit(3).unwrap();
    check_block(&chain.store, &block, &receipts);
}

#[test]
fn a_directory_with_other_peoples_files_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("thesis.tex"), "precious").unwrap();
    let error = Store::open(dir.path()).err().unwrap();
    assert!(matches!(&error, StoreError::Foreign { found, .. } if found == "thesis.tex"));
    let message = error.to_string();
    assert!(message.contains("is not a chainnet data directory (it holds thesis.tex)"), "{message}");
    assert!(message.ends_with("choose another directory with --data or CHAINNET_DATA"), "{message}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn another_format_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    drop(Store::open(dir.path()).unwrap());
    fs::write(dir.path().join("chainnet-data"), "chainnet chain data, format 2\n").unwrap();
    let error = Store::open(dir.path()).err().unwrap();
    assert!(matches!(&error, StoreError::UnknownFormat { found, .. } if found.ends_with("format 2")));
}

#[test]
fn a_directory_in_use_is_refused_until_it_is_closed() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    assert!(matches!(Store::open(dir.path()), Err(StoreError::InUse { .. })));
    drop(store);
    Store::open(dir.path()).unwrap();
}

#[test]
fn a_creation_that_was_cut_short_is_started_again() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("chainnet-data"), "").unwrap();
    fs::create_dir_all(dir.path().join("db/keyspaces")).unwrap();
    fs::write(dir.path().join("db/0.jnl"), "").unwrap();
    TestChain::open(dir.path()).commit(0).unwrap();
}

#[test]
fn a_database_that_is_not_one_is_reported_as_damaged() {
    let dir = tempfile::tempdir().unwrap();
    drop(TestChain::open(dir.path()).commit(0).unwrap());
    fs::write(dir.path().join("db/version"), "nonsense").unwrap();
    let error = Store::open(dir.path()).err().unwrap();
    assert!(matches!(&error, StoreError::Damaged { source: Damage::Unrecoverable(_), .. }), "{error:?}");
}

#[test]
fn a_database_without_its_tables_is_reported_as_damaged() {
    let dir = tempfile::tempdir().unwrap();
    drop(TestChain::open(dir.path()).commit(0).unwrap());
    for keyspace in fs::read_dir(dir.path().join("db/keyspaces")).unwrap() {
        let tables = keyspace.unwrap().path().join("tables");
        for table in fs::read_dir(tables).unwrap() {
            fs::write(table.unwrap().path(), "nonsense").unwrap();
        }
    }
    let error = Store::open(dir.path()).err().unwrap();
    assert!(matches!(&error, StoreError::Damaged { .. }), "{error:?}");
}

#[test]
fn a_database_that_lost_its_chain_is_not_taken_for_a_new_one() {
    for lost in ["db/version", "db"] {
        let dir = tempfile::tempdir().unwrap();
        drop(TestChain::open(dir.path()).commit(0).unwrap());
        let lost = dir.path().join(lost);
        if lost.is_dir() {
            fs::remove_dir_all(lost).unwrap();
        } else {
            fs::remove_file(lost).unwrap();
        }
        for _ in 0..2 {
            let error = Store::open(dir.path()).err().unwrap();
            assert!(matches!(&error, StoreError::Damaged { source: Damage::Emptied, .. }), "{error:?}");
        }
    }
}
