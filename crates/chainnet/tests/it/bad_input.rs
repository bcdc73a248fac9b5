//! Whatever is sent to the JSON-RPC port gets Besu's code and a clear message, and disturbs nobody else.

use std::time::Duration;

use alloy_consensus::{SignableTransaction, TxEip1559, TxEip4844, TxEnvelope, TxLegacy};
use alloy_eips::Encodable2718;
use alloy_primitives::{Address, Bytes, Signature, TxKind, U256, address, uint};
use alloy_signer::SignerSync;
use alloy_signer_local::PrivateKeySigner;
use serde_json::{Value, json};
use testkit::{CallError, NodeProcess, RpcClient};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
};

use crate::rig::{assert_calm, node, on_demand};

const BOB: Address = Address::repeat_byte(0xb0);
const CHAIN_ID: u64 = 8845;
const BLOCK_GAS_LIMIT: u64 = 500_000_000;
/// Order of secp256k1.
const N: U256 = uint!(0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141_U256);
/// A development account whose key is public.
const ALICE: Address = address!("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266");

/// Besu's answer to bytes that are no transaction.
const NO_TRANSACTION: (i64, &str) = (-32602, "Invalid block, unable to parse RLP");

fn alice() -> PrivateKeySigner {
    PrivateKeySigner::from_bytes(&domain::devnet::ACCOUNTS[0].key).expect("a key")
}

fn transfer() -> TxEip1559 {
    TxEip1559 {
        chain_id: CHAIN_ID,
        gas_limit: 21_000,
        to: TxKind::Call(BOB),
        value: U256::from(1),
        ..TxEip1559::default()
    }
}

fn sealed<T: SignableTransaction<Signature>>(transaction: T, signature: Signature) -> Bytes
where
    TxEnvelope: From<alloy_consensus::Signed<T>>,
{
    TxEnvelope::from(transaction.into_signed(signature)).encoded_2718().into()
}

fn signed<T: SignableTransaction<Signature>>(transaction: T) -> Bytes
where
    TxEnvelope: From<alloy_consensus::Signed<T>>,
{
    let signature = alice().sign_hash_sync(&transaction.signature_hash()).expect("a signature");
    sealed(transaction, signature)
}

fn changed(change: impl FnOnce(&mut TxEip1559)) -> Bytes {
    let mut transaction = transfer();
    change(&mut transaction);
    signed(transaction)
}

async fn refusal(client: &RpcClient, method: &str, params: Value) -> (i64, String) {
    match client.call::<Value>(method, &params).await {
        Err(CallError::Rpc(error)) => (error.code, error.message),
        other => panic!("{method} {params}: {other:?}"),
    }
}

#[track_caller]
fn is(found: (i64, String), expected: (i64, &str), case: &str) {
    assert_eq!((found.0, found.1.as_str()), expected, "{case}");
}

#[tokio::test]
async fn transactions_that_no_block_could_hold_are_refused_with_besus_codes() {
    let node = on_demand().await;
    let client = node.client();
    let legacy_without_chain = TxLegacy { gas_limit: 21_000, to: TxKind::Call(BOB), ..TxLegacy::default() };
    let blob = TxEip4844 {
        chain_id: CHAIN_ID,
        gas_limit: 21_000,
        to: BOB,
        blob_versioned_hashes: vec![[1; 32].into()],
        ..TxEip4844::default()
    };
    let cases: Vec<(&str, Bytes, (i64, &str))> = vec![
        ("another chain", changed(|tx| tx.chain_id = 1), (-32000, "Wrong chainId")),
        ("no chain", signed(legacy_without_chain), (-32000, "ChainId is required")),
        ("too little gas", changed(|tx| tx.gas_limit = 20_999), (-32003, "Intrinsic gas exceeds gas limit")),
        (
            "more gas than a block",
            changed(|tx| tx.gas_limit = BLOCK_GAS_LIMIT + 1),
            (-32005, "Transaction gas limit exceeds block gas limit"),
        ),
        (
            "more than the account has",
            changed(|tx| tx.value = U256::from(10).pow(U256::from(30))),
            (-32004, "Upfront cost exceeds account balance"),
        ),
        (
            "a nonce too far",
            changed(|tx| tx.nonce = 100_000),
            (-32000, "Transaction nonce is too distant from current sender nonce"),
        ),
        (
            "a tip above the cap",
            changed(|tx| tx.max_priority_fee_per_gas = 1),
            (-32000, "Max priority fee per gas exceeds max fee per gas"),
        ),
        ("a blob transaction", signed(blob), (-32602, "Invalid transaction type")),
    ];
    for (case, raw, expected) in cases {
        is(refusal(client, "eth_sendRawTransaction", json!([raw])).await, expected, case);
    }
    assert_calm(&node);
}

