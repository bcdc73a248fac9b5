//! The Besu of the tests answers as Besu does, both versions of it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests are tests"
)]

use std::sync::Arc;

use alloy_primitives::{Address, B256, U256};
use chainnet_testkit::{
    Besu, BesuSettings, CallError, Draft, HttpAnswer, HttpClient, RpcClient, Wallet,
    asm::{Code, deployer, op},
};
use devchain::{
    chain::Chain,
    genesis::{GenesisSpec, GenesisValidator},
    produce::{Pacing, Production},
    rpc::{self, Node, RpcConfig},
};
use domain::devnet;
use futures_util::{SinkExt, StreamExt};
use ibft::seal::{Secp256k1Key, ValidatorKey};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tokio_tungstenite::{client_async, tungstenite::Message};
use tokio_util::sync::CancellationToken;

struct Rig {
    besu: Besu,
    rpc: RpcClient,
    /// Our own node, which makes the blocks.
    node: RpcClient,
    stop: CancellationToken,
    port: JoinHandle<std::io::Result<()>>,
    production: Production,
    folder: TempDir,
}

impl Rig {
    async fn new(settings: BesuSettings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let keys: Vec<_> =
            (1u64..=4).map(|n| Secp256k1Key::new(B256::from(U256::from(n))).unwrap()).collect();
        let validators = keys.iter().map(|key| GenesisValidator {
            operator: key.address(),
            consensus: key.address(),
            moniker: "Validator".to_owned(),
            website: String::new(),
            commission_bps: 0,
        });
        let genesis = GenesisSpec {
            chain_id: 8845,
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
        let node = Arc::new(Node { chain, control: production.control().clone() });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let port = tokio::spawn(rpc::serve(listener, node, RpcConfig::default(), stop.clone()));
        let besu = Besu::start(address, settings).await.unwrap();
        Self {
            rpc: RpcClient::new(besu.http()),
            besu,
            node: RpcClient::new(address),
            stop,
            port,
            production,
            folder,
        }
    }

    /// Lets go of the chain before its folder: one whose folder is gone takes seconds to close.
    async fn end(self) {
        drop((self.besu, self.rpc, self.node));
        self.stop.cancel();
        self.port.await.unwrap().unwrap();
        drop(self.production);
        self.folder.close().unwrap();
    }

    async fn ask(&self, method: &str, params: Value) -> Value {
        self.rpc.call(method, params).await.unwrap()
    }

    /// The code and the message of a refusal.
    async fn refusal(&self, method: &str, params: Value) -> (i64, String) {
        match self.rpc.call::<Value>(method, params).await {
            Err(CallError::Rpc(error)) => (error.code, error.message),
            other => panic!("{method}: {other:?}"),
        }
    }

    async fn post(&self, body: impl Into<bytes::Bytes>) -> HttpAnswer {
        self.rpc.post(body).await.unwrap()
    }

    /// Puts a transaction into a block.
    async fn mine(&self, raw: &alloy_primitives::Bytes) -> B256 {
        let hash = self.node.send_raw(raw).await.unwrap();
        self.node.mine().await.unwrap();
        hash
    }

    /// A contract that reverts with what it is sent.
    async fn echo(&self, wallet: &mut Wallet) -> Address {
        let code = Code::new().load_calldata().ops(&[op::CALLDATASIZE, op::PUSH0, op::REVERT]).bytes();
        let contract = wallet.next_contract();
        self.mine(&wallet.sign_legacy(Draft::deploy(deployer(&code))).raw).await;
        contract
    }
}

async fn both() -> [Rig; 2] {
    [Rig::new(BesuSettings::v24_5_4()).await, Rig::new(BesuSettings::v24_12_2()).await]
}

#[tokio::test]
async fn parameters_that_besu_needs_are_needed() {
    for (rig, message) in
        both().await.into_iter().zip(["Invalid params", "Invalid block, unable to parse RLP"])
    {
        let account = devnet::ACCOUNTS[0].address;
        for (method, params) in [
            ("eth_call", json!([{ "to": account }])),
            ("eth_getBalance", json!([account])),
            ("eth_getCode", json!([account])),
            ("eth_getTransactionCount", json!([account])),
            ("eth_getStorageAt", json!([account, "0x0"])),
        ] {
            assert_eq!(rig.refusal(method, params).await, (-32602, message.to_owned()), "{method}");
        }
        assert_eq!(rig.ask("eth_estimateGas", json!([{ "to": account }])).await, "0x5208");
        assert_eq!(rig.ask("eth_getTransactionCount", json!([account, "pending"])).await, "0x0");
        assert_eq!(rig.besu.faults().len(), 5, "{:?}", rig.besu.faults());
        rig.end().await;
    }
}

#[tokio::test]
async fn a_pending_nonce_is_the_one_after_the_highest_pooled_whatever_is_missing_below() {
    for rig in both().await {
        let mut wallet = Wallet::dev(0);
        let account = wallet.address();
        let pending = || async { rig.ask("eth_getTransactionCount", json!([account, "pending"])).await };
        wallet.set_nonce(2);
        let above = wallet.sign_legacy(Draft::transfer(Address::repeat_byte(1), U256::ONE)).raw;
        rig.node.send_raw(&above).await.unwrap();
        assert_eq!(pending().await, "0x3", "0 and 1 are missing");
        wallet.set_nonce(0);
        rig.mine(&wallet.sign_legacy(Draft::transfer(Address::repeat_byte(1), U256::ONE)).raw).await;
        assert_eq!(pending().await, "0x3");
        assert_eq!(rig.ask("eth_getTransactionCount", json!([account, "latest"])).await, "0x1");
        rig.end().await;
    }
}

#[tokio::test]
async fn nothing_is_safe_or_finalized_as_no_consensus_client_says_so() {
    for rig in both().await {
        let account = devnet::ACCOUNTS[0].address;
        for tag in ["safe", "finalized"] {
            let unknown = (-39001, "Unknown block".to_owned());
            assert_eq!(rig.refusal("eth_getBlockByNumber", json!([tag, false])).await, unknown);
            assert_eq!(rig.refusal("eth_getBalance", json!([account, tag])).await, unknown);
            assert_eq!(rig.refusal("ibft_getValidatorsByBlockNumber", json!([tag])).await, unknown);
            assert_eq!(rig.refusal("eth_getLogs", json!([{ "fromBlock": tag }])).await.0, -32602);
            rig.ask("eth_feeHistory", json!(["0x1", tag, []])).await;
        }
        let nowhere = json!([account, { "blockHash": B256::repeat_byte(7) }]);
        assert_eq!(rig.refusal("eth_getBalance", nowhere).await, (-32000, "Block not found".to_owned()));
        assert_eq!(rig.ask("eth_getBlockByNumber", json!(["pending", false])).await["number"], "0x0");
        rig.end().await;
    }
}

#[tokio::test]
async fn reverts_and_halts_have_besus_codes() {
    for rig in both().await {
        let echo = rig.echo(&mut Wallet::dev(0)).await;
        let reason = format!("0x08c379a0{:064x}{:064x}6e6f{:060}", 32, 2, 0);
        for (data, message) in [
            (reason.as_str(), "Execution reverted: no"),
            (
                "0x4e487b710000000000000000000000000000000000000000000000000000000000000001",
                "Execution reverted",
            ),
            ("0x", "Execution reverted"),
        ] {
            let call = json!([{ "to": echo, "data": data }, "latest"]);
            let Err(CallError::Rpc(error)) = rig.rpc.call::<Value>("eth_call", call).await else {
                panic!("{data} did not revert")
            };
            assert_eq!(
                (error.code, error.message.as_str(), error.data),
                (-32000, message, Some(json!(data)))
            );
        }
        let halting = json!([{ "data": "0xfe" }, "latest"]);
        assert_eq!(rig.refusal("eth_call", halting).await, (-32603, "Internal error".to_owned()));
        rig.end().await;
    }
}

#[tokio::test]
async fn versions_differ_in_what_they_have() {
    let [old, new] = both().await;
    let unknown = (-32601, "Method not found".to_owned());
    assert_eq!(old.refusal("eth_maxPriorityFeePerGas", json!([])).await, unknown);
    assert_eq!(new.ask("eth_maxPriorityFeePerGas", json!([])).await, "0x0");
    for (rig, version, balance) in [(old, "v24.5.4", U256::ZERO), (new, "v24.12.2", U256::from(7))] {
        let told = rig.ask("web3_clientVersion", json!([])).await;
        assert!(told.as_str().unwrap().starts_with(&format!("besu/{version}/")), "{told}");
        // Returns the balance of its own account, which is put there for the call alone.
        let code = Code::new().ops(&[op::SELFBALANCE]).return_word().bytes();
        let account = Address::repeat_byte(0x77);
        let overrides =
            json!({ account.to_string(): { "balance": "0x7", "code": alloy_primitives::Bytes::from(code) } });
        let answer = rig.ask("eth_call", json!([{ "to": account }, "latest", overrides])).await;
        let seen: alloy_primitives::Bytes = serde_json::from_value(answer).unwrap();
        assert_eq!(U256::try_from_be_slice(&seen).unwrap(), balance);
        rig.end().await;
    }
}

#[tokio::test]
async fn groups_that_are_off_are_off_and_others_methods_are_unknown() {
    for rig in both().await {
        for method in
            ["debug_traceCall", "txpool_besuTransactions", "admin_peers", "miner_stop", "eth_subscribe"]
        {
            assert_eq!(
                rig.refusal(method, json!([])).await,
                (-32604, "Method not enabled".to_owned()),
                "{method}"
            );
        }
        for method in ["evm_mine", "chainnet_validators", "txpool_content", "personal_sign"] {
            assert_eq!(rig.refusal(method, json!([])).await.0, -32601, "{method}");
        }
        let modules = json!({ "eth": "1.0", "net": "1.0", "web3": "1.0", "ibft": "1.0" });
        assert_eq!(rig.ask("rpc_modules", json!([])).await, modules);
        assert_eq!(rig.ask("ibft_getPendingVotes", json!([])).await, json!({}));
        let validators = rig.ask("ibft_getValidatorsByBlockNumber", json!(["latest"])).await;
        assert_eq!(validators.as_array().unwrap().len(), 4);
        rig.end().await;
    }
}

#[tokio::test]
async fn messages_are_read_as_besu_reads_them() {
    let rig = Rig::new(BesuSettings { max_batch: 3, max_log_range: 2, ..BesuSettings::v24_12_2() }).await;
    for (body, status, code) in [
        ("{", 400, -32700),
        ("7", 400, -32700),
        ("[]", 400, -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, 400, -32600),
    ] {
        let answer = rig.post(body).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.json()["error"]["code"]),
            (status, &json!(code)),
            "{body}"
        );
        assert_eq!(answer.json()["id"], Value::Null);
    }
    let silent = rig.post(r#"{"jsonrpc":"2.0","method":"eth_blockNumber"}"#).await;
    assert_eq!((silent.status.as_u16(), silent.body.len()), (200, 0));
    let one = r#"{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber"}"#;
    let many = rig.post(format!("[{one},{one},{one},{one}]")).await;
    assert_eq!((many.status.as_u16(), &many.json()["error"]["code"]), (200, &json!(-32005)));
    assert_eq!(rig.post(format!("[{one},{one}]")).await.json().as_array().unwrap().len(), 2);
    for _ in 0..4 {
        rig.node.mine().await.unwrap();
    }
    let range = json!([{ "fromBlock": "0x0", "toBlock": "latest" }]);
    assert_eq!(rig.refusal("eth_getLogs", range).await.0, -32005);
    assert_eq!(rig.ask("eth_getLogs", json!([{ "fromBlock": "0x2", "toBlock": "0x4" }])).await, json!([]));
    rig.end().await;
}

