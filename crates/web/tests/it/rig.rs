//! The explorer over a real embedded chain, a real SQLite database, the real indexer, board, portal and faucet.
//!
//! Blocks are made when a test asks for one. `rig.get("/blocks")` asks as a browser on this machine does.

use std::{
    net::{IpAddr, Ipv4Addr},
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use access::{InternalAllowlist, Keyring};
use alloy_consensus::{SignableTransaction, TxEip1559, TxEnvelope};
use alloy_eips::Encodable2718;
use alloy_primitives::{Address, B256, Bytes, TxKind, U256};
use alloy_signer::SignerSync;
use alloy_signer_local::PrivateKeySigner;
use api::{ApiState, EdgeConfig, clock::Clock};
use chain::ChainClient;
use chainnet_web::{Explorer, Live, Site, Visitors};
use devchain::{
    chain::Chain,
    genesis::{Genesis, GenesisSpec, GenesisValidator},
    produce::{Control, Pacing, Production},
};
use domain::{Deployment, Network, devnet};
use http_body_util::BodyExt;
use hyper::{HeaderMap, Request, StatusCode};
use ibft::seal::{Secp256k1Key, ValidatorKey};
use indexer::{Indexer, IndexerConfig};
use jiff::Timestamp;
use merchant::{CreditProgress, CreditSettings, Credited, Crediting};
use store::{Db, testing::TestDb};
use tempfile::TempDir;
use testkit::{FlakyClient, TestNode};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use validators::{Applications, Board, BoardKeeper, BoardSettings};

use crate::shop;

pub(crate) const CHAIN_ID: u64 = 8845;
/// An account that nobody owns.
pub(crate) const FRIEND: &str = "0x00000000000000000000000000000000000F12e4";
const PATIENCE: Duration = Duration::from_secs(30);

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

/// What a rig is to be like.
pub(crate) struct Wishes {
    pub(crate) has_portal: bool,
    /// Whether the faucet can be claimed from these pages.
    pub(crate) has_faucet: bool,
    /// The display name of the first validator.
    pub(crate) first_name: &'static str,
    /// Whether only this machine and key holders may look.
    pub(crate) is_private: bool,
}

impl Default for Wishes {
    fn default() -> Self {
        Self { has_portal: true, has_faucet: true, first_name: "Validator 1", is_private: false }
    }
}

pub(crate) struct Rig {
    pub(crate) explorer: Explorer,
    pub(crate) clock: Arc<TestClock>,
    /// The node, which can be cut off.
    pub(crate) node: Arc<FlakyClient>,
    pub(crate) db: Db,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) control: Control,
    pub(crate) chain: Arc<Chain>,
    boards: watch::Receiver<Option<Arc<Board>>>,
    credited: watch::Receiver<Credited>,
    stop: CancellationToken,
    _way: TestNode,
    _production: Production,
    _folder: TempDir,
    _database: TestDb,
}

/// An answer, read whole.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// A page that was found, and that a browser will like.
    #[track_caller]
    pub(crate) fn page(self) -> String {
        assert_eq!(self.status, StatusCode::OK, "{}", self.text);
        assert_eq!(self.header("content-type"), Some("text/html; charset=utf-8"));
        assert!(self.text.len() <= 60_000, "{} bytes", self.text.len());
        for refused in ["<script>", " style=", " onclick=", "javascript:"] {
            assert!(!self.text.contains(refused), "{refused} in {}", self.text);
        }
        self.text
    }
}

impl Rig {
    /// A rig as most tests want it.
    pub(crate) async fn new() -> Self {
        Self::with(Wishes::default()).await
    }