#[tokio::test]
async fn signatures_that_prove_nothing_are_refused() {
    let node = on_demand().await;
    let good = alice().sign_hash_sync(&transfer().signature_hash()).expect("a signature");
    let zero = U256::ZERO;
    for (case, signature) in [
        ("r is zero", Signature::new(zero, good.s(), good.v())),
        ("s is zero", Signature::new(good.r(), zero, good.v())),
        ("both are zero", Signature::new(zero, zero, false)),
        ("s is in the upper half", Signature::new(good.r(), N - good.s(), !good.v())),
        ("r is the order", Signature::new(N, good.s(), good.v())),
        ("s is above the order", Signature::new(good.r(), U256::MAX, good.v())),
    ] {
        let raw = sealed(transfer(), signature);
        let found = refusal(node.client(), "eth_sendRawTransaction", json!([raw])).await;
        is(found, (-32002, "Invalid signature"), case);
    }
    assert_calm(&node);
}

#[tokio::test]
async fn used_and_repeated_nonces_are_refused() {
    let node = on_demand().await;
    let client = node.client();
    let raw = signed(transfer());
    client.send_raw(&raw).await.unwrap();
    is(
        refusal(client, "eth_sendRawTransaction", json!([raw])).await,
        (-32000, "Known transaction"),
        "the same again",
    );
    client.mine().await.unwrap();
    let other = changed(|tx| tx.value = U256::from(2));
    is(
        refusal(client, "eth_sendRawTransaction", json!([other])).await,
        (-32001, "Nonce too low"),
        "mined nonce",
    );
    let balance: U256 = client.call("eth_getBalance", json!([BOB, "latest"])).await.unwrap();
    assert_eq!(balance, U256::from(1));
}

#[tokio::test]
async fn bytes_that_are_no_transaction_are_refused() {
    let node = on_demand().await;
    let client = node.client();
    let good = signed(transfer());
    let mut cases = vec![
        json!(""),
        json!("0x"),
        json!("0x0"),
        json!("0xzz"),
        json!("0xc0"),
        json!("0x02"),
        json!("0x02c0"),
        json!("0x7f"),
        json!("0xff"),
        json!("0xffffffffffffffffffff"),
        json!("0xbfffffffffffffffff"),
        json!(format!("0x{}", "c1".repeat(5000))),
        json!(5),
        json!(null),
        json!({}),
        json!([good.to_string()]),
    ];
    let longer = [good.as_ref(), &[0]].concat();
    cases.push(json!(Bytes::from(longer)));
    cases.extend((1..good.len()).step_by(7).map(|length| json!(Bytes::copy_from_slice(&good[..length]))));
    for case in cases {
        let found = refusal(client, "eth_sendRawTransaction", json!([case])).await;
        assert_eq!((found.0, found.1.as_str()), NO_TRANSACTION, "{case}");
    }
    is(refusal(client, "eth_sendRawTransaction", json!([])).await, NO_TRANSACTION, "nothing");
    assert_calm(&node);
}

/// An HTTP answer's status, and the code and message of its error.
async fn post(client: &RpcClient, body: impl Into<Vec<u8>>) -> (u16, Value, Value) {
    let answer = client.post(body.into()).await.expect("an answer");
    let json: Value = serde_json::from_slice(&answer.body).expect("JSON");
    (answer.status.as_u16(), json["error"]["code"].clone(), json["error"]["message"].clone())
}

