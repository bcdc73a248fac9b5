//! A real embedded chain that mines when it is told to.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use alloy_consensus::{SignableTransaction, TxEip1559, TxEnvelope};
use alloy_eips::Encodable2718;
use alloy_primitives::{Address, B256, Bytes, TxKind, U256, hex, keccak256};
use alloy_signer::SignerSync;
use alloy_signer_local::PrivateKeySigner;
use async_trait::async_trait;
use chain::{Head, NodeState, PendingHashes, RawCall, RawError, RawUpstream};
use devchain::{
    chain::Chain,
    genesis::{GenesisSpec, GenesisValidator},
    produce::{Control, Pacing, Production},
    rpc::{self, Node, RpcConfig},
};
use domain::devnet;
use ibft::seal::{Secp256k1Key, ValidatorKey};
use jsonrpc::Answer;
use tempfile::TempDir;
use testkit::TestNode;
use tokio::{net::TcpListener, sync::watch};
use tokio_util::sync::{CancellationToken, DropGuard};

pub(crate) const CHAIN_ID: u64 = 8845;
/// How long anything may take before a test has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(180);
/// Multicall3, which is in every genesis.
pub(crate) const MULTICALL: &str = "0xcA11bde05977b3631167028862bE2a173976CA11";

pub(crate) struct World {
    pub(crate) chain: Arc<Chain>,
    pub(crate) control: Control,
    node: Arc<Node>,
    way: TestNode,
    _production: Production,
    folder: Arc<TempDir>,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let keys: Vec<_> =
            (1u64..=4).map(|n| Secp256k1Key::new(B256::from(U256::from(n))).unwrap()).collect();
        let validators = keys.iter().zip(1..).map(|(key, number)| GenesisValidator {
            operator: key.address(),
            consensus: key.address(),
            moniker: format!("Validator {number}"),
            website: "https://validator.example.org".to_owned(),
            commission_bps: 500,
        });
        let genesis = GenesisSpec {
            chain_id: CHAIN_ID,
            timestamp: 1_767_225_600,
            validators: validators.collect(),
            treasury_owners: devnet::ACCOUNTS.iter().take(5).map(|account| account.address).collect(),
            admin: devnet::ACCOUNTS[0].address,
            slasher: devnet::ACCOUNTS[1].address,
            funded: devnet::ACCOUNTS
                .iter()
                .map(|a| (a.address, U256::from(10).pow(U256::from(24))))
                .collect(),
            ..GenesisSpec::default()
        };
        let chain = Chain::open(&folder.path().join("chain"), &genesis.build().unwrap()).unwrap();
        let production = Production::start(chain.clone(), keys, Pacing::OnDemand).unwrap();
        let control = production.control().clone();
        let node = Arc::new(Node { chain: chain.clone(), control: control.clone() });
        let way = TestNode::new(&chain, &control);
        Self { chain, control, node, way, _production: production, folder }
    }

    pub(crate) async fn mine(&self) -> u64 {
        let number = self.control.mine(None).await.unwrap();
        self.way.catch_up().await;
        number
    }

    pub(crate) async fn mine_to(&self, number: u64) {
        while self.mine().await < number {}
    }

    pub(crate) fn head(&self) -> u64 {
        self.chain.head().block.number()
    }

    /// The chain without a wire, unless the tests run on a Besu.
    pub(crate) fn in_process(&self) -> Arc<dyn RawUpstream> {
        Arc::new(Inside { inner: self.way.raw(), _folder: Arc::clone(&self.folder) })
    }

    /// The chain's own JSON-RPC port, with all its groups.
    pub(crate) async fn port(&self) -> (SocketAddr, DropGuard) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        tokio::spawn(rpc::serve(listener, Arc::clone(&self.node), RpcConfig::default(), stop.clone()));
        (address, stop.drop_guard())
    }

    /// A signed transfer of one coin, as `eth_sendRawTransaction` takes it, and its hash.
    pub(crate) fn transfer(&self, nonce: u64) -> (String, String) {
        self.transaction(nonce, Address::repeat_byte(0xaa).into(), Bytes::new())
    }

    /// Sends bytes of the given code's logs: a contract that logs once with its own address, when it is created.
    pub(crate) fn logging(&self, nonce: u64) -> (String, String) {
        // PUSH1 0x2a PUSH1 0 PUSH1 0 LOG1 STOP
        self.transaction(nonce, TxKind::Create, hex!("602a60006000a100").into())
    }

    fn transaction(&self, nonce: u64, to: TxKind, input: Bytes) -> (String, String) {
        let signer = PrivateKeySigner::from_bytes(&devnet::ACCOUNTS[3].key).unwrap();
        let value = if input.is_empty() { U256::from(10).pow(U256::from(18)) } else { U256::ZERO };
        let tx = TxEip1559 {
            chain_id: CHAIN_ID,
            nonce,
            gas_limit: 200_000,
            max_fee_per_gas: 1_000_000_000,
            to,
            value,
            input,
            ..TxEip1559::default()
        };
        let signature = signer.sign_hash_sync(&tx.signature_hash()).unwrap();
        let raw = TxEnvelope::from(tx.into_signed(signature)).encoded_2718();
        (hex::encode_prefixed(&raw), keccak256(&raw).to_string())
    }
}

/// The chain in the process, and its folder: a gateway may outlive the test that started it by a moment, and a chain
/// whose folder is gone takes seconds to close.
struct Inside {
    inner: Arc<dyn RawUpstream>,
    _folder: Arc<TempDir>,
}

#[async_trait]
impl RawUpstream for Inside {
    fn heads(&self) -> watch::Receiver<Option<Arc<Head>>> {
        self.inner.heads()
    }

    async fn pending(&self) -> PendingHashes {
        self.inner.pending().await
    }

    fn chain_id(&self) -> Option<u64> {
        self.inner.chain_id()
    }

    async fn call(&self, call: RawCall) -> Result<Answer, RawError> {
        self.inner.call(call).await
    }

    fn nodes(&self) -> Vec<NodeState> {
        self.inner.nodes()
    }
}

/// Fails the test if something takes too long.
pub(crate) async fn in_time<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, work).await.expect("done in time")
}
