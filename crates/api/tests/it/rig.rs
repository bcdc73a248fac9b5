//! The API over a real embedded chain, a real database of either engine, the real indexer and the real board of
//! validators.

use std::{
    net::{IpAddr, Ipv4Addr},
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use access::Counting;
use accounts::{DeveloperKeys, Pepper, Peppers, SessionSettings, Sessions};
use alloy_consensus::{SignableTransaction, TxEip1559, TxEnvelope};
use alloy_eips::Encodable2718;
use alloy_primitives::{Address, B256, Bytes, TxKind, U256};
use alloy_signer::SignerSync;
use alloy_signer_local::PrivateKeySigner;
use chain::ChainClient;
use chainnet_api::{
    ApiState, Edge, EdgeConfig, InvoicePages, PayStreams, Portal, QuoteLimits, api, clock::Clock,
};
use devchain::{
    chain::Chain,
    genesis::{Genesis, GenesisSpec, GenesisValidator},
    produce::{Control, Pacing, Production},
};
use domain::{Deployment, Network, devnet};
use http_body_util::BodyExt;
use hyper::{HeaderMap, Request, StatusCode, header::HeaderValue};
use ibft::seal::{Secp256k1Key, ValidatorKey};
use indexer::{Indexer, IndexerConfig};
use jiff::Timestamp;
use merchant::{
    Checkout, CheckoutPlace, CreditProgress, CreditSettings, Credited, Crediting, Dashboards, Invoices,
    OrderSettings, Orders, Rates,
};
use serde_json::Value;
use store::{Db, testing::TestDb};
use tempfile::TempDir;
use testkit::{FlakyClient, TestNode};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use validators::{Applications, Board, BoardKeeper, BoardSettings};
use webhooks::{
    Guard, GuardSettings, SealingKeys, Sender, SenderLimits, SystemResolver, WebhookMetrics, Webhooks,
    Worker, WorkerParts, WorkerSettings, ring_on_change,
};

pub(crate) const CHAIN_ID: u64 = 8845;
pub(crate) const FRIEND: &str = "0x00000000000000000000000000000000000F12e4";
/// Whose pages may act for a wallet.
pub(crate) const PORTAL_ORIGIN: &str = "http://127.0.0.1:3000";
/// How long a claim waits here; longer than a block takes to be credited.
const CLAIM_WAIT: Duration = Duration::from_secs(2);
const PATIENCE: Duration = Duration::from_secs(30);

/// Makes two tests of each `async fn name(test: &TestDb)`: `name::sqlite` and `name::postgres`.
macro_rules! on_both_engines {
    ($($name:ident),* $(,)?) => {
        $(
            mod $name {
                #[test]
                fn sqlite() {
                    store::testing::run_on_sqlite(|test| Box::pin(super::$name(test)));
                }

                #[test]
                fn postgres() {
                    store::testing::run_on_postgres(|test| Box::pin(super::$name(test)));
                }
            }
        )*
    };
}

pub(crate) use on_both_engines;

/// A clock that runs with the machine's and can be moved on.
#[derive(Default)]
pub(crate) struct TestClock {
    offset_ms: AtomicI64,
}

impl TestClock {
    pub(crate) fn advance(&self, by: Duration) {
        self.offset_ms.fetch_add(by.as_millis().try_into().unwrap(), Ordering::Relaxed);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        let now = Timestamp::now().as_millisecond() + self.offset_ms.load(Ordering::Relaxed);
        Timestamp::from_millisecond(now).unwrap()
    }
}

pub(crate) struct Rig {
    pub(crate) edge: Edge,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) node: Arc<FlakyClient>,
    pub(crate) db: Db,
    pub(crate) control: Control,
    chain: Arc<Chain>,
    boards: watch::Receiver<Option<Arc<Board>>>,
    credited: watch::Receiver<Credited>,
    stop: CancellationToken,
    stop_crediting: CancellationToken,
    _way: TestNode,
    _production: Production,
    _folder: TempDir,
}