#[tokio::test]
async fn blocks_transactions_and_receipts_are_written_as_besu_writes_them() {
    let [old, new] = both().await;
    for (rig, has_v, has_reason) in [(old, false, false), (new, true, true)] {
        let mut wallet = Wallet::dev(0);
        let echo = rig.echo(&mut wallet).await;
        let failing = rig.mine(&wallet.sign_dynamic_fee(Draft::call(echo, vec![1, 2, 3])).raw).await;
        let block = rig.ask("eth_getBlockByNumber", json!(["latest", true])).await;
        assert_eq!((&block["totalDifficulty"], &block["difficulty"]), (&json!("0x3"), &json!("0x1")));
        assert_eq!(block["nonce"], "0x0000000000000000");
        assert!(block["extraData"].as_str().unwrap().len() > 600 && block["size"].is_string());
        assert!(block.get("withdrawals").is_none() && block.get("withdrawalsRoot").is_none());
        let transaction = &block["transactions"][0];
        assert_eq!((transaction.get("v").is_some(), &transaction["yParity"].is_string()), (has_v, &true));
        let receipt = rig.ask("eth_getTransactionReceipt", json!([failing])).await;
        assert_eq!((&receipt["status"], receipt.get("revertReason").is_some()), (&json!("0x0"), has_reason));
        let history = rig.ask("eth_feeHistory", json!(["0x2", "latest", [50]])).await;
        assert_eq!(history["baseFeePerBlobGas"].as_array().unwrap().len(), 3);
        assert_eq!(rig.ask("eth_gasPrice", json!([])).await, "0x0");
        rig.end().await;
    }
    let forgotten = Rig::new(BesuSettings { min_gas_price: 1000, ..BesuSettings::v24_12_2() }).await;
    assert_eq!(forgotten.ask("eth_gasPrice", json!([])).await, "0x3e8");
    forgotten.end().await;
}

