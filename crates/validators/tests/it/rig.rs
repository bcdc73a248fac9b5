//! A chain that seals when asked, with its index in a database.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use alloy_consensus::{SignableTransaction, TxEip1559, TxEnvelope};
use alloy_eips::Encodable2718;
use alloy_primitives::{Address, B256, TxKind, U256};
use alloy_signer::SignerSync;
use alloy_signer_local::PrivateKeySigner;
use alloy_sol_types::SolCall;
use chain::{ChainClient, Head};
use chainnet_validators::{
    Board, BoardSettings,
    board::{ValidatorRecord, read_board},
};
use contracts::address::REGISTRY;
use devchain::{
    chain::Chain,
    genesis::{Genesis, GenesisSpec, GenesisValidator},
    produce::{Control, Pacing, Production},
};
use domain::devnet;
use ibft::{
    seal::{Secp256k1Key, ValidatorKey},
    votes::{Vote, VoteKind},
};
use indexer::{Indexer, IndexerConfig};
use store::Db;
use tempfile::TempDir;
use testkit::TestNode;
use tokio::time::{Instant, sleep};
use tokio_util::sync::{CancellationToken, DropGuard};

const CHAIN_ID: u64 = 8845;
/// Longer than anything here takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Development accounts with a part in the registry.
pub(crate) const ADMIN: usize = 0;
pub(crate) const SLASHER: usize = 1;

/// Keys 1 to 7: five validators and two that stand by.
pub(crate) fn key(number: u64) -> Secp256k1Key {
    Secp256k1Key::new(B256::from(U256::from(number))).expect("a small key")
}

pub(crate) fn node(number: u64) -> Address {
    key(number).address()
}

/// The operator of a genesis validator, which is not its node.
pub(crate) fn operator(number: u64) -> Address {
    Address::with_last_byte(u8::try_from(number).expect("a small number"))
}

pub(crate) fn account(index: usize) -> Address {
    devnet::ACCOUNTS[index].address
}

/// The third validator takes the least commission, so that it ranks first when all are well.
fn genesis() -> Genesis {
    let validators = (1..=5).map(|number| GenesisValidator {
        operator: operator(number),
        consensus: node(number),
        moniker: format!("Validator {number}"),
        website: String::new(),
        commission_bps: if number == 3 { 100 } else { 500 },
    });
    let spec = GenesisSpec {
        chain_id: CHAIN_ID,
        timestamp: 1_767_225_600,
        validators: validators.collect(),
        treasury_owners: (0..5).map(account).collect(),
        admin: account(ADMIN),
        slasher: account(SLASHER),
        funded: (0..10).map(|index| (account(index), U256::from(10).pow(U256::from(24)))).collect(),
        ..GenesisSpec::default()
    };
    spec.build().expect("a genesis")
}

pub(crate) struct Rig {
    pub(crate) client: Arc<dyn ChainClient>,
    pub(crate) db: Db,
    pub(crate) control: Control,
    chain: Arc<Chain>,
    node: TestNode,
    nonces: Mutex<HashMap<usize, u64>>,
    _indexing: Option<DropGuard>,
    _production: Production,
    _dir: TempDir,
}

impl Rig {
    /// A chain that is indexed.
    pub(crate) fn start(db: Db) -> Self {
        let mut rig = Self::without_index(db);
        let stop = CancellationToken::new();
        let indexer = Indexer::new(rig.client.clone(), rig.db.clone(), IndexerConfig::default());
        tokio::spawn(indexer.run(stop.clone()));
        rig._indexing = Some(stop.drop_guard());
        rig
    }

    /// A chain that nobody indexes.
    pub(crate) fn without_index(db: Db) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let chain = Chain::open(&dir.path().join("chain"), &genesis()).expect("a chain");
        let keys = (1..=7).map(key).collect();
        let production = Production::start(chain.clone(), keys, Pacing::OnDemand).expect("production");
        let node = TestNode::new(&chain, production.control());
        Self {
            client: node.client(),
            node,
            db,
            control: production.control().clone(),
            chain,
            nonces: Mutex::default(),
            _indexing: None,
            _production: production,
            _dir: dir,
        }
    }

    pub(crate) async fn mine(&self, blocks: u64) {
        for _ in 0..blocks {
            self.control.mine(None).await.expect("a block");
        }
        self.node.catch_up().await;
    }

    /// Mines a block so many seconds after the last one.
    pub(crate) async fn mine_after(&self, secs: u64) {
        let time = self.head().header.timestamp + secs;
        self.control.mine(Some(time)).await.expect("a block");
        self.node.catch_up().await;
    }

    pub(crate) fn head(&self) -> Arc<Head> {
        self.client.heads().borrow().clone().expect("a head")
    }

    /// Sends a call to the registry, with coin, and mines it.
    pub(crate) async fn registry(&self, from: usize, coin: u64, call: &impl SolCall) {
        let nonce = {
            let mut nonces = self.nonces.lock().expect("the nonces");
            let next = nonces.entry(from).or_default();
            *next += 1;
            *next - 1
        };
        let tx = TxEip1559 {
            chain_id: CHAIN_ID,
            nonce,
            gas_limit: 2_000_000,
            to: TxKind::Call(REGISTRY),
            value: domain::Wei::from_coin(coin).0,
            input: call.abi_encode().into(),
            ..TxEip1559::default()
        };
        let signer = PrivateKeySigner::from_bytes(&devnet::ACCOUNTS[from].key).expect("a key");
        let signature = signer.sign_hash_sync(&tx.signature_hash()).expect("a signature");
        let raw = TxEnvelope::from(tx.into_signed(signature)).encoded_2718();
        self.chain.submit(&raw).expect("a pooled transaction");
        self.mine(1).await;
        let receipts = self.chain.head().receipts.clone();
        assert!(receipts.iter().all(|receipt| receipt.success), "{receipts:?}");
    }

    /// Has validators vote to add a node. Each does so when it proposes next.
    pub(crate) async fn vote_to_add(&self, voters: impl IntoIterator<Item = u64>, candidate: Address) {
        for voter in voters {
            let vote = Vote { recipient: candidate, kind: VoteKind::Add };
            self.control.propose_vote(&format!("V{voter}"), vote).await.expect("a vote");
        }
    }

    /// The board of the head as it is, whatever the index knows.
    pub(crate) async fn board_now(&self) -> Board {
        let settings = BoardSettings::default();
        read_board(&*self.client, &self.db, &settings, &self.head()).await.expect("a board")
    }

    /// The board of the head, once the index has it.
    pub(crate) async fn board(&self) -> Board {
        let head = self.head().number();
        let deadline = Instant::now() + PATIENCE;
        while self.db.index_head().await.expect("an index").map(|indexed| indexed.number) != Some(head) {
            assert!(Instant::now() < deadline, "the index does not get there");
            sleep(Duration::from_millis(5)).await;
        }
        let board = self.board_now().await;
        assert!(board.is_current());
        board
    }
}

pub(crate) fn record(board: &Board, address: Address) -> &ValidatorRecord {
    board.find(address).expect("a listed validator")
}

pub(crate) fn rank(board: &Board, address: Address) -> u32 {
    let address = record(board, address).address();
    let ranked = board.ranking().entries.iter().find(|entry| entry.record.address() == address);
    ranked.expect("a ranked validator").rank
}