/// An answer, read whole.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The status and the code of a refusal.
    pub(crate) fn refusal(&self) -> (u16, String) {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        (self.status.as_u16(), self.json()["code"].as_str().unwrap().to_owned())
    }
}

impl Rig {
    /// A rig that limits nobody.
    pub(crate) async fn new(test: &TestDb) -> Self {
        Self::with(test, EdgeConfig { requests_per_minute: 1_000_000, ..EdgeConfig::default() }).await
    }

    pub(crate) async fn with(test: &TestDb, config: EdgeConfig) -> Self {
        Self::build(test, config, true).await
    }

    /// A rig of a server whose operator has not configured the portal.
    pub(crate) async fn without_portal(test: &TestDb) -> Self {
        let config = EdgeConfig { requests_per_minute: 1_000_000, ..EdgeConfig::default() };
        Self::build(test, config, false).await
    }

    async fn build(test: &TestDb, config: EdgeConfig, has_portal: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let chain = Chain::open(&folder.path().join("chain"), &genesis(CHAIN_ID)).unwrap();
        let production = Production::start(chain.clone(), keys(), Pacing::OnDemand).unwrap();
        let way = TestNode::new(&chain, production.control());
        let node = Arc::new(FlakyClient::new(way.client()));
        let client: Arc<dyn ChainClient> = node.clone();
        let db = Db::open(&test.fresh_url().await).await.unwrap();
        let stop = CancellationToken::new();
        tokio::spawn(Indexer::new(client.clone(), db.clone(), IndexerConfig::default()).run(stop.clone()));
        let keeper = BoardKeeper::new(client.clone(), db.clone(), BoardSettings::default());
        let boards = keeper.boards();
        tokio::spawn(keeper.run(stop.clone()));
        let clock = Arc::new(TestClock::default());
        let settings = CreditSettings { may_rewind: true, ..CreditSettings::default() };
        let crediting = Crediting::new(db.clone(), client.clone(), settings, time(&clock));
        let (credited, stop_crediting) = (crediting.credited(), stop.child_token());
        tokio::spawn(crediting.run(stop_crediting.clone()));
        let progress = CreditProgress::follow(credited.clone());
        let state = ApiState {
            chain: client.clone(),
            deployment: deployment(),
            clock: clock.clone(),
            started_at: clock.now(),
            version: "0.0.0-test",
            db: db.clone(),
            boards: boards.clone(),
            applications: Applications::new(db.clone(), false),
            portal: has_portal.then(|| portal(&client, &db, &clock, progress, stop.clone())),
        };
        let edge = api(Arc::new(state), config);
        let control = production.control().clone();
        let rig = Self {
            edge,
            clock,
            node,
            db,
            control,
            chain,
            boards,
            credited,
            stop,
            stop_crediting,
            _way: way,
            _production: production,
            _folder: folder,
        };
        rig.settle().await;
        rig
    }

    /// Waits until index, board and crediting are at the head.
    pub(crate) async fn settle(&self) {
        self.settle_board().await;
        let number = self.chain.head().block.header.number;
        let mut credited = self.credited.clone();
        let is_there = |credited: &Credited| credited.block >= Some(number);
        tokio::time::timeout(PATIENCE, credited.wait_for(is_there))
            .await
            .expect("crediting in time")
            .unwrap();
    }

    async fn settle_board(&self) {
        let head = self.chain.head().block.hash;
        let mut boards = self.boards.clone();
        let is_there = |board: &Option<Arc<Board>>| {
            board.as_ref().is_some_and(|board| board.block_hash == head && board.is_current())
        };
        tokio::time::timeout(PATIENCE, boards.wait_for(is_there)).await.expect("a board in time").unwrap();
    }

    pub(crate) async fn mine(&self) -> u64 {
        let number = self.control.mine(None).await.unwrap();
        self.settle().await;
        number
    }

    /// Mines a block of this time, in seconds.
    pub(crate) async fn mine_at(&self, seconds: u64) -> u64 {
        let number = self.control.mine(Some(seconds)).await.unwrap();
        self.settle().await;
        number
    }

