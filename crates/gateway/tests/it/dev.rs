//! The chain with contracts that emit what tests want, and with ports that can be killed and opened again.

use std::{net::SocketAddr, ops::Deref, sync::Arc};

use alloy_consensus::{SignableTransaction, TxEip1559, TxEnvelope};
use alloy_eips::Encodable2718;
use alloy_primitives::{Address, B256, Bytes, TxKind, address};
use alloy_signer::SignerSync;
use alloy_signer_local::PrivateKeySigner;
use chain::{
    RawUpstream,
    remote::{NodeUrl, RemoteClient, RemoteConfig},
};
use devchain::rpc::{self, Node, RpcConfig};
use domain::devnet;
use parking_lot::Mutex;
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::world::{CHAIN_ID, World};

const FRIEND: Address = address!("00000000000000000000000000000000000f12e4");
/// Who transfers.
const PAYER: usize = 1;
/// Who deploys and emits.
const EMITTER: usize = 0;
/// Most topics of a log.
pub(crate) const MOST_TOPICS: usize = 4;

/// A chain whose accounts' nonces are counted.
pub(crate) struct Dev {
    world: World,
    nonces: Mutex<[u64; 2]>,
}

impl Deref for Dev {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

impl Dev {
    pub(crate) fn start() -> Self {
        Self { world: World::new(), nonces: Mutex::default() }
    }

    /// Puts a transfer into the pool.
    pub(crate) fn pay(&self) -> B256 {
        self.send(PAYER, TxKind::Call(FRIEND), Bytes::new(), 21_000)
    }

    /// Deploys five contracts; number `n` emits logs with `n` topics, taken from its input. In a block of their own.
    pub(crate) async fn deploy_emitters(&self) -> Vec<Address> {
        let addresses = (0..=MOST_TOPICS).map(|topics| self.create(&emitter(topics, 32))).collect();
        self.mine().await;
        addresses
    }

    /// Deploys a contract that emits one log with so many bytes of data. In a block of its own.
    pub(crate) async fn deploy_loud(&self, bytes: u16) -> Address {
        let address = self.create(&emitter(0, bytes));
        self.mine().await;
        address
    }

    /// Puts a call of an emitter into the pool.
    pub(crate) fn emit(&self, emitter: Address, topics: &[B256]) -> B256 {
        self.send(EMITTER, TxKind::Call(emitter), topics.concat().into(), 1_000_000)
    }

    fn create(&self, code: &[u8]) -> Address {
        let nonce = self.nonces.lock()[EMITTER];
        self.send(EMITTER, TxKind::Create, creation(code), 500_000);
        devnet::ACCOUNTS[EMITTER].address.create(nonce)
    }

    fn send(&self, account: usize, to: TxKind, input: Bytes, gas_limit: u64) -> B256 {
        let nonce = {
            let mut nonces = self.nonces.lock();
            nonces[account] += 1;
            nonces[account] - 1
        };
        let tx = TxEip1559 { chain_id: CHAIN_ID, nonce, gas_limit, to, input, ..TxEip1559::default() };
        let signer = PrivateKeySigner::from_bytes(&devnet::ACCOUNTS[account].key).unwrap();
        let signature = signer.sign_hash_sync(&tx.signature_hash()).unwrap();
        self.chain.submit(&TxEnvelope::from(tx.into_signed(signature)).encoded_2718()).unwrap()
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
    server: JoinHandle<std::io::Result<()>>,
}

impl Port {
    pub(crate) async fn open(dev: &Dev) -> Self {
        Self::open_at(dev, "127.0.0.1:0".parse().unwrap()).await
    }

    pub(crate) async fn open_at(dev: &Dev, address: SocketAddr) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let node = Arc::new(Node { chain: Arc::clone(&dev.chain), control: dev.control.clone() });
        let stop = CancellationToken::new();
        let server = tokio::spawn(rpc::serve(listener, node, RpcConfig::default(), stop.clone()));
        Self { address, stop, server }
    }

    /// Ends the port and everything on it at once; what is asked of it meanwhile fails.
    pub(crate) async fn kill(self) -> SocketAddr {
        self.stop.cancel();
        self.server.abort();
        let _ = self.server.await;
        self.address
    }
}

/// The nodes at these ports, followed by their feeds.
pub(crate) async fn remote(ports: &[&Port]) -> Arc<dyn RawUpstream> {
    let urls: Vec<NodeUrl> =
        ports.iter().map(|port| format!("http://{}", port.address).parse().unwrap()).collect();
    let config = RemoteConfig { chain_id: Some(CHAIN_ID), ..RemoteConfig::default() };
    Arc::new(RemoteClient::connect(&urls, config).await.unwrap())
}