#[tokio::test]
async fn messages_that_are_no_request_are_told_so() {
    let node = on_demand().await;
    let client = node.client();
    let deep = format!(r#"{{"id":1,"method":"eth_chainId","params":{}"#, "[".repeat(100_000));
    let parse = (400, json!(-32700), json!("Parse error"));
    for body in [b"".to_vec(), b"{".to_vec(), b"nonsense".to_vec(), b"\xff\xfe{}".to_vec(), deep.into_bytes()]
    {
        let shown = String::from_utf8_lossy(&body[..body.len().min(60)]).into_owned();
        assert_eq!(post(client, body).await, parse, "{shown}");
    }
    let invalid = (400, json!(-32600), json!("Invalid Request"));
    for body in [
        "[]",
        "1",
        "\"eth_chainId\"",
        "{}",
        r#"{"id":1}"#,
        r#"{"id":1,"method":7}"#,
        r#"{"id":[],"method":"x"}"#,
    ] {
        assert_eq!(post(client, body).await, invalid, "{body}");
    }
    let unknown = r#"{"id":1,"method":"eth_mineBitcoin","params":[]}"#;
    assert_eq!(post(client, unknown).await, (200, json!(-32601), json!("Method not found")));
    let needs_websocket = r#"{"id":1,"method":"eth_subscribe","params":["newHeads"]}"#;
    assert_eq!(post(client, needs_websocket).await, (200, json!(-32604), json!("Method not enabled")));
    let batch = format!("[{}]", vec![r#"{"id":1,"method":"eth_chainId"}"#; 1025].join(","));
    let too_many = json!("Number of requests exceeds max batch size");
    assert_eq!(post(client, batch).await, (200, json!(-32005), too_many));
    assert_calm(&node);
}

#[tokio::test]
async fn an_oversized_body_is_refused_and_the_next_call_works() {
    let node = on_demand().await;
    let huge = vec![b'x'; 6 * 1024 * 1024];
    // The server closes without reading the rest, so the answer may be lost with the connection; never the server.
    if let Ok(answer) = node.client().post(huge).await {
        assert_eq!(answer.status.as_u16(), 413);
    }
    assert_eq!(node.client().block_number().await.unwrap(), 0);
    assert_calm(&node);
}

#[tokio::test]
async fn methods_of_a_group_that_is_off_are_not_enabled() {
    let node = node(["--network", "testnet"]).await;
    for method in ["evm_mine", "evm_increaseTime", "evm_snapshot", "evm_revert", "evm_setNextBlockTimestamp"]
    {
        is(refusal(node.client(), method, json!([])).await, (-32604, "Method not enabled"), method);
    }
}

#[tokio::test]
async fn wrong_parameters_are_named() {
    let node = on_demand().await;
    let hash = format!("0x{}", "11".repeat(32));
    for (method, params, message) in [
        ("eth_getBalance", json!([]), "Invalid address params"),
        ("eth_getBalance", json!(["0x12", "latest"]), "Invalid address params"),
        ("eth_getBalance", json!([ALICE, "newest"]), "Invalid block number params"),
        ("eth_getBalance", json!({ "address": ALICE }), "Invalid params"),
        ("eth_getBalance", json!([ALICE, "latest", 3, 4, 5]), "Invalid number of params"),
        ("eth_getTransactionCount", json!([7, "latest"]), "Invalid address params"),
        ("eth_getCode", json!([true]), "Invalid address params"),
        ("eth_getStorageAt", json!([ALICE, "x", "latest"]), "Invalid position params"),
        ("eth_getBlockByNumber", json!(["0x0", "yes"]), "Invalid return complete transaction params"),
        ("eth_getBlockByHash", json!([7, true]), "Invalid block hash params"),
        ("eth_getTransactionByHash", json!([]), "Invalid transaction hash params"),
        ("eth_getTransactionReceipt", json!(["0x1"]), "Invalid transaction hash params"),
        ("eth_getTransactionByBlockHashAndIndex", json!([hash, "many"]), "Invalid transaction index params"),
        ("eth_call", json!(["0x00"]), "Invalid call params"),
        ("eth_call", json!([{ "to": ALICE, "value": -1 }]), "Invalid call params"),
        ("eth_estimateGas", json!([[]]), "Invalid call params"),
        ("eth_feeHistory", json!(["many", "latest"]), "Invalid block count params"),
        ("eth_getLogs", json!([[]]), "Invalid filter params"),
        ("eth_getFilterChanges", json!([{}]), "Invalid filter ID params"),
        ("ibft_getValidatorsByBlockHash", json!([1]), "Invalid block hash params"),
        ("evm_mine", json!(["soon"]), "Invalid timestamp params"),
        ("chainnet_stopValidator", json!([]), "Invalid validator params"),
    ] {
        let found = refusal(node.client(), method, params.clone()).await;
        assert_eq!((found.0, found.1.as_str()), (-32602, message), "{method} {params}");
    }
    assert_calm(&node);
}

/// Parameters that fit hardly any method.
fn nonsense() -> Vec<Value> {
    let hash = format!("0x{}", "22".repeat(32));
    vec![
        json!([]),
        json!([null, null, null]),
        json!([{}]),
        json!([[]]),
        json!([[[[[[]]]]]]),
        json!(["x", "y", "z"]),
        json!(["0x"]),
        json!(["0x0", "0x0", "0x0"]),
        json!([-1]),
        json!([1.5]),
        json!([true, false]),
        json!([u64::MAX, u64::MAX]),
        json!(["0xffffffffffffffff", "0xffffffffffffffff"]),
        json!(["0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"]),
        json!([ALICE, "0xffffffffffffffff"]),
        json!([ALICE, U256::MAX, "earliest"]),
        json!([hash, "0xffffffffffffffff", true]),
        json!(["earliest", true]),
        json!(["pending", "pending"]),
        json!(["safe", "finalized"]),
        json!([{ "blockHash": hash, "fromBlock": "0x0" }]),
        json!([{ "fromBlock": "0xffffffffffffffff", "toBlock": "0x0" }]),
        json!([{ "from": ALICE, "gas": "0xffffffffffffffff", "gasPrice": U256::MAX, "value": U256::MAX }]),
        json!([{ "to": BOB, "data": "0xabc" }, "latest", { BOB.to_string(): { "code": 5 } }]),
        json!([{ "timestamp": "0xffffffffffffffff", "blocks": "0x2" }]),
        json!(["\u{0}", "\u{10ffff}"]),
        json!(["x".repeat(100_000)]),
        json!({ "named": true }),
        json!("a string"),
        json!(7),
        json!([1, 2, 3, 4, 5, 6, 7, 8, 9]),
    ]
}

#[tokio::test]
async fn no_method_fails_inside_the_node_for_any_nonsense() {
    let node = on_demand().await;
    let client = node.client();
    // Stopping validators and moving the clock are asked for here too; what they leave behind must still run.
    for entry in devchain::rpc::method_entries() {
        for params in nonsense() {
            match client.call::<Value>(entry.name, &params).await {
                Ok(_) => {}
                Err(CallError::Rpc(error)) => {
                    assert_ne!(error.code, -32603, "{} {params}: {}", entry.name, error.message);
                    assert!(!error.message.is_empty());
                }
                Err(error) => panic!("{} {params}: {error}", entry.name),
            }
        }
    }
    assert_calm(&node);
    let chain: String = client.call("eth_chainId", json!([])).await.unwrap();
    assert_eq!(chain, "0x228d");
    client.mine().await.unwrap();
    client.mine().await.unwrap();
    assert_calm(&node);
}

/// Bytes on a fresh connection, cut off after them; what came back does not matter.
async fn throw(node: &NodeProcess, bytes: &[u8]) {
    let Ok(mut stream) = TcpStream::connect(node.server().address()).await else { return };
    let _ = stream.write_all(bytes).await;
    let _ = stream.shutdown().await;
    let mut answer = [0; 512];
    let _ = tokio::time::timeout(Duration::from_secs(5), stream.read(&mut answer)).await;
}

#[tokio::test]
async fn sixty_four_misbehaving_connections_do_not_disturb_another() {
    let node = std::sync::Arc::new(on_demand().await);
    let rubbish: [&[u8]; 8] = [
        b"",
        b"\x00\x01\x02\x03\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Len",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{\"id\":1",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 18446744073709551615\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n\xff\xff\xff\xff",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 7\r\n\r\n[[[[[[[",
    ];
    let mut troublemakers = JoinSet::new();
    for index in 0..64 {
        let node = node.clone();
        troublemakers.spawn(async move {
            let client = RpcClient::new(node.server().address());
            for turn in 0..8 {
                throw(&node, rubbish[(index + turn) % rubbish.len()]).await;
                let params = nonsense().swap_remove((index * 7 + turn) % nonsense().len());
                let _ = client.call::<Value>("eth_call", params).await;
                let _ = client.post(vec![b'['; 10_000]).await;
            }
        });
    }
    let client = node.client();
    let mut right_answers = 0;
    while !troublemakers.is_empty() {
        while troublemakers.try_join_next().is_some() {}
        let chain: String = client.call("eth_chainId", json!([])).await.expect("an answer");
        assert_eq!(chain, "0x228d");
        let balance: U256 = client.call("eth_getBalance", json!([ALICE, "latest"])).await.expect("an answer");
        assert!(balance > U256::ZERO);
        client.mine().await.expect("a block");
        right_answers += 1;
    }
    assert!(right_answers > 0);
    assert_eq!(client.block_number().await.unwrap(), right_answers);
    assert_calm(&node);
}
