//! Measures what a block costs in the state and the store, for growing numbers of accounts.
//!
//! `cargo run --release -p chainnet-devchain --example state_cost -- 10000 100000 1000000`

use std::{collections::BTreeMap, error::Error, fs, io, path::Path, sync::Arc, time::Duration};

use alloy_consensus::{Header, SignableTransaction, TxEip1559, TxEnvelope};
use alloy_primitives::{Address, B256, Signature, TxKind, U256, keccak256};
use alloy_trie::{EMPTY_ROOT_HASH, KECCAK_EMPTY};
use chainnet_devchain::{
    block::{Block, Receipt, Transaction},
    state::{AccountDiff, AccountFields, StateDiff, StateView},
    store::{BlockCommit, Store},
};
use rand::{Rng, SeedableRng, rngs::StdRng};

const CHUNK: u64 = 20_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut counts = std::env::args().skip(1).map(|count| count.parse()).collect::<Result<Vec<u64>, _>>()?;
    if counts.is_empty() {
        counts = vec![10_000, 100_000, 1_000_000];
    }
    twenty_thousand_transfers()?;
    println!();
    println!("accounts  transfers  changed  new nodes  read ms  apply ms  commit ms  RSS MB");
    for count in counts {
        large_blocks(count)?;
    }
    Ok(())
}

/// A young chain under load: 20 blocks of 1,000 transfers between 2,000 accounts.
fn twenty_thousand_transfers() -> Result<(), Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    let started = Stopwatch::start();
    let store = Store::open(dir.path())?;
    println!("open a fresh directory: {:.1} ms", ms(started.elapsed()));
    let mut chain = Chain::new(store);
    chain.fund(2_000)?;
    println!("RSS before the transfers: {} MB", rss_mb()?);
    let mut commit_ms = Vec::new();
    for _ in 0..20 {
        commit_ms.push(ms(chain.transfers(1_000, 2_000)?.commit));
    }
    commit_ms.sort_by(f64::total_cmp);
    println!("commit of 1,000 transfers, fastest to slowest: {commit_ms:.1?} ms");
    println!("RSS after 20,000 transfers: {} MB", rss_mb()?);

    let crashed = tempfile::tempdir()?;
    copy_dir(dir.path(), crashed.path())?;
    let started = Stopwatch::start();
    drop(Store::open(crashed.path())?);
    println!("reopen as after a crash: {:.1} ms", ms(started.elapsed()));
    let started = Stopwatch::start();
    drop(chain);
    println!("close: {:.1} ms", ms(started.elapsed()));
    let started = Stopwatch::start();
    let store = Store::open(dir.path())?;
    println!("reopen after a clean close: {:.1} ms", ms(started.elapsed()));
    drop(store);
    println!("on disk: {:.1} MB", dir_bytes(dir.path())? as f64 / 1e6);
    Ok(())
}

/// Blocks of many transfers between random accounts of a large state.
fn large_blocks(accounts: u64) -> Result<(), Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    let mut chain = Chain::new(Store::open(dir.path())?);
    chain.fund(accounts)?;
    for transfers in [100, 1_000, 1_000, 10_000, 10_000, 10_000] {
        let cost = chain.transfers(transfers, accounts)?;
        println!(
            "{accounts:8} {transfers:10} {:8} {:10} {:8.1} {:9.1} {:10.1} {:7}",
            cost.changed,
            cost.nodes,
            ms(cost.read),
            ms(cost.apply),
            ms(cost.commit),
            rss_mb()?
        );
    }
    let disk = dir_bytes(dir.path())? as f64 / 1e6;
    drop(chain);
    let started = Stopwatch::start();
    drop(Store::open(dir.path())?);
    println!("{accounts:8} accounts: {disk:.0} MB on disk, reopen {:.1} ms", ms(started.elapsed()));
    Ok(())
}

struct Chain {
    store: Store,
    root: B256,
    number: u64,
    random: StdRng,
}

struct Cost {
    changed: usize,
    nodes: usize,
    read: Duration,
    apply: Duration,
    commit: Duration,
}

impl Chain {
    fn new(store: Store) -> Self {
        Self { store, root: EMPTY_ROOT_HASH, number: 0, random: StdRng::seed_from_u64(1) }
    }

