//! A faucet over a real embedded chain that seals when asked.

use std::{
    net::{IpAddr, Ipv4Addr},
    num::NonZeroU32,
    sync::Arc,
    time::Duration,
};

use access::{Clock as AccessClock, KeyTerms, Keyring, Keys};
use alloy_primitives::{Address, U256};
use alloy_signer_local::PrivateKeySigner;
use chainnet_api::{Edge, EdgeConfig, FaucetAccess, FaucetState, clock::Clock};
use devchain::{
    chain::Chain,
    produce::{Control, Pacing, Production},
};
use domain::{Network, Wei, devnet};
use faucet::{Faucet, FaucetSettings};
use serde_json::{Value, json};
use store::{AllowedWallet, Db};
use tempfile::TempDir;
use testkit::{FlakyClient, TestNode};
use tokio::time::{Instant, sleep};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::rig::{self, Reply, TestClock};

const PATIENCE: Duration = Duration::from_secs(60);
pub(super) const DAY: Duration = Duration::from_secs(24 * 3600);
pub(super) const JSON: (&str, &str) = ("content-type", "application/json");

pub(super) fn wallet(number: u64) -> Address {
    Address::left_padding_from(&(0xf000_0000 + number).to_be_bytes())
}

/// Somebody with a network address of its own.
pub(super) fn peer(number: u32) -> IpAddr {
    Ipv4Addr::from_bits(0x0a00_0000 + number).into()
}

/// The body of a claim on any network.
pub(super) fn claim_body(wallet: Address) -> String {
    json!({ "address": wallet.to_checksum(None), "website": "" }).to_string()
}

pub(super) struct FaucetRig {
    pub(super) edge: Edge,
    pub(super) clock: Arc<TestClock>,
    pub(super) node: Arc<FlakyClient>,
    pub(super) faucet: Faucet,
    pub(super) db: Db,
    pub(super) keyring: Arc<Keyring>,
    chain: Arc<Chain>,
    control: Control,
    _stop: DropGuard,
    way: TestNode,
    _production: Production,
    _folder: TempDir,
}

impl FaucetRig {
    /// A faucet that pays from a rich account.
    pub(super) async fn new(network: Network, db: Db) -> Self {
        Self::with(network, db, FaucetSettings::default(), EdgeConfig::default()).await
    }

    pub(super) async fn with(network: Network, db: Db, settings: FaucetSettings, config: EdgeConfig) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let chain = Chain::open(&folder.path().join("chain"), &rig::genesis(network.chain_id())).unwrap();
        let production = Production::start(chain.clone(), rig::keys(), Pacing::OnDemand).unwrap();
        let way = TestNode::new(&chain, production.control());
        let node = Arc::new(FlakyClient::new(way.client()));
        let clock = Arc::new(TestClock::default());
        let ticking = clock.clone();
        let time: AccessClock = Arc::new(move || ticking.now());
        let key = PrivateKeySigner::from_bytes(&devnet::ACCOUNTS[9].key).unwrap();
        let (faucet, sender) =
            Faucet::new(network, node.clone(), db.clone(), key, settings, time.clone()).unwrap();
        let stop = CancellationToken::new();
        tokio::spawn(sender.run(stop.clone()));
        let keyring = Arc::new(Keyring::open(db.clone(), time).await.unwrap());
        let access = match network {
            Network::Devnet => FaucetAccess::Invited { keyring: keyring.clone(), db: db.clone() },
            Network::Testnet | Network::Mainnet => FaucetAccess::Open,
        };
        let state = FaucetState {
            faucet: faucet.clone(),
            chain: node.clone(),
            network,
            access,
            clock: clock.clone(),
            started_at: clock.now(),
            version: "0.0.0-test",
        };
        Self {
            edge: chainnet_api::faucet(state, config),
            clock,
            node,
            faucet,
            db,
            keyring,
            chain,
            control: production.control().clone(),
            _stop: stop.drop_guard(),
            way,
            _production: production,
            _folder: folder,
        }
    }

    /// A key with these permissions.
    pub(super) async fn key(&self, permissions: &str) -> String {
        let terms = KeyTerms {
            team: "Partner QA".parse().unwrap(),
            permissions: permissions.parse().unwrap(),
            networks: Vec::new(),
            requests_per_minute: NonZeroU32::new(600).unwrap(),
            expires_at: None,
        };
        let issued = Keys::new(self.db.clone()).issue(&terms, self.clock.now()).await.unwrap();
        self.keyring.refresh().await.unwrap();
        issued.text.expose().to_owned()
    }

    pub(super) async fn allow(&self, wallet: Address) {
        let team = "Partner QA".parse().unwrap();
        self.db.add_allowed_wallet(&AllowedWallet { wallet, team, note: None, added_at: 0 }).await.unwrap();
    }

    pub(super) async fn ask(
        &self,
        from: IpAddr,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<String>,
    ) -> Reply {
        rig::ask(&self.edge, from, method, path, headers, body.into()).await
    }

    pub(super) async fn get(&self, path: &str) -> Reply {
        self.ask(peer(1), "GET", path, &[], "").await
    }

    /// Claims for a wallet without a key.
    pub(super) async fn claim(&self, from: IpAddr, wallet: Address) -> Reply {
        self.ask(from, "POST", "/claim", &[JSON], claim_body(wallet)).await
    }

    /// Posts any body to the claims.
    pub(super) async fn post(&self, from: IpAddr, body: impl Into<String>) -> Reply {
        self.ask(from, "POST", "/claim", &[JSON], body).await
    }

    pub(super) async fn mine(&self) {
        self.control.mine(None).await.unwrap();
        self.way.catch_up().await;
    }

    /// Waits until so many transactions wait for a block.
    pub(super) async fn pooled(&self, count: usize) {
        let deadline = Instant::now() + PATIENCE;
        while self.chain.pool().len() != count {
            assert!(Instant::now() < deadline, "{} wait, not {count}", self.chain.pool().len());
            sleep(Duration::from_millis(2)).await;
        }
    }

    /// Waits until a claim has this status.
    pub(super) async fn until(&self, hash: &Value, status: &str) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let hash = hash.as_str().unwrap().parse().unwrap();
            let claim = self.faucet.find(hash, 0).await.unwrap().expect("a claim");
            if claim.status.name() == status {
                return self.get(&format!("/claim/{hash}")).await.json();
            }
            assert!(Instant::now() < deadline, "still {claim:?}");
            sleep(Duration::from_millis(2)).await;
        }
    }

    pub(super) fn coin(&self, address: Address) -> Wei {
        let account = self.chain.head().state.account(address).unwrap();
        Wei(account.map_or(U256::ZERO, |account| account.balance))
    }
}