#[tokio::test]
async fn ports_are_as_besus() {
    let rig = Rig::new(BesuSettings { max_connections: 2, ..BesuSettings::v24_12_2() }).await;
    let http = HttpClient::new(rig.besu.http());
    assert_eq!(http.get("/").await.unwrap().status.as_u16(), 201);
    let mut foreign = TcpStream::connect(rig.besu.http()).await.unwrap();
    foreign.write_all(b"GET / HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    foreign.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("Host not authorized."), "{answer}");
    // Two connections are held; the third is accepted and closed.
    let (one, two) = (RpcClient::new(rig.besu.http()), RpcClient::new(rig.besu.http()));
    // Until those above are gone.
    while one.block_number().await.is_err() {}
    while two.block_number().await.is_err() {}
    let before = rig.besu.turned_away();
    assert!(http.get("/").await.is_err());
    assert!(rig.besu.turned_away() > before);
    rig.end().await;
}

#[tokio::test]
async fn subscriptions_have_hex_ids_and_heads_are_blocks() {
    let rig = Rig::new(BesuSettings::v24_5_4()).await;
    let stream = TcpStream::connect(rig.besu.socket()).await.unwrap();
    let (mut socket, _) = client_async(format!("ws://{}", rig.besu.socket()), stream).await.unwrap();
    let mut asked = async |method: &str, params: Value| {
        let request = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        socket.send(Message::text(request.to_string())).await.unwrap();
        loop {
            let text = socket.next().await.unwrap().unwrap().into_text().unwrap();
            let answer: Value = serde_json::from_str(&text).unwrap();
            if answer["id"] == 7 {
                return answer;
            }
        }
    };
    let subscription = asked("eth_subscribe", json!(["newHeads"])).await["result"].clone();
    assert!(subscription.as_str().unwrap().starts_with("0x"), "{subscription}");
    assert_eq!(asked("eth_subscribe", json!(["nonsense"])).await["error"]["code"], -32600);
    assert_eq!(asked("ibft_getPendingVotes", json!([])).await["error"]["code"], -32604);
    assert_eq!(asked("eth_blockNumber", json!([])).await["result"], "0x0");
    let hash = rig.mine(&Wallet::dev(0).sign_legacy(Draft::transfer(Address::ZERO, U256::from(1))).raw).await;
    let text = socket.next().await.unwrap().unwrap().into_text().unwrap();
    let event: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(event["params"]["subscription"], subscription);
    let head = &event["params"]["result"];
    assert_eq!((&head["number"], &head["transactions"]), (&json!("0x1"), &json!([hash])));
    rig.end().await;
}
