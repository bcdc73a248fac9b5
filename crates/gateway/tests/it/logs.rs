//! Logs: from memory, from nodes in stretches, and put together again.

use chainnet_gateway::{GatewayConfig, Limits};
use serde_json::{Value, json};

use crate::{
    front::{Front, number, open},
    recorder::Recorder,
    world::World,
};

const TOPIC: &str = "0x000000000000000000000000000000000000000000000000000000000000002a";

/// A chain with one log in each of these blocks.
async fn world_with_logs(blocks: u64) -> World {
    let world = World::new();
    let upstream = world.in_process();
    for nonce in 0..blocks {
        let (raw, _) = world.logging(nonce);
        let params = json!([raw]).to_string().into();
        let call =
            chain::RawCall { method: "eth_sendRawTransaction", params, lane: chain::Lane::Write, at: 0 };
        chain::RawUpstream::call(&*upstream, call).await.unwrap();
        world.mine().await;
    }
    world
}

fn blocks(logs: &Value) -> Vec<u64> {
    logs.as_array().unwrap().iter().map(|log| number(&log["blockNumber"])).collect()
}

#[tokio::test]
async fn a_long_range_is_asked_in_stretches_and_each_is_kept() {
    let world = world_with_logs(12).await;
    let recorder = Recorder::over(world.in_process());
    let limits = Limits { log_chunk: 5, ..Limits::default() };
    let front = Front::new(GatewayConfig { limits, ..open() }, recorder.clone()).await;
    let all = front.ask("eth_getLogs", json!([{ "fromBlock": "0x0", "toBlock": "latest" }])).await;
    assert_eq!(blocks(&all), (1..=12).collect::<Vec<_>>());
    assert_eq!(recorder.asked("eth_getLogs"), 3);
    let some =
        front.ask("eth_getLogs", json!([{ "fromBlock": "0x5", "toBlock": "0x9", "topics": [] }])).await;
    assert_eq!(blocks(&some), [5, 6, 7, 8, 9]);
    assert_eq!(recorder.asked("eth_getLogs"), 3, "a stretch that was asked before");
    let matching = front.ask("eth_getLogs", json!([{ "fromBlock": "0x0", "topics": [TOPIC] }])).await;
    assert_eq!(matching, all);
    let none = front.ask("eth_getLogs", json!([{ "fromBlock": "0x0", "topics": [null, TOPIC] }])).await;
    assert_eq!(none, json!([]));
}

#[tokio::test]
async fn new_blocks_are_looked_up_in_memory() {
    let world = World::new();
    let recorder = Recorder::over(world.in_process());
    let front = Front::new(open(), recorder.clone()).await;
    for nonce in 0..3 {
        front.ask("eth_sendRawTransaction", json!([world.logging(nonce).0])).await;
        world.mine().await;
        front.reach(nonce + 1).await;
    }
    let all = front.ask("eth_getLogs", json!([{ "fromBlock": "0x1", "toBlock": "latest" }])).await;
    assert_eq!(blocks(&all), [1, 2, 3]);
    let address = &all[1]["address"];
    let one = front.ask("eth_getLogs", json!([{ "fromBlock": "0x0", "address": address }])).await;
    assert_eq!(one, json!([all[1]]));
    let by_hash =
        front.ask("eth_getLogs", json!([{ "blockHash": all[2]["blockHash"], "topics": [[TOPIC]] }])).await;
    assert_eq!(by_hash, json!([all[2]]));
    assert_eq!(recorder.asked("eth_getLogs"), 0);
}

#[tokio::test]
async fn bad_filters_and_ranges_are_refused() {
    let world = World::new();
    world.mine_to(3).await;
    let limits = Limits { max_log_blocks: 3, ..Limits::default() };
    let front = Front::new(GatewayConfig { limits, ..open() }, world.in_process()).await;
    for (filter, reason) in [
        (json!({ "fromBlock": "0x0" }), "range_too_long"),
        (json!({ "fromBlock": "0x3", "toBlock": "0x1" }), "bad_range"),
        (json!({ "fromBlock": "x" }), "bad_range"),
        (json!({ "address": "0x1" }), "bad_filter"),
        (json!("latest"), "bad_filter"),
    ] {
        let reply = front.call("eth_getLogs", json!([filter])).await;
        assert_eq!(reply.refusal(), (200, -32602, reason.to_owned()), "{filter}");
    }
    let future = front.ask("eth_getLogs", json!([{ "fromBlock": "0x10", "toBlock": "0x20" }])).await;
    assert_eq!(future, json!([]));
}
