//! A chain that seals when asked, with its index in a database, and keepers on them that can be killed.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use alloy_consensus::{SignableTransaction, TxEip1559, TxEnvelope};
use alloy_eips::Encodable2718;
use alloy_primitives::{Address, B256, TxKind, U256};
use alloy_signer::SignerSync;
use alloy_signer_local::PrivateKeySigner;
use alloy_sol_types::SolCall;
use chain::{At, ChainClient, contract};
use chainnet_keeper::{Keeper, KeeperSettings};
use contracts::{
    address::REGISTRY,
    bindings::{PlatformValidatorRegistry as Registry, registry::IPlatformValidatorRegistry::Validator},
};
use devchain::{
    chain::Chain,
    client::EmbeddedClient,
    genesis::{Genesis, GenesisSpec, GenesisValidator},
    produce::{Control, Pacing, Production},
};
use domain::{Wei, devnet};
use ibft::seal::{Secp256k1Key, ValidatorKey};
use indexer::{Indexer, IndexerConfig};
use jiff::Timestamp;
use prometheus_client::encoding::text::encode;
use store::{Db, keeper::OffenceKind};
use tempfile::TempDir;
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep},
};
use tokio_util::sync::{CancellationToken, DropGuard};

pub(crate) const CHAIN_ID: u64 = 8845;
/// Longer than anything here takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// Time of the genesis block.
pub(crate) const START: u64 = 1_767_225_600;
pub(crate) const JAIL: u64 = 7 * 24 * 3600;

/// Development accounts with a part in the registry, one that has the right to slash and coin, one that has the right alone.
pub(crate) const SLASHER: usize = 1;
pub(crate) const STRANGER: usize = 2;

const POOR: u64 = 99;

fn key(number: u64) -> Secp256k1Key {
    Secp256k1Key::new(B256::from(U256::from(number))).expect("a small key")
}

pub(crate) fn node(number: u64) -> Address {
    key(number).address()
}

/// The operator of a genesis validator, which is not its node.
pub(crate) fn operator(number: u64) -> Address {
    Address::with_last_byte(u8::try_from(number).expect("a small number"))
}

pub(crate) fn account(index: usize) -> PrivateKeySigner {
    PrivateKeySigner::from_bytes(&devnet::ACCOUNTS[index].key).expect("a key")
}

/// May slash, but has no coin.
pub(crate) fn poor() -> PrivateKeySigner {
    PrivateKeySigner::from_bytes(&B256::from(U256::from(POOR))).expect("a key")
}

fn genesis(slasher: Address) -> Genesis {
    let validators = (1..=5).map(|number| GenesisValidator {
        operator: operator(number),
        consensus: node(number),
        moniker: format!("Validator {number}"),
        website: String::new(),
        commission_bps: 500,
    });
    let account = |index: usize| devnet::ACCOUNTS[index].address;
    let spec = GenesisSpec {
        chain_id: CHAIN_ID,
        timestamp: START,
        validators: validators.collect(),
        treasury_owners: (0..5).map(account).collect(),
        admin: account(0),
        slasher,
        funded: (0..10).map(|index| (account(index), Wei::from_coin(1_000_000).0)).collect(),
        ..GenesisSpec::default()
    };
    spec.build().expect("a genesis")
}

pub(crate) struct Rig {
    pub(crate) client: Arc<EmbeddedClient>,
    pub(crate) chain: Arc<Chain>,
    pub(crate) db: Db,
    pub(crate) control: Control,
    now: Arc<AtomicU64>,
    nonces: Mutex<HashMap<Address, u64>>,
    _indexing: DropGuard,
    _production: Production,
    _dir: TempDir,
}

/// A running keeper.
pub(crate) struct Running {
    pub(crate) keeper: Arc<Keeper>,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Running {
    /// Ends it in order.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.task.await.expect("the keeper ends");
    }

