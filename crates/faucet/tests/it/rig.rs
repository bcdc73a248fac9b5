//! A chain that seals when asked, a database, and faucets on them that can be killed.

use std::{
    net::{IpAddr, Ipv4Addr},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use access::Client;
use alloy_consensus::{SignableTransaction, TxEip1559, TxEnvelope};
use alloy_eips::Encodable2718;
use alloy_primitives::{Address, B256, Bytes, TxKind, U256};
use alloy_signer::SignerSync;
use alloy_signer_local::PrivateKeySigner;
use chainnet_faucet::{Claim, ClaimStatus, Faucet, FaucetSettings};
use devchain::{
    chain::Chain,
    clock::ChainClock,
    genesis::{Genesis, GenesisSpec, GenesisValidator},
    pool::PoolLimits,
    produce::{Control, Pacing, Production},
};
use domain::{Network, Wei, devnet};
use ibft::seal::{Secp256k1Key, ValidatorKey};
use jiff::Timestamp;
use store::Db;
use tempfile::TempDir;
use testkit::{BesuSettings, FlakyClient, TestNode};
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

const CHAIN_ID: u64 = 8845;
/// Longer than anything here takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
pub(crate) const NOW: u64 = 1_767_225_600_000;
pub(crate) const DAY: u64 = 24 * 3600 * 1000;
/// The development account that is not used for anything else here pays.
const PAYER: usize = 9;

pub(crate) fn payer() -> PrivateKeySigner {
    PrivateKeySigner::from_bytes(&devnet::ACCOUNTS[PAYER].key).expect("a key")
}

pub(crate) fn wallet(number: u64) -> Address {
    Address::left_padding_from(&(0xf000_0000 + number).to_be_bytes())
}

/// A visitor with an IPv4 address of its own.
pub(crate) fn visitor(number: u32) -> Client {
    IpAddr::V4(Ipv4Addr::from_bits(0x0a00_0000 + number)).into()
}

fn keys() -> Vec<Secp256k1Key> {
    (1u64..=5).map(|n| Secp256k1Key::new(B256::from(U256::from(n))).expect("a small key")).collect()
}

fn genesis(coin: u64) -> Genesis {
    let validators = keys().into_iter().map(|key| GenesisValidator {
        operator: key.address(),
        consensus: key.address(),
        moniker: "Validator".to_owned(),
        website: String::new(),
        commission_bps: 0,
    });
    let account = |index: usize| devnet::ACCOUNTS[index].address;
    let rich = (0..PAYER).map(|index| (account(index), Wei::from_coin(1_000_000).0));
    let spec = GenesisSpec {
        chain_id: CHAIN_ID,
        timestamp: 1_767_225_600,
        validators: validators.collect(),
        treasury_owners: (0..5).map(account).collect(),
        admin: account(0),
        slasher: account(1),
        funded: rich.chain([(account(PAYER), Wei::from_coin(coin).0)]).collect(),
        ..GenesisSpec::default()
    };
    spec.build().expect("a genesis")
}

pub(crate) struct Rig {
    pub(crate) chain: Arc<Chain>,
    pub(crate) line: Arc<FlakyClient>,
    pub(crate) db: Db,
    pub(crate) control: Control,
    now: Arc<AtomicU64>,
    node: TestNode,
    _production: Production,
    _dir: TempDir,
}

/// A faucet with a running sender.
pub(crate) struct Running {
    pub(crate) faucet: Faucet,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Running {
    /// Ends it in order.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.task.await.expect("the sender ends");
    }

    /// Ends it wherever it is, as `kill -9` would: the lease is not returned.
    pub(crate) async fn kill(self) {
        self.task.abort();
        let _ = self.task.await;
    }
}

impl Rig {
    /// A chain whose payer has a million coin.
    pub(crate) fn new(db: Db) -> Self {
        Self::with_funds(db, 1_000_000)
    }

    pub(crate) fn with_funds(db: Db, coin: u64) -> Self {
        Self::with_node(db, coin, PoolLimits::default(), TestNode::new)
    }

    /// A chain that takes nothing below this price of gas, in wei.
    pub(crate) fn with_min_gas_price(db: Db, min_gas_price: u128) -> Self {
        Self::with_node(db, 1_000_000, PoolLimits { min_gas_price, ..PoolLimits::default() }, TestNode::new)
    }

    /// A chain behind a Besu, whatever the environment says.
    pub(crate) fn on_besu(db: Db) -> Self {
        Self::with_node(db, 1_000_000, PoolLimits::default(), |chain, control| {
            TestNode::on_besu(chain, control, BesuSettings::v24_12_2())
        })
    }

    fn with_node(
        db: Db,
        coin: u64,
        limits: PoolLimits,
        wire: impl FnOnce(&Arc<Chain>, &Control) -> TestNode,
    ) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let chain =
            Chain::open_with(&dir.path().join("chain"), &genesis(coin), limits, ChainClock::default())
                .expect("a chain");
        let production = Production::start(chain.clone(), keys(), Pacing::OnDemand).expect("production");
        let node = wire(&chain, production.control());
        Self {
            line: Arc::new(FlakyClient::new(node.client())),
            control: production.control().clone(),
            node,
            chain,
            db,
            now: Arc::new(AtomicU64::new(NOW)),
            _production: production,
            _dir: dir,
        }
    }

    pub(crate) fn now(&self) -> u64 {
        self.now.load(Ordering::SeqCst)
    }

    pub(crate) fn advance(&self, millis: u64) {
        self.now.fetch_add(millis, Ordering::SeqCst);
    }

    /// Lets the lease of a killed sender lapse.
    pub(crate) fn outlast_lease(&self) {
        self.advance(10_000);
    }

    pub(crate) fn start(&self) -> Running {
        self.start_with(FaucetSettings::default())
    }

    pub(crate) fn start_with(&self, settings: FaucetSettings) -> Running {
        self.start_as(payer(), settings)
    }

    /// A faucet that pays from another account.
    pub(crate) fn start_as(&self, key: PrivateKeySigner, settings: FaucetSettings) -> Running {
        let (faucet, sender) = self.make(key, settings);
        let stop = CancellationToken::new();
        let task = tokio::spawn(sender.run(stop.clone()));
        Running { faucet, stop, task }
    }

    /// A faucet whose sender does not run.
    pub(crate) fn idle(&self, settings: FaucetSettings) -> Faucet {
        self.make(payer(), settings).0
    }

    fn make(&self, key: PrivateKeySigner, settings: FaucetSettings) -> (Faucet, chainnet_faucet::Sender) {
        let now = Arc::clone(&self.now);
        let clock = Arc::new(move || {
            Timestamp::from_millisecond(now.load(Ordering::SeqCst).cast_signed()).expect("a time")
        });
        let (chain, db) = (self.line.clone(), self.db.clone());
        Faucet::new(Network::Devnet, chain, db, key, settings, clock).expect("devnet has a faucet")
    }

    pub(crate) async fn claim(&self, running: &Running, number: u64) -> Claim {
        let visitor = visitor(u32::try_from(number).expect("a small number"));
        running.faucet.claim(wallet(number), visitor, self.now()).await.expect("a claim")
    }

    pub(crate) async fn mine(&self) -> u64 {
        let number = self.control.mine(None).await.expect("a block");
        self.node.catch_up().await;
        number
    }

    /// What an address has.
    pub(crate) fn coin(&self, address: Address) -> Wei {
        let account = self.chain.head().state.account(address).expect("state");
        Wei(account.map_or(U256::ZERO, |account| account.balance))
    }

    /// Waits until so many transactions wait for a block.
    pub(crate) async fn pooled(&self, count: usize) {
        let deadline = Instant::now() + PATIENCE;
        while self.chain.pool().len() != count {
            assert!(Instant::now() < deadline, "{} wait, not {count}", self.chain.pool().len());
            sleep(Duration::from_millis(2)).await;
        }
    }

    /// Waits until a claim is as far as this.
    pub(crate) async fn until(&self, faucet: &Faucet, hash: B256, status: ClaimStatus) -> Claim {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let claim = faucet.find(hash, self.now()).await.expect("an answer").expect("a claim");
            if claim.status == status {
                return claim;
            }
            assert!(Instant::now() < deadline, "still {claim:?}");
            sleep(Duration::from_millis(2)).await;
        }
    }

    /// Mines, at a pace that the sender can follow, until a claim is paid; answers how many blocks that took.
    pub(crate) async fn mine_until_paid(&self, faucet: &Faucet, hash: B256) -> u64 {
        let deadline = Instant::now() + PATIENCE;
        for blocks in 0.. {
            let claim = faucet.find(hash, self.now()).await.expect("an answer").expect("a claim");
            if claim.status == ClaimStatus::Confirmed {
                return blocks;
            }
            assert!(Instant::now() < deadline, "not paid after {blocks} blocks: {claim:?}");
            self.mine().await;
            sleep(Duration::from_millis(50)).await;
        }
        unreachable!("the deadline comes first")
    }

    /// Waits until something was sent, and so many times.
    pub(crate) async fn sent(&self, times: usize) -> Vec<Bytes> {
        let mut sent = self.line.sent();
        let waited = tokio::time::timeout(PATIENCE, sent.wait_for(|sent| sent.len() >= times)).await;
        waited.expect("sent in time").expect("an open line").clone()
    }

    /// Puts a transaction straight into the pool, past the faucet and its line.
    pub(crate) fn submit(&self, key: &PrivateKeySigner, tx: TxEip1559) -> B256 {
        let tx = TxEip1559 { chain_id: CHAIN_ID, ..tx };
        let signature = key.sign_hash_sync(&tx.signature_hash()).expect("a signature");
        let raw = TxEnvelope::from(tx.into_signed(signature)).encoded_2718();
        self.chain.submit(&raw).expect("a pooled transaction")
    }

    /// A transfer of nothing with the payer's key, by somebody who is not the faucet.
    pub(crate) fn submit_foreign(&self, nonce: u64) -> B256 {
        let tx =
            TxEip1559 { nonce, gas_limit: 21_000, to: TxKind::Call(wallet(9_999)), ..TxEip1559::default() };
        self.submit(&payer(), tx)
    }
}
