//! A process that is killed at any moment leaves a store that opens at a whole block, and no earlier than the last
//! block whose commit had returned.
//!
//! The test starts itself again as the process to be killed.

use std::{
    collections::BTreeMap,
    env,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
};

use super::{BlockCommit, Store, TxLocation};
use crate::{
    block::{Block, Receipt, Transaction},
    state::{AccountDiff, AccountFields, StateDiff, StateView},
};
use alloy_consensus::{Header, SignableTransaction, TxEnvelope, TxLegacy};
use alloy_primitives::{Address, B256, Signature, U256, keccak256};
use alloy_trie::{EMPTY_ROOT_HASH, KECCAK_EMPTY};

const KILLS: usize = 20;
const TRANSFERS: u64 = 40;
const VICTIM_DIR: &str = "STORE_CRASH_DIR";

#[test]
fn a_killed_process_leaves_the_last_committed_block() {
    let dir = tempfile::tempdir().unwrap();
    let mut least = None;
    for kill in 0..KILLS {
        // The first victims die while the directory is being made, later ones after ever more blocks.
        let last = run_and_kill(dir.path(), kill * 2);
        least = last.or(least);
        if kill % 3 == 1 {
            // The next victim has to recover what this one left, and dies in turn.
            continue;
        }
        let store = Store::open(dir.path()).unwrap();
        let head = store.head().unwrap().map(|(number, _)| number);
        assert!(head >= least, "kill {kill}: the head is {head:?}, but {least:?} was committed");
        if let Some(head) = head {
            check_whole(&store, head);
            least = Some(head);
        }
    }
    assert!(least > Some(KILLS as u64 * 10), "{least:?}");
}

/// Starts a process that commits blocks, kills it after some commits, and returns the last that it reported.
fn run_and_kill(dir: &Path, commits: usize) -> Option<u64> {
    let mut victim = Command::new(env::current_exe().unwrap())
        .args(["--exact", "store::crash_tests::victim", "--ignored", "--nocapture"])
        .env(VICTIM_DIR, dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(victim.stdout.take().unwrap()).lines().map_while(Result::ok);
    let committed = |line: String| line.rsplit(' ').next().and_then(|number| number.parse().ok());
    let mut last = lines.by_ref().filter_map(committed).take(commits).last();
    victim.kill().unwrap();
    // It went on until the kill arrived.
    last = lines.filter_map(committed).last().or(last);
    victim.wait().unwrap();
    last
}

#[test]
#[ignore = "run by the other test as a process to be killed"]
#[expect(clippy::disallowed_methods, reason = "the parent process says where by environment")]
fn victim() {
    let Ok(dir) = env::var(VICTIM_DIR) else { return };
    let store = Store::open(dir.as_ref()).unwrap();
    let head = store.head().unwrap().map(|(number, _)| store.header(number).unwrap().unwrap());
    let (mut number, mut root) = head.map_or((0, EMPTY_ROOT_HASH), |head| (head.number + 1, head.state_root));
    loop {
        root = commit(&store, number, root);
        writeln!(std::io::stdout().lock(), "committed {number}").unwrap();
        number += 1;
    }
}

fn commit(store: &Store, number: u64, root: B256) -> B256 {
    let diff =
        StateDiff { accounts: (0..TRANSFERS).map(|id| account(number, id)).collect(), code: BTreeMap::new() };
    let update = StateView::new(root, Arc::new(store.clone())).apply(&diff).unwrap();
    let block = block(number, update.root);
    let receipts: Vec<_> = (0..TRANSFERS).map(receipt).collect();
    let commit = BlockCommit {
        block: &block,
        receipts: &receipts,
        nodes: &update.nodes,
        replaced: &update.replaced,
        code: &diff.code,
    };
    store.commit(&commit).unwrap();
    update.root
}

fn check_whole(store: &Store, head: u64) {
    let found = store.block(head).unwrap().unwrap();
    let block = block(head, found.header.state_root);
    assert_eq!(*found, block);
    assert_eq!(*store.receipts(head).unwrap().unwrap(), (0..TRANSFERS).map(receipt).collect::<Vec<_>>());
    for (index, transaction) in (0..).zip(block.transactions.iter()) {
        let location = store.find_transaction(*transaction.tx_hash()).unwrap();
        assert_eq!(location, Some(TxLocation { block: head, index }));
    }
    let state = StateView::new(block.header.state_root, Arc::new(store.clone()));
    for id in 0..TRANSFERS {
        let (address, _) = account(head, id);
        assert_eq!(state.account(address).unwrap().unwrap().nonce, head);
    }
    assert_eq!(store.header(head + 1).unwrap(), None);
    assert_eq!(store.headers(0..=head).count() as u64, head + 1);
}

fn account(number: u64, id: u64) -> (Address, AccountDiff) {
    let fields = AccountFields { nonce: number, balance: U256::from(id), code_hash: KECCAK_EMPTY };
    let address = Address::from_word(keccak256([number % 7, id].map(u64::to_be_bytes).concat()));
    (address, AccountDiff { account: Some(fields), ..AccountDiff::default() })
}

fn block(number: u64, state_root: B256) -> Block {
    let transactions = (0..TRANSFERS).map(|index| {
        let signature = Signature::new(U256::from(number + 1), U256::from(index + 1), false);
        let signed = TxLegacy { nonce: number, ..TxLegacy::default() }.into_signed(signature);
        let sender = Address::with_last_byte(index as u8);
        Arc::new(Transaction::new_unchecked(TxEnvelope::Legacy(signed), sender))
    });
    let header = Header { number, state_root, ..Header::default() };
    Block { hash: header.hash_slow(), header, transactions: Arc::new(transactions.collect()) }
}

fn receipt(index: u64) -> Receipt {
    Receipt {
        tx_type: 0,
        success: true,
        cumulative_gas_used: index,
        gas_used: 21_000,
        logs: Vec::new(),
        contract_address: None,
        revert_reason: None,
    }
}