    /// Lets payments lie about, and mines a block of this time.
    pub(crate) async fn mine_uncredited(&self, seconds: u64) {
        self.stop_crediting.cancel();
        self.control.mine(Some(seconds)).await.unwrap();
        self.settle_board().await;
    }

    /// Begins to end the process.
    pub(crate) fn shut_down(&self) {
        self.stop.cancel();
    }

    /// The time of the head, in seconds.
    pub(crate) fn chain_time(&self) -> u64 {
        self.chain.head().block.header.timestamp
    }

    pub(crate) fn head_hash(&self) -> B256 {
        self.chain.head().block.hash
    }

    /// Sends a transaction from a development account, without mining it.
    pub(crate) fn send(&self, account: usize, nonce: u64, to: TxKind, value: U256, input: Bytes) -> B256 {
        let signer = PrivateKeySigner::from_bytes(&devnet::ACCOUNTS[account].key).unwrap();
        let tx = TxEip1559 {
            chain_id: CHAIN_ID,
            nonce,
            gas_limit: 500_000,
            max_fee_per_gas: 1_000_000_000,
            to,
            value,
            input,
            ..TxEip1559::default()
        };
        let signature = signer.sign_hash_sync(&tx.signature_hash()).unwrap();
        self.chain.submit(&TxEnvelope::from(tx.into_signed(signature)).encoded_2718()).unwrap()
    }

    pub(crate) fn transfer(&self, account: usize, nonce: u64, coin: u64) -> B256 {
        let to: Address = FRIEND.parse().unwrap();
        self.send(account, nonce, to.into(), domain::Wei::from_coin(coin).0, Bytes::new())
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.get_with(path, &[]).await
    }

    pub(crate) async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Reply {
        self.ask("GET", path, headers, "").await
    }

    pub(crate) async fn post(&self, path: &str, body: impl Into<String>) -> Reply {
        self.ask("POST", path, &[("content-type", "application/json")], body).await
    }

    pub(crate) async fn graphql(&self, query: &str) -> Reply {
        self.post("/graphql", serde_json::json!({ "query": query }).to_string()).await
    }

    pub(crate) async fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<String>,
    ) -> Reply {
        self.ask_from(Ipv4Addr::LOCALHOST.into(), method, path, headers, body).await
    }

    pub(crate) async fn ask_from(
        &self,
        peer: IpAddr,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<String>,
    ) -> Reply {
        ask(&self.edge, peer, method, path, headers, body.into()).await
    }
}