    fn fund(&mut self, accounts: u64) -> Result<(), Box<dyn Error>> {
        for start in (0..accounts).step_by(CHUNK as usize) {
            let ids = start..accounts.min(start + CHUNK);
            self.block(ids.map(address).collect(), Vec::new(), 0)?;
        }
        Ok(())
    }

    fn transfers(&mut self, transfers: u64, accounts: u64) -> Result<Cost, Box<dyn Error>> {
        let parties: Vec<_> =
            (0..2 * transfers).map(|_| address(self.random.random_range(0..accounts))).collect();
        let number = self.number;
        let transactions = parties.as_chunks().0.iter().zip(0..).map(|([from, to], index)| {
            let transaction = TxEip1559 {
                chain_id: 1337,
                nonce: number,
                gas_limit: 21_000,
                max_fee_per_gas: 2_000_000_000,
                to: TxKind::Call(*to),
                value: U256::from(1_000_000_000_000_000_000u128),
                ..TxEip1559::default()
            };
            let r = U256::from_be_bytes(keccak256([number, index].map(u64::to_be_bytes).concat()).0);
            let signed = transaction.into_signed(Signature::new(r, r, false));
            Transaction::new_unchecked(TxEnvelope::Eip1559(signed), *from)
        });
        let transactions = transactions.collect();
        self.block(parties, transactions, number)
    }

    fn block(
        &mut self,
        changed: Vec<Address>,
        transactions: Vec<Transaction>,
        nonce: u64,
    ) -> Result<Cost, Box<dyn Error>> {
        let view = StateView::new(self.root, Arc::new(self.store.clone()));
        let started = Stopwatch::start();
        let mut accounts = BTreeMap::new();
        for address in changed {
            let balance = view.account(address)?.map_or(U256::from(10).pow(U256::from(24)), |a| a.balance);
            let fields =
                AccountFields { nonce, balance: balance - U256::from(nonce), code_hash: KECCAK_EMPTY };
            accounts.insert(address, AccountDiff { account: Some(fields), ..AccountDiff::default() });
        }
        let diff = StateDiff { accounts, code: BTreeMap::new() };
        let read = started.elapsed();
        let started = Stopwatch::start();
        let update = view.apply(&diff)?;
        let apply = started.elapsed();
        let header = Header { number: self.number, state_root: update.root, ..Header::default() };
        let hash = header.hash_slow();
        let receipts: Vec<_> = transactions.iter().map(|_| receipt()).collect();
        let transactions = transactions.into_iter().map(Arc::new).collect();
        let block = Block { header, hash, transactions: Arc::new(transactions) };
        let started = Stopwatch::start();
        self.store.commit(&BlockCommit {
            block: &block,
            receipts: &receipts,
            nodes: &update.nodes,
            replaced: &update.replaced,
            code: &diff.code,
        })?;
        let commit = started.elapsed();
        self.root = update.root;
        self.number += 1;
        Ok(Cost { changed: diff.accounts.len(), nodes: update.nodes.len(), read, apply, commit })
    }
}

fn address(id: u64) -> Address {
    Address::from_word(keccak256(id.to_be_bytes()))
}

fn receipt() -> Receipt {
    Receipt {
        tx_type: 2,
        success: true,
        cumulative_gas_used: 21_000,
        gas_used: 21_000,
        logs: Vec::new(),
        contract_address: None,
        revert_reason: None,
    }
}

/// Time that this thread spends running, which other load on the machine does not stretch.
struct Stopwatch {
    started: Duration,
}

impl Stopwatch {
    fn start() -> Self {
        Self { started: Self::running() }
    }

    fn elapsed(&self) -> Duration {
        Self::running() - self.started
    }

    fn running() -> Duration {
        let schedule = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        let nanos = schedule.split_whitespace().next().and_then(|nanos| nanos.parse().ok());
        Duration::from_nanos(nanos.unwrap_or(0))
    }
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

fn rss_mb() -> io::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    Ok(line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) / 1024)
}

fn copy_dir(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_dir(&entry.path(), &target)?
        } else {
            fs::copy(entry.path(), target).map(drop)?
        }
    }
    Ok(())
}

fn dir_bytes(dir: &Path) -> io::Result<u64> {
    use std::os::unix::fs::MetadataExt;
    let mut total = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        // Blocks rather than length: journals are sparse.
        total += if metadata.is_dir() { dir_bytes(&entry.path())? } else { metadata.blocks() * 512 };
    }
    Ok(total)
}
