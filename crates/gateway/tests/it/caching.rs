//! What is asked of a node, and what is not asked again.

use chain::RawError;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::{
    front::{Front, open},
    recorder::Recorder,
    world::{MULTICALL, World, in_time},
};

/// Multicall's `getBlockNumber()`, and a function that it does not have, which reverts.
const GET_BLOCK_NUMBER: &str = "0x42cbb15c";
const NO_FUNCTION: &str = "0xdeadbeef";

fn call(data: &str) -> Value {
    json!([{ "to": MULTICALL, "data": data }, "latest"])
}

#[tokio::test]
async fn the_second_of_two_equal_reads_asks_nobody() {
    let world = World::new();
    world.mine().await;
    let recorder = Recorder::over(world.in_process());
    let front = Front::new(open(), recorder.clone()).await;
    for (method, params) in [
        ("eth_call", call(GET_BLOCK_NUMBER)),
        ("eth_getBalance", json!([MULTICALL, "0x0"])),
        ("eth_gasPrice", json!([])),
        ("eth_getTransactionReceipt", json!([format!("0x{:064x}", 1)])),
        ("web3_sha3", json!(["0x01"])),
        ("ibft_getValidatorsByBlockNumber", json!(["latest"])),
    ] {
        let first = front.ask(method, params.clone()).await;
        assert_eq!(front.ask(method, params).await, first);
        assert_eq!(recorder.asked(method), 1, "{method}");
    }
    // One question however it is written.
    front
        .post(format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"eth_getBalance","params":[ "{MULTICALL}" , "0x0" ]}}"#
        ))
        .await;
    assert_eq!(recorder.asked("eth_getBalance"), 1);
}

#[tokio::test]
async fn a_new_head_drops_what_depended_on_the_last_and_nothing_else() {
    let world = World::new();
    world.mine().await;
    let recorder = Recorder::over(world.in_process());
    let front = Front::new(open(), recorder.clone()).await;
    let one = front.ask("eth_call", call(GET_BLOCK_NUMBER)).await;
    front.ask("eth_getBalance", json!([MULTICALL, "0x1"])).await;
    front.ask("eth_gasPrice", json!([])).await;
    world.mine().await;
    front.reach(2).await;
    let two = front.ask("eth_call", call(GET_BLOCK_NUMBER)).await;
    assert_ne!(one, two);
    front.ask("eth_getBalance", json!([MULTICALL, "0x1"])).await;
    front.ask("eth_gasPrice", json!([])).await;
    let asked = ["eth_call", "eth_getBalance", "eth_gasPrice"].map(|method| recorder.asked(method));
    assert_eq!(asked, [2, 1, 2]);
}

#[tokio::test]
async fn fifty_who_ask_the_same_at_once_are_one_question() {
    let world = World::new();
    let recorder = Recorder::over(world.in_process());
    let front = Front::new(open(), recorder.clone()).await;
    recorder.hold();
    let askers: Vec<_> = (0..50)
        .map(|_| {
            let connecting = front.connect();
            async move { connecting.await.call("eth_call", call(GET_BLOCK_NUMBER)).await.result() }
        })
        .collect();
    let releasing = async {
        in_time(async {
            while recorder.asked("eth_call") == 0 {
                tokio::task::yield_now().await
            }
        })
        .await;
        // All of them have sent their request when a request sent after theirs is answered.
        for _ in 0..50 {
            front.block_number().await;
        }
        recorder.release();
    };
    let (answers, ()) = tokio::join!(join_all(askers), releasing);
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(recorder.asked("eth_call"), 1);
}

#[tokio::test]
async fn who_waits_for_somebody_that_fails_asks_again() {
    let world = World::new();
    let recorder = Recorder::over(world.in_process());
    let front = Front::new(open(), recorder.clone()).await;
    recorder.hold();
    recorder.fail_times(RawError::Unavailable, 1);
    let askers: Vec<_> = (0..10)
        .map(|_| {
            let connecting = front.connect();
            async move { connecting.await.call("eth_call", call(GET_BLOCK_NUMBER)).await.status.as_u16() }
        })
        .collect();
    let releasing = async {
        in_time(async {
            while recorder.asked("eth_call") == 0 {
                tokio::task::yield_now().await
            }
        })
        .await;
        for _ in 0..10 {
            front.block_number().await;
        }
        recorder.release();
    };
    let (statuses, ()) = tokio::join!(join_all(askers), releasing);
    assert_eq!(statuses.iter().filter(|status| **status == 503).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 9, "{statuses:?}");
    assert_eq!(recorder.asked("eth_call"), 2);
}