/// Puts a request to an edge and reads the answer.
pub(crate) async fn ask(
    edge: &Edge,
    peer: IpAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: String,
) -> Reply {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = edge.answer(peer, request.body(body).unwrap()).await;
    let (parts, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    Reply { status: parts.status, headers: parts.headers, body: body.into() }
}

impl Drop for Rig {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn time(clock: &Arc<TestClock>) -> access::Clock {
    let clock = clock.clone();
    Arc::new(move || clock.now())
}

/// The portal as the product has it.
fn portal(
    chain: &Arc<dyn ChainClient>,
    db: &Db,
    clock: &Arc<TestClock>,
    progress: CreditProgress,
    stop: CancellationToken,
) -> Portal {
    let now = time(clock);
    let Deployment { urls, contracts, .. } = deployment();
    let settings = SessionSettings { public_url: urls.explorer.clone(), chain_id: CHAIN_ID };
    let place =
        CheckoutPlace { chain_id: CHAIN_ID, contract: contracts.platform_checkout, pages: urls.explorer };
    let keys = Arc::new(DeveloperKeys::new(db.clone(), now.clone(), peppers()));
    let webhooks = webhooks(db, &now, Arc::default());
    let orders =
        OrderSettings { claim_wait: CLAIM_WAIT, ..OrderSettings::new(CHAIN_ID, contracts.platform_fees) };
    Portal {
        sessions: Arc::new(Sessions::new(db.clone(), chain.clone(), now.clone(), settings)),
        orders: Orders::new(db.clone(), chain.clone(), keys.clone(), progress.clone(), orders, now.clone()),
        keys,
        origins: vec![HeaderValue::from_static(PORTAL_ORIGIN)],
        challenges: Portal::challenge_limits(&Counting::default()),
        invoices: Invoices::new(db.clone(), chain.heads(), now.clone()),
        invoice_pages: InvoicePages::default(),
        checkout: Checkout::new(db.clone(), chain.clone(), place, now.clone()),
        rates: Rates::new(db.clone(), now.clone()),
        dashboards: Dashboards::new(db.clone(), now),
        quote_limits: QuoteLimits::new(&Counting::default()),
        streams: PayStreams::new(progress, stop),
        webhooks,
    }
}

/// Sends webhooks, also to this machine.
pub(crate) fn webhook_sender() -> (Arc<Guard>, Sender) {
    let settings = GuardSettings { allow_private: true, ..GuardSettings::default() };
    let guard = Arc::new(Guard::new(settings, Arc::new(SystemResolver)));
    (guard.clone(), Sender::new(guard, SenderLimits::default()))
}

fn webhooks(db: &Db, clock: &access::Clock, bell: Arc<Notify>) -> Webhooks {
    let (guard, sender) = webhook_sender();
    Webhooks::new(db.clone(), guard, sender, webhook_keys(), clock.clone(), bell)
}

impl Rig {
    /// Delivers webhooks from now on, until the rig is gone.
    pub(crate) fn deliver(&self) {
        let bell = Arc::new(Notify::new());
        let parts = WorkerParts {
            db: self.db.clone(),
            sender: webhook_sender().1,
            keys: webhook_keys(),
            clock: time(&self.clock),
            bell: bell.clone(),
            metrics: WebhookMetrics::default(),
            settings: WorkerSettings::default(),
        };
        tokio::spawn(ring_on_change(self.credited.clone(), bell));
        tokio::spawn(Worker::new(parts).run(self.stop.clone()));
    }
}

/// What the secrets of webhooks are sealed with.
pub(crate) fn webhook_keys() -> Arc<SealingKeys> {
    Arc::new(SealingKeys::new([(1, [9; 32])]).unwrap())
}

/// What developer keys are proven with.
pub(crate) fn peppers() -> Peppers {
    Peppers::new(vec![Pepper::new(1, vec![7; 32]).unwrap()]).unwrap()
}

/// The committed record of the devnet.
pub(crate) fn deployment() -> Deployment {
    let text = include_str!("../../../../deployments/devnet.json");
    Deployment::from_json(Network::Devnet, text).unwrap()
}

/// Keys 1 to 5 validate.
pub(crate) fn keys() -> Vec<Secp256k1Key> {
    (1u64..=5).map(|n| Secp256k1Key::new(B256::from(U256::from(n))).unwrap()).collect()
}

/// The address of the first validator, which is both operator and node.
pub(crate) fn first_validator() -> Address {
    keys()[0].address()
}

pub(crate) fn genesis(chain_id: u64) -> Genesis {
    let validators = keys().into_iter().zip(1..).map(|(key, number)| GenesisValidator {
        operator: key.address(),
        consensus: key.address(),
        moniker: format!("Validator {number}"),
        website: "https://validator.example.org".to_owned(),
        commission_bps: 500,
    });
    let spec = GenesisSpec {
        chain_id,
        timestamp: 1_767_225_600,
        validators: validators.collect(),
        treasury_owners: devnet::ACCOUNTS.iter().take(5).map(|account| account.address).collect(),
        admin: devnet::ACCOUNTS[0].address,
        slasher: devnet::ACCOUNTS[1].address,
        funded: devnet::ACCOUNTS.iter().map(|a| (a.address, U256::from(10).pow(U256::from(24)))).collect(),
        ..GenesisSpec::default()
    };
    spec.build().unwrap()
}