    /// Ends it wherever it is, as `kill -9` would: the lease is not returned.
    pub(crate) async fn kill(self) {
        self.task.abort();
        let _ = self.task.await;
    }

    /// The value of a metric, by its line without the value.
    pub(crate) fn metric(&self, line: &str) -> f64 {
        let mut text = String::new();
        encode(&mut text, &self.keeper.registry().lock()).expect("metrics");
        let found = text.lines().find_map(|one| one.strip_prefix(line)?.trim().parse().ok());
        found.unwrap_or_else(|| panic!("{line} is not in\n{text}"))
    }
}

impl Rig {
    pub(crate) fn start(db: Db) -> Self {
        Self::with_slasher(db, devnet::ACCOUNTS[SLASHER].address)
    }

    pub(crate) fn with_slasher(db: Db, slasher: Address) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let chain = Chain::open(&dir.path().join("chain"), &genesis(slasher)).expect("a chain");
        let keys = (1..=5).map(key).collect();
        let production = Production::start(chain.clone(), keys, Pacing::OnDemand).expect("production");
        let client = Arc::new(EmbeddedClient::new(chain.clone()));
        let stop = CancellationToken::new();
        let indexer = Indexer::new(client.clone(), db.clone(), IndexerConfig::default());
        tokio::spawn(indexer.run(stop.clone()));
        Self {
            client,
            chain,
            db,
            control: production.control().clone(),
            now: Arc::new(AtomicU64::new(START * 1000)),
            nonces: Mutex::default(),
            _indexing: stop.drop_guard(),
            _production: production,
            _dir: dir,
        }
    }

    /// Lets the lease of a killed keeper lapse.
    pub(crate) fn outlast_lease(&self) {
        self.now.fetch_add(10_000, Ordering::SeqCst);
    }

    pub(crate) fn settings(&self) -> KeeperSettings {
        KeeperSettings::new(REGISTRY, CHAIN_ID)
    }

    pub(crate) fn slashing(&self) -> KeeperSettings {
        KeeperSettings { auto_slash: true, ..self.settings() }
    }

    pub(crate) fn make(&self, key: Option<PrivateKeySigner>, settings: KeeperSettings) -> Keeper {
        self.make_on(self.client.clone(), key, settings)
    }

    pub(crate) fn make_on(
        &self,
        chain: Arc<dyn ChainClient>,
        key: Option<PrivateKeySigner>,
        settings: KeeperSettings,
    ) -> Keeper {
        let now = Arc::clone(&self.now);
        let clock = Arc::new(move || {
            Timestamp::from_millisecond(now.load(Ordering::SeqCst).cast_signed()).expect("a time")
        });
        Keeper::new(chain, self.db.clone(), key, settings, clock)
    }

    pub(crate) fn keep(&self, key: Option<PrivateKeySigner>, settings: KeeperSettings) -> Running {
        run(self.make(key, settings))
    }

    pub(crate) async fn mine(&self, blocks: u64) {
        for _ in 0..blocks {
            self.control.mine(None).await.expect("a block");
        }
    }

    /// Mines a block with this time.
    pub(crate) async fn mine_at(&self, time: u64) {
        self.control.mine(Some(time)).await.expect("a block");
    }

    pub(crate) fn height(&self) -> u64 {
        self.chain.head().block.number()
    }

    /// Sends a call to the registry past the keeper, and mines it.
    pub(crate) async fn registry(&self, from: &PrivateKeySigner, call: &impl SolCall) {
        let tx =
            TxEip1559 { to: TxKind::Call(REGISTRY), input: call.abi_encode().into(), ..TxEip1559::default() };
        self.submit(from, TxEip1559 { gas_limit: 2_000_000, ..tx });
        self.mine(1).await;
        let receipts = self.chain.head().receipts.clone();
        assert!(receipts.iter().all(|receipt| receipt.success), "{receipts:?}");
    }

    pub(crate) fn submit(&self, from: &PrivateKeySigner, tx: TxEip1559) {
        let nonce = {
            let mut nonces = self.nonces.lock().expect("the nonces");
            let next = nonces.entry(from.address()).or_default();
            *next += 1;
            *next - 1
        };
        self.submit_as_is(from, TxEip1559 { nonce, ..tx });
    }

    /// Puts a transaction into the pool with the nonce that it has.
    pub(crate) fn submit_as_is(&self, from: &PrivateKeySigner, tx: TxEip1559) {
        let tx = TxEip1559 { chain_id: CHAIN_ID, ..tx };
        let signature = from.sign_hash_sync(&tx.signature_hash()).expect("a signature");
        let raw = TxEnvelope::from(tx.into_signed(signature)).encoded_2718();
        self.chain.submit(&raw).expect("a pooled transaction");
    }

    /// Slashes for downtime, as an operator of the registry would by hand.
    pub(crate) async fn slash_by_hand(&self, number: u64) {
        let call = Registry::slashValidatorCall { operator: operator(number), reason: 1 };
        self.registry(&account(SLASHER), &call).await;
    }

    pub(crate) async fn record(&self, number: u64) -> Validator {
        let call = Registry::getValidatorCall { operator: operator(number) };
        contract::call(&*self.client, REGISTRY, &call, At::Head).await.expect("a record")
    }

    /// Waits until so many transactions wait for a block.
    pub(crate) async fn pooled(&self, count: usize) {
        let deadline = Instant::now() + PATIENCE;
        while self.chain.pool().len() != count {
            assert!(Instant::now() < deadline, "{} wait, not {count}", self.chain.pool().len());
            sleep(Duration::from_millis(2)).await;
        }
    }

    /// Waits until the index has the head.
    pub(crate) async fn indexed(&self) {
        let head = self.height();
        let deadline = Instant::now() + PATIENCE;
        while self.db.index_head().await.expect("an index").map(|indexed| indexed.number) != Some(head) {
            assert!(Instant::now() < deadline, "the index does not get there");
            sleep(Duration::from_millis(2)).await;
        }
    }

    /// Waits until the keeper has looked at the head, and at the index as of it.
    pub(crate) async fn looked(&self, running: &Running) {
        self.indexed().await;
        let head = self.height() as f64;
        let deadline = Instant::now() + PATIENCE;
        while running.metric("keeper_head ") < head || running.metric("keeper_judged ") < head {
            assert!(Instant::now() < deadline, "the keeper does not look");
            sleep(Duration::from_millis(2)).await;
        }
    }

    /// Stops a validator and mines until it counts as down, with the keeper looking at every block.
    pub(crate) async fn bring_down(&self, running: &Running, number: u64, blocks: u64) {
        self.control.stop_validator(&format!("V{number}")).await.expect("stopped");
        for _ in 0..blocks {
            self.mine(1).await;
        }
        self.looked(running).await;
    }

    /// Mines, at a pace that the keeper can follow, until a validator has been slashed.
    pub(crate) async fn mine_until_slashed(&self, number: u64) {
        self.mine_until(async || self.record(number).await.slashCount > 0).await;
    }

    /// Mines, at a pace that the keeper can follow, until something is so.
    pub(crate) async fn mine_until(&self, is_so: impl AsyncFn() -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !is_so().await {
            assert!(Instant::now() < deadline, "it does not come to that");
            self.mine(1).await;
            self.indexed().await;
            sleep(Duration::from_millis(20)).await;
        }
    }

    pub(crate) async fn downtime_reports(&self, number: u64) -> usize {
        self.db.offences_of(node(number), OffenceKind::Downtime, 10).await.expect("reports").len()
    }
}

pub(crate) fn run(keeper: Keeper) -> Running {
    let (keeper, stop) = (Arc::new(keeper), CancellationToken::new());
    let task = tokio::spawn(Arc::clone(&keeper).run(stop.clone()));
    Running { keeper, stop, task }
}
