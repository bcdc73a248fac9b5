//! A real chain that seals when asked, and JSON-RPC ports of it that can be closed and opened again.

use std::{net::SocketAddr, sync::Arc};

use alloy_consensus::{SignableTransaction, TxEip1559, TxEnvelope};
use alloy_eips::Encodable2718;
use alloy_primitives::{Address, B256, Bytes, TxKind, U256, address};
use alloy_signer::SignerSync;
use alloy_signer_local::PrivateKeySigner;
use chain::remote::NodeUrl;
use devchain::{
    chain::Chain,
    genesis::{Genesis, GenesisSpec, GenesisValidator},
    produce::{Control, Pacing, Production},
    rpc::{self, Node, RpcConfig},
};
use domain::devnet;
use ibft::seal::{Secp256k1Key, ValidatorKey};
use parking_lot::Mutex;
use tempfile::TempDir;
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;

pub(crate) const CHAIN_ID: u64 = 8845;
const FRIEND: Address = address!("00000000000000000000000000000000000f12e4");
/// Topics of the logs that tests emit.
pub(crate) const MOST_TOPICS: usize = 4;

/// The chain. Account 0 deploys and emits, the others transfer.
pub(crate) struct Dev {
    pub(crate) chain: Arc<Chain>,
    pub(crate) control: Control,
    nonces: Mutex<[u64; 10]>,
    _production: Production,
    _dir: TempDir,
}

fn keys() -> Vec<Secp256k1Key> {
    (1u64..=5).map(|n| Secp256k1Key::new(B256::from(U256::from(n))).expect("a small key")).collect()
}

fn genesis() -> Genesis {
    let validators = keys().into_iter().map(|key| GenesisValidator {
        operator: key.address(),
        consensus: key.address(),
        moniker: "Validator".to_owned(),
        website: String::new(),
        commission_bps: 0,
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
    spec.build().expect("a genesis")
}

impl Dev {
    pub(crate) fn start() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let chain = Chain::open(&dir.path().join("chain"), &genesis()).expect("a chain");
        let production = Production::start(chain.clone(), keys(), Pacing::OnDemand).expect("production");
        let control = production.control().clone();
        Self { chain, control, nonces: Mutex::default(), _production: production, _dir: dir }
    }

    pub(crate) fn node(&self) -> Arc<Node> {
        Arc::new(Node { chain: Arc::clone(&self.chain), control: self.control.clone() })
    }

    pub(crate) async fn mine(&self) -> u64 {
        self.control.mine(None).await.expect("a block")
    }

    pub(crate) fn head(&self) -> u64 {
        self.chain.head().block.number()
    }

    /// Puts a transfer into the pool.
    pub(crate) fn transfer(&self) -> B256 {
        self.send(1, TxKind::Call(FRIEND), Bytes::new(), 21_000)
    }

    /// Deploys five contracts; number `n` emits logs with `n` topics, taken from its input. In a block of their own.
    pub(crate) async fn deploy_emitters(&self) -> Vec<Address> {
        let addresses = (0..=MOST_TOPICS).map(|topics| {
            let nonce = self.nonces.lock()[0];
            self.send(0, TxKind::Create, creation(&emitter(topics, 32)), 500_000);
            devnet::ACCOUNTS[0].address.create(nonce)
        });
        let addresses = addresses.collect();
        self.mine().await;
        addresses
    }

    /// Deploys a contract that emits one log with so many bytes of data. In a block of its own.
    pub(crate) async fn deploy_loud(&self, bytes: u16) -> Address {
        let nonce = self.nonces.lock()[0];
        self.send(0, TxKind::Create, creation(&emitter(0, bytes)), 500_000);
        self.mine().await;
        devnet::ACCOUNTS[0].address.create(nonce)
    }

    /// Puts a call of an emitter into the pool.
    pub(crate) fn emit(&self, emitter: Address, topics: &[B256]) -> B256 {
        self.send(0, TxKind::Call(emitter), topics.concat().into(), 1_000_000)
    }

    fn send(&self, account: usize, to: TxKind, input: Bytes, gas_limit: u64) -> B256 {
        let nonce = {
            let mut nonces = self.nonces.lock();
            nonces[account] += 1;
            nonces[account] - 1
        };
        let tx = TxEip1559 { chain_id: CHAIN_ID, nonce, gas_limit, to, input, ..TxEip1559::default() };
        let signer = PrivateKeySigner::from_bytes(&devnet::ACCOUNTS[account].key).expect("a key");
        let signature = signer.sign_hash_sync(&tx.signature_hash()).expect("a signature");
        let raw = TxEnvelope::from(tx.into_signed(signature)).encoded_2718();
        self.chain.submit(&raw).expect("a pooled transaction")
    }
}

/// Code that emits one log: topics from the input, so many zero bytes as data.
fn emitter(topics: usize, bytes: u16) -> Vec<u8> {
    const CALLDATALOAD: u8 = 0x35;
    const PUSH1: u8 = 0x60;
    const PUSH2: u8 = 0x61;
    const LOG0: u8 = 0xa0;
    let mut code = Vec::new();
    for topic in (0..topics as u8).rev() {
        code.extend([PUSH1, 32 * topic, CALLDATALOAD]);
    }
    let [high, low] = bytes.to_be_bytes();
    code.extend([PUSH2, high, low, PUSH1, 0, LOG0 + topics as u8, 0]);
    code
}

/// Code that leaves this code behind.
fn creation(code: &[u8]) -> Bytes {
    let length = code.len() as u8;
    let head = [0x60, length, 0x60, 12, 0x60, 0, 0x39, 0x60, length, 0x60, 0, 0xf3];
    [&head, code].concat().into()
}

/// A JSON-RPC port of the chain.
pub(crate) struct Port {
    pub(crate) address: SocketAddr,
    stop: CancellationToken,
    server: JoinHandle<()>,
}

impl Port {
    pub(crate) async fn open(dev: &Dev) -> Self {
        Self::open_at(dev, "127.0.0.1:0".parse().expect("an address")).await
    }

    pub(crate) async fn open_at(dev: &Dev, address: SocketAddr) -> Self {
        let listener = TcpListener::bind(address).await.expect("the port");
        let address = listener.local_addr().expect("an address");
        let stop = CancellationToken::new();
        let server = tokio::spawn(rpc::serve(listener, dev.node(), RpcConfig::default(), stop.clone()));
        Self { address, stop, server }
    }

    /// Ends the port and everything on it at once; what is asked of it meanwhile fails.
    pub(crate) async fn kill(self) -> SocketAddr {
        self.stop.cancel();
        self.server.abort();
        let _ = self.server.await;
        self.address
    }

    pub(crate) fn url(&self) -> NodeUrl {
        format!("http://{}", self.address).parse().expect("a URL")
    }
}
