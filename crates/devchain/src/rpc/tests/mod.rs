//! The methods through HTTP and WebSocket, each test on a chain of its own that seals on demand.

mod besu;
mod blocks;
mod control;
mod errors;
mod events;
mod load;
mod pages;
mod prices;
mod simulation;
mod table;
mod transactions;

use std::{net::SocketAddr, sync::Arc};

use alloy_consensus::{SignableTransaction, TxEip1559, TxEnvelope, TxLegacy};
use alloy_eips::eip2718::Encodable2718;
use alloy_primitives::{Address, B256, Bytes, TxKind, U256, address, hex};
use alloy_signer::SignerSync;
use alloy_signer_local::PrivateKeySigner;
use ibft::{
    extra_data::ExtraData,
    seal::{Secp256k1Key, ValidatorKey},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{Node, RpcConfig, serve};
use crate::{
    chain::Chain,
    clock::ChainClock,
    genesis::Genesis,
    pool::PoolLimits,
    produce::{Pacing, Production},
};

const CHAIN_ID: u64 = 8837;
const BLOCK_GAS_LIMIT: u64 = 30_000_000;

/// Returns 42.
const ANSWER: Address = address!("00000000000000000000000000000000000a0001");
/// Reverts with its input.
const REVERT: Address = address!("00000000000000000000000000000000000a0002");
/// Logs its input under topic 1.
const LOG: Address = address!("00000000000000000000000000000000000a0003");
/// Stops at an invalid opcode.
const HALT: Address = address!("00000000000000000000000000000000000a0004");
/// Loops until its gas is gone.
const LOOP: Address = address!("00000000000000000000000000000000000a0005");
/// Has the precompile 9 work in a loop, a million rounds at a time.
const BLAKE: Address = address!("00000000000000000000000000000000000a0006");

/// An error as the caller sees it.
#[derive(Debug, PartialEq)]
struct Failure {
    code: i64,
    message: String,
    data: Option<Value>,
}

/// A served chain with one validator and one rich account.
struct Rig {
    address: SocketAddr,
    chain: Arc<Chain>,
    user: PrivateKeySigner,
    validator: Address,
    _stop: DropGuard,
    _production: Production,
}

impl Rig {
    async fn start() -> Self {
        Self::start_with(RpcConfig::default()).await
    }

    async fn start_with(config: RpcConfig) -> Self {
        Self::start_limited(config, PoolLimits::default()).await
    }

    async fn start_limited(config: RpcConfig, limits: PoolLimits) -> Self {
        let genesis = genesis(validator_key().address(), user().address());
        Self::serve(&Genesis::from_json(&genesis).unwrap(), config, limits).await
    }

    /// Serves the chain of a genesis.
    async fn serve(genesis: &Genesis, config: RpcConfig, limits: PoolLimits) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (user, key) = (user(), validator_key());
        let validator = key.address();
        let chain = Chain::open_with(dir.path(), genesis, limits, ChainClock::default()).unwrap();
        let production = Production::start(Arc::clone(&chain), vec![key], Pacing::OnDemand).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let node = Arc::new(Node { chain: Arc::clone(&chain), control: production.control().clone() });
        let serving = serve(listener, node, config, stop.clone());
        tokio::spawn(async move {
            serving.await.expect("its threads");
            // The server is the last to let go of the store, which must close before its directory goes.
            drop(dir);
        });
        let _stop = stop.drop_guard();
        Self { address, chain, user, validator, _stop, _production: production }
    }

    /// Calls a method.
    async fn call(&self, method: &str, params: Value) -> Result<Value, Failure> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let request = format!(
            "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        let mut answer: Value = serde_json::from_str(body).unwrap_or_else(|_| panic!("{method}: {body}"));
        assert_eq!(answer["id"], 1);
        match answer.get_mut("error").map(Value::take) {
            None => Ok(answer["result"].take()),
            Some(error) => Err(Failure {
                code: error["code"].as_i64().unwrap(),
                message: error["message"].as_str().unwrap().to_owned(),
                data: error.get("data").cloned(),
            }),
        }
    }

    /// Calls a method that must succeed.
    async fn get(&self, method: &str, params: Value) -> Value {
        self.call(method, params.clone())
            .await
            .unwrap_or_else(|failure| panic!("{method} {params}: {failure:?}"))
    }

    /// Calls a method that must fail.
    async fn fail(&self, method: &str, params: Value) -> (i64, String) {
        let failure = self.call(method, params.clone()).await;
        let failure = failure.expect_err(&format!("{method} {params} should fail"));
        (failure.code, failure.message)
    }

    async fn mine(&self) {
        self.get("evm_mine", json!([])).await;
    }

    /// A transaction of the user, with free gas.
    fn transaction(&self, nonce: u64, to: Address, input: &[u8]) -> TxEip1559 {
        TxEip1559 {
            chain_id: CHAIN_ID,
            nonce,
            gas_limit: 100_000,
            to: TxKind::Call(to),
            input: Bytes::copy_from_slice(input),
            ..TxEip1559::default()
        }
    }

    fn sign(&self, transaction: TxEip1559) -> String {
        let signature = self.user.sign_hash_sync(&transaction.signature_hash()).unwrap();
        raw(&transaction.into_signed(signature).into())
    }

    fn sign_legacy(&self, transaction: TxLegacy) -> String {
        let signature = self.user.sign_hash_sync(&transaction.signature_hash()).unwrap();
        raw(&transaction.into_signed(signature).into())
    }

    /// Sends a call to a contract and gives its hash.
    async fn send(&self, nonce: u64, to: Address, input: &[u8]) -> Value {
        let raw = self.sign(self.transaction(nonce, to, input));
        self.get("eth_sendRawTransaction", json!([raw])).await
    }
}