    pub(crate) async fn with(wishes: Wishes) -> Self {
        let (folder, database) = (tempfile::tempdir().unwrap(), TestDb::sqlite().await);
        let genesis = genesis(wishes.first_name);
        let chain = Chain::open(&folder.path().join("chain"), &genesis).unwrap();
        let production = Production::start(chain.clone(), keys(), Pacing::OnDemand).unwrap();
        let way = TestNode::new(&chain, production.control());
        let node = Arc::new(FlakyClient::new(way.client()));
        let client: Arc<dyn ChainClient> = node.clone();
        let db = Db::open(&database.fresh_url().await).await.unwrap();
        let stop = CancellationToken::new();
        tokio::spawn(Indexer::new(client.clone(), db.clone(), IndexerConfig::default()).run(stop.clone()));
        let keeper = BoardKeeper::new(client.clone(), db.clone(), BoardSettings::default());
        let boards = keeper.boards();
        tokio::spawn(keeper.run(stop.clone()));
        let clock = Arc::new(TestClock::default());
        let settings = CreditSettings { may_rewind: true, ..CreditSettings::default() };
        let crediting = Crediting::new(db.clone(), client.clone(), settings, shop::time(&clock));
        let credited = crediting.credited();
        tokio::spawn(crediting.run(stop.clone()));
        let progress = CreditProgress::follow(credited.clone());
        let keyring = Arc::new(Keyring::open(db.clone(), shop::time(&clock)).await.unwrap());
        let faucet_edge = shop::faucet(&client, &db, &clock, keyring.clone(), stop.clone());
        let state = Arc::new(ApiState {
            chain: client.clone(),
            deployment: deployment(),
            clock: clock.clone(),
            started_at: clock.now(),
            version: "0.0.0-test",
            db: db.clone(),
            boards: boards.clone(),
            applications: Applications::new(db.clone(), false),
            portal: wishes.has_portal.then(|| shop::portal(&client, &db, &clock, progress, stop.clone())),
        });
        let config = EdgeConfig { requests_per_minute: 1_000_000, ..EdgeConfig::default() };
        let internal = InternalAllowlist::new(vec!["127.0.0.0/8".parse().unwrap()]);
        let visitors = match wishes.is_private {
            true => Visitors::Invited { keyring: keyring.clone(), internal },
            false => Visitors::Everybody,
        };
        let site = Site {
            edge: api::api(state.clone(), config),
            api: state,
            faucet: wishes.has_faucet.then_some(faucet_edge),
            visitors,
            live: Live::new(stop.clone()),
        };
        let explorer = Explorer::new(site, Vec::new());
        let following = explorer.clone();
        tokio::spawn(async move { following.follow().await });
        let rig = Self {
            explorer,
            clock,
            node,
            db,
            keyring,
            control: production.control().clone(),
            chain,
            boards,
            credited,
            stop,
            _way: way,
            _production: production,
            _folder: folder,
            _database: database,
        };
        rig.settle().await;
        rig
    }

    /// Waits until index, board and crediting are at the head.
    pub(crate) async fn settle(&self) {
        let head = self.chain.head();
        let (number, hash) = (head.block.header.number, head.block.hash);
        let mut boards = self.boards.clone();
        let is_there = |board: &Option<Arc<Board>>| {
            board.as_ref().is_some_and(|board| board.block_hash == hash && board.is_current())
        };
        tokio::time::timeout(PATIENCE, boards.wait_for(is_there)).await.expect("a board in time").unwrap();
        let mut credited = self.credited.clone();
        let is_there = |credited: &Credited| credited.block >= Some(number);
        tokio::time::timeout(PATIENCE, credited.wait_for(is_there))
            .await
            .expect("crediting in time")
            .unwrap();
    }

    /// The time of the clock, in seconds.
    pub(crate) fn clock_seconds(&self) -> u64 {
        self.clock.now().as_second().try_into().unwrap()
    }

    /// Makes a block of what waits.
    pub(crate) async fn mine(&self) -> u64 {
        let number = self.control.mine(None).await.unwrap();
        self.settle().await;
        number
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

    /// Sends coin to [`FRIEND`], without mining it.
    pub(crate) fn transfer(&self, account: usize, nonce: u64, coin: u64) -> B256 {
        let to: Address = FRIEND.parse().unwrap();
        self.send(account, nonce, to.into(), domain::Wei::from_coin(coin).0, Bytes::new())
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.ask("GET", path, &[], "").await
    }

    pub(crate) async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Reply {
        self.ask("GET", path, headers, "").await
    }

    /// Posts a form as a browser does.
    pub(crate) async fn post(&self, path: &str, form: &[(&str, &str)]) -> Reply {
        let body: String = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        self.ask("POST", path, &[("content-type", "application/x-www-form-urlencoded")], &body).await
    }

    pub(crate) async fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        self.ask_from(Ipv4Addr::LOCALHOST.into(), method, path, headers, body).await
    }

    pub(crate) async fn ask_from(
        &self,
        peer: IpAddr,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Reply {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = self.explorer.answer(peer, request.body(body.to_owned()).unwrap()).await;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8(body.to_vec()).unwrap();
        Reply { status: parts.status, headers: parts.headers, text }
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        self.stop.cancel();
    }
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

fn genesis(first_name: &str) -> Genesis {
    let validators = keys().into_iter().zip(1..).map(|(key, number)| GenesisValidator {
        operator: key.address(),
        consensus: key.address(),
        moniker: if number == 1 { first_name.to_owned() } else { format!("Validator {number}") },
        website: "https://validator.example.org".to_owned(),
        commission_bps: 500,
    });
    let spec = GenesisSpec {
        chain_id: CHAIN_ID,
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
