//! Measures what execution and the pool cost per plain transfer, without signature recovery.
//!
//! `cargo run --release -p chainnet-devchain --example execution_cost`

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a measurement may stop at the first surprise"
)]

use std::{
    collections::BTreeMap,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use alloy_consensus::{Header, Signed, TxEip1559, TxEnvelope};
use alloy_primitives::{Address, B256, Bytes, Signature, U256, keccak256, map::HashMap};
use chainnet_devchain::{
    block::Transaction,
    exec::{self, BlockHashes, ChainSpec, Fork},
    pool::{Pool, PoolLimits, PoolRules, SenderState},
    state::{AccountDiff, AccountFields, NodeSource, StateDiff, StateError, StateView},
};

const SENDERS: u64 = 2_000;
const TRANSFERS: u64 = 20_000;

#[derive(Default)]
struct Memory(HashMap<B256, Bytes>);

impl NodeSource for Memory {
    fn node(&self, hash: B256) -> Result<Bytes, StateError> {
        self.0.get(&hash).cloned().ok_or(StateError::MissingNode(hash))
    }

    fn code(&self, hash: B256) -> Result<Bytes, StateError> {
        Err(StateError::MissingCode(hash))
    }
}

impl BlockHashes for Memory {
    fn block_hash(&self, _: u64) -> Option<B256> {
        None
    }
}

fn address(index: u64) -> Address {
    Address::from_slice(&keccak256(index.to_be_bytes())[12..])
}

fn genesis() -> StateView {
    let account = AccountFields { nonce: 0, balance: U256::from(u128::MAX), code_hash: keccak256([]) };
    let diff = AccountDiff { account: Some(account), ..AccountDiff::default() };
    let accounts: BTreeMap<_, _> = (0..SENDERS * 5).map(|index| (address(index), diff.clone())).collect();
    let empty = StateView::new(alloy_trie::EMPTY_ROOT_HASH, Arc::new(Memory::default()));
    let update = empty.apply(&StateDiff { accounts, code: BTreeMap::new() }).unwrap();
    StateView::new(update.root, Arc::new(Memory(update.nodes.into_iter().collect())))
}

fn transfer(index: u64) -> Transaction {
    let tx = TxEip1559 {
        chain_id: 1337,
        nonce: index / SENDERS,
        gas_limit: 21_000,
        to: address(index % (SENDERS * 5)).into(),
        value: U256::ONE,
        ..TxEip1559::default()
    };
    let hash = keccak256(index.to_be_bytes());
    let signed = Signed::new_unchecked(tx, Signature::test_signature(), hash);
    Transaction::new_unchecked(TxEnvelope::Eip1559(signed), address(index % SENDERS))
}

fn report(what: &str, took: Duration) {
    println!("{what:<34} {:>8.2} us per transfer", took.as_secs_f64() * 1e6 / TRANSFERS as f64);
}

fn main() {
    let spec = ChainSpec {
        chain_id: 1337,
        london_block: 0,
        shanghai_time: None,
        cancun_time: None,
        zero_base_fee: true,
        ibft: ibft::IbftConfig::default(),
        contract_size_limit: 24_576,
        block_reward: U256::ZERO,
        mining_beneficiary: None,
    };
    let header = Header { number: 1, gas_limit: 1 << 50, base_fee_per_gas: Some(0), ..Header::default() };
    let state = genesis();
    let transfers: Vec<Transaction> = (0..TRANSFERS).map(transfer).collect();
    let shared: Vec<Arc<Transaction>> = transfers.iter().cloned().map(Arc::new).collect();

    let start = Instant::now();
    let outcome = exec::execute_block(&spec, &state, &Memory::default(), &header, &transfers).unwrap();
    report("execute_block, one block of 20k", start.elapsed());
    assert!(outcome.receipts.iter().all(|receipt| receipt.success));

    let start = Instant::now();
    let time = exec::SelectionTime::within(Duration::from_secs(60));
    let body = exec::build_body(&spec, &state, &Memory::default(), &header, shared.iter().cloned(), time);
    report("build_body, one block of 20k", start.elapsed());
    assert_eq!(body.unwrap().outcome, outcome);

    let start = Instant::now();
    for block in transfers.chunks(1_000).take(2) {
        exec::execute_block(&spec, &state, &Memory::default(), &header, block).unwrap();
    }
    report("execute_block, 2 blocks of 1k (x10)", start.elapsed() * 10);

    let start = Instant::now();
    exec::receipts_root(&outcome.receipts);
    exec::transactions_root(&shared);
    report("receipts and transactions root", start.elapsed());

    measure_pool(&transfers, &shared);
}

fn measure_pool(transfers: &[Transaction], shared: &[Arc<Transaction>]) {
    let pool = Pool::new(PoolLimits { price_bump_percent: 0, ..PoolLimits::default() });
    let rules = PoolRules {
        chain_id: 1337,
        number: 1,
        block_gas_limit: 1 << 50,
        fork: Fork::London,
        base_fee: 0,
        allow_unprotected: false,
    };
    let sender = SenderState { nonce: 0, balance: U256::MAX, has_code: false };
    let start = Instant::now();
    thread::scope(|scope| {
        for part in shared.chunks(shared.len() / 4) {
            let (pool, rules) = (&pool, &rules);
            scope.spawn(move || {
                for tx in part {
                    pool.add(tx.clone(), sender, rules).unwrap();
                }
            });
        }
    });
    report("pool add, 4 threads", start.elapsed());
    let start = Instant::now();
    let best = pool.best(0, usize::MAX);
    report("pool best, all", start.elapsed());
    assert_eq!(best.len(), transfers.len());
    let start = Instant::now();
    pool.on_block(&transfers[..transfers.len() / 2]);
    report("pool on_block, half of them (x2)", start.elapsed() * 2);
    assert_eq!(pool.len(), transfers.len() / 2);
}