fn user() -> PrivateKeySigner {
    PrivateKeySigner::from_bytes(&B256::with_last_byte(9)).unwrap()
}

fn validator_key() -> Secp256k1Key {
    Secp256k1Key::new(B256::with_last_byte(1)).unwrap()
}

fn raw(transaction: &TxEnvelope) -> String {
    hex::encode_prefixed(transaction.encoded_2718())
}

fn genesis(validator: Address, user: Address) -> String {
    let extra = ExtraData {
        vanity: B256::ZERO,
        validators: vec![validator],
        vote: None,
        round: 0,
        seals: Vec::new(),
    };
    json!({
        "config": {
            "chainId": CHAIN_ID, "londonBlock": 0, "shanghaiTime": 0, "zeroBaseFee": true,
            "ibft2": { "blockperiodseconds": 2, "epochlength": 30000, "requesttimeoutseconds": 4 },
        },
        "nonce": "0x0", "timestamp": "0x58ee40ba", "gasLimit": format!("{BLOCK_GAS_LIMIT:#x}"),
        "difficulty": "0x1", "baseFeePerGas": "0x0",
        "mixHash": "0x63746963616c2062797a616e74696e65206661756c7420746f6c6572616e6365",
        "coinbase": Address::ZERO, "extraData": extra.encode(),
        "alloc": {
            user.to_string(): { "balance": U256::from(10).pow(U256::from(21)) },
            ANSWER.to_string(): { "balance": "0x0", "code": "0x602a60005260206000f3", "storage": { "0x05": "0x07" } },
            REVERT.to_string(): { "balance": "0x0", "code": "0x366000600037366000fd" },
            LOG.to_string(): { "balance": "0x0", "code": "0x36600060003760013660 00a100".replace(' ', "") },
            HALT.to_string(): { "balance": "0x0", "code": "0xfe" },
            LOOP.to_string(): { "balance": "0x0", "code": "0x5b600056" },
            BLAKE.to_string(): {
                "balance": "0x0", "code": "0x63000f424060e01b5f525b604061010060d55f60095afa50600a56",
            },
        },
    })
    .to_string()
}