#[tokio::test]
async fn reverts_are_kept_and_other_errors_are_not() {
    let world = World::new();
    let recorder = Recorder::over(world.in_process());
    let front = Front::new(open(), recorder.clone()).await;
    let first = front.call("eth_call", call(NO_FUNCTION)).await.json();
    assert_eq!(first["error"]["code"], -32000, "{first}");
    assert_eq!(front.call("eth_call", call(NO_FUNCTION)).await.json(), first);
    assert_eq!(recorder.asked("eth_call"), 1);
    for asked in 1..=2 {
        assert_eq!(front.call("eth_getBalance", json!(["0x1", "latest"])).await.refusal().1, -32602);
        assert_eq!(recorder.asked("eth_getBalance"), asked);
    }
}

#[tokio::test]
async fn a_new_block_is_known_before_anybody_asks() {
    let world = World::new();
    let recorder = Recorder::over(world.in_process());
    let front = Front::new(open(), recorder.clone()).await;
    let (raw, hash) = world.transfer(0);
    assert_eq!(front.ask("eth_sendRawTransaction", json!([raw])).await, hash);
    world.mine().await;
    front.reach(1).await;
    let before = ["eth_getBlockByNumber", "eth_getBlockReceipts"].map(|method| recorder.asked(method));
    let full = front.ask("eth_getBlockByNumber", json!(["latest", true])).await;
    assert_eq!(full["transactions"][0]["hash"], hash);
    let short = front.ask("eth_getBlockByNumber", json!(["0x1", false])).await;
    assert_eq!(short["transactions"], json!([hash]));
    let block_hash = full["hash"].clone();
    assert_eq!(front.ask("eth_getBlockByHash", json!([block_hash, true])).await, full);
    assert_eq!(front.ask("eth_getBlockByHash", json!([block_hash, false])).await, short);
    assert_eq!(front.ask("eth_getTransactionByHash", json!([hash])).await, full["transactions"][0]);
    let receipts = front.ask("eth_getBlockReceipts", json!(["latest"])).await;
    assert_eq!(front.ask("eth_getTransactionReceipt", json!([hash])).await, receipts[0]);
    assert_eq!(front.ask("eth_getLogs", json!([{ "fromBlock": "latest" }])).await, json!([]));
    let after = ["eth_getBlockByNumber", "eth_getBlockReceipts"].map(|method| recorder.asked(method));
    assert_eq!(before, after);
    for method in
        ["eth_getBlockByHash", "eth_getTransactionByHash", "eth_getTransactionReceipt", "eth_getLogs"]
    {
        assert_eq!(recorder.asked(method), 0, "{method}");
    }
}

#[tokio::test]
async fn what_a_node_says_of_a_block_is_what_is_kept_of_it() {
    let world = World::new();
    let front = Front::new(open(), world.in_process()).await;
    let (raw, _) = world.logging(0);
    front.ask("eth_sendRawTransaction", json!([raw])).await;
    world.mine().await;
    front.reach(1).await;
    // A second gateway that was not there when the block was new has to ask.
    world.mine().await;
    let late = Front::new(open(), world.in_process()).await;
    let hash = front.ask("eth_getBlockByNumber", json!(["0x1", false])).await["transactions"][0].clone();
    for (method, params) in [
        ("eth_getBlockByNumber", json!(["0x1", true])),
        ("eth_getBlockByNumber", json!(["0x1", false])),
        ("eth_getTransactionByHash", json!([hash])),
        ("eth_getTransactionReceipt", json!([hash])),
        ("eth_getBlockReceipts", json!(["0x1"])),
        ("eth_getLogs", json!([{ "fromBlock": "0x1", "toBlock": "0x1" }])),
    ] {
        let (kept, asked) = (front.call(method, params.clone()).await, late.call(method, params).await);
        assert_eq!(kept.text(), asked.text(), "{method}");
    }
}
