//! The error table: every row, and what comes with it.

use std::time::Duration;

use chain::RawError;
use chainnet_gateway::{Door, GatewayConfig, Limits};
use serde_json::{Value, json};

use crate::{
    front::{Front, keyed, open, request},
    recorder::Recorder,
    world::World,
};

fn limited(requests_per_minute: u32) -> GatewayConfig {
    GatewayConfig {
        door: Door::Open { requests_per_minute: requests_per_minute.try_into().unwrap() },
        ..GatewayConfig::default()
    }
}

#[tokio::test]
async fn messages_that_are_no_requests() {
    let world = World::new();
    let front = Front::new(open(), world.in_process()).await;
    assert_eq!(front.post("nonsense").await.refusal(), (400, -32700, "not_json".to_owned()));
    assert_eq!(front.post("{}").await.refusal(), (400, -32600, "bad_version".to_owned()));
    assert_eq!(front.post("[]").await.refusal(), (400, -32600, "empty_batch".to_owned()));
    let batch = json!(vec![json!({}); 101]).to_string();
    assert_eq!(front.post(batch).await.refusal(), (400, -32600, "long_batch".to_owned()));
    let bad = r#"{"jsonrpc":"2.0","id":"me","params":[]}"#;
    assert_eq!(front.post(bad).await.json()["id"], "me");
}

#[tokio::test]
async fn a_body_beyond_a_mebibyte_is_refused_and_the_connection_closed() {
    let world = World::new();
    let front = Front::new(open(), world.in_process()).await;
    let mut most = vec![b' '; 1024 * 1024];
    assert_eq!(front.post(most.clone()).await.refusal().1, -32700);
    most.push(b' ');
    let reply = front.post(most).await;
    assert_eq!(reply.refusal(), (413, -32600, "long_body".to_owned()));
    assert_eq!(reply.header("connection"), Some("close"));
}

#[tokio::test]
async fn a_blocked_method_is_not_found() {
    let world = World::new();
    let front = Front::new(open(), world.in_process()).await;
    for method in ["debug_traceTransaction", "admin_peers", "ibft_proposeValidatorVote", "evm_mine"] {
        let reply = front.call(method, json!([])).await;
        assert_eq!(reply.refusal(), (200, -32601, "method_not_found".to_owned()), "{method}");
    }
    assert_eq!(front.call("eth_subscribe", json!(["newHeads"])).await.refusal().1, -32604);
}

#[tokio::test]
async fn the_rate_limit_refuses_a_request_and_an_element_of_a_batch() {
    let world = World::new();
    let front = Front::new(limited(10), world.in_process()).await;
    let reply = front.call("eth_chainId", json!([])).await;
    assert_eq!(reply.header("ratelimit-limit"), Some("10"));
    assert_eq!(reply.header("ratelimit-remaining"), Some("9"));
    assert!(reply.header("ratelimit-reset").is_some());
    let one: Value = serde_json::from_str(&request(1, "eth_chainId", json!([]))).unwrap();
    let batch = front.post(json!(vec![one; 12]).to_string()).await;
    assert_eq!(batch.status.as_u16(), 200);
    let answers = batch.json();
    let codes: Vec<_> = answers.as_array().unwrap().iter().map(|a| a["error"]["code"].as_i64()).collect();
    assert_eq!(codes, [vec![None; 9], vec![Some(-32005); 3]].concat());
    let reply = front.call("eth_chainId", json!([])).await;
    assert_eq!(reply.refusal(), (429, -32005, "rate_limited".to_owned()));
    let seconds: u64 = reply.header("retry-after").unwrap().parse().unwrap();
    assert!((50..=60).contains(&seconds), "{seconds}");
    assert_eq!(reply.header("retry-after"), reply.header("ratelimit-reset"));
    let data = &reply.json()["error"]["data"];
    assert_eq!(
        (&data["scope"], &data["limit"], &data["windowSeconds"]),
        (&json!("requests"), &json!(10), &json!(60))
    );
    assert!(data["retryAfterMs"].as_u64().unwrap() > 0);
    // What is no request counts too, and so do methods that do not exist.
    assert_eq!(front.post("nonsense").await.refusal().1, -32005);
    assert_eq!(front.call("debug_x", json!([])).await.refusal().1, -32005);
    front.clock.advance(Duration::from_secs(60));
    assert_eq!(front.call("eth_chainId", json!([])).await.status.as_u16(), 200);
}

/// 300 a minute is 300 in any minute: after a burst nothing comes back before the burst is a minute old.
#[tokio::test]
async fn three_hundred_a_minute_are_three_hundred_in_any_minute() {
    let world = World::new();
    let front = Front::new(limited(300), world.in_process()).await;
    let one: Value = serde_json::from_str(&request(1, "eth_chainId", json!([]))).unwrap();
    let batch = json!(vec![one; 100]).to_string();
    let mut granted = Vec::new();
    // As much as there is, every ten seconds.
    for _ in 0..13 {
        let mut now = 0;
        for _ in 0..4 {
            let answers = front.post(batch.clone()).await.json();
            now += answers.as_array().unwrap().iter().filter(|answer| answer["result"].is_string()).count();
        }
        granted.push(now);
        front.clock.advance(Duration::from_secs(10));
    }
    for minute in granted.windows(6) {
        assert!(minute.iter().sum::<usize>() <= 300, "{granted:?}");
    }
    assert_eq!((granted[0], granted[6], granted[12]), (300, 300, 300), "{granted:?}");
}

#[tokio::test]
async fn heavy_methods_use_up_a_budget_of_their_own() {
    let world = World::new();
    let front = Front::new(limited(100), world.in_process()).await;
    // 500 units a minute, ten for each.
    for _ in 0..50 {
        front.ask("eth_getLogs", json!([{}])).await;
    }
    let reply = front.call("eth_getLogs", json!([{}])).await;
    assert_eq!((reply.refusal().1, &reply.json()["error"]["data"]["scope"]), (-32005, &json!("units")));
    assert_eq!(front.call("eth_chainId", json!([])).await.status.as_u16(), 200);
}

#[tokio::test]
async fn no_node_is_503_and_a_slow_one_504() {
    let world = World::new();
    world.mine().await;
    let recorder = Recorder::over(world.in_process());
    let front = Front::new(open(), recorder.clone()).await;
    let balance = json!(["0x00000000000000000000000000000000000000aa", "latest"]);
    for (failure, status, reason) in [
        (RawError::Unavailable, 503, "no_node"),
        (RawError::Busy, 503, "overloaded"),
        (RawError::TimedOut, 504, "timeout"),
    ] {
        recorder.fail(Some(failure));
        let reply = front.call("eth_getBalance", balance.clone()).await;
        assert_eq!(reply.refusal(), (status, -32002, reason.to_owned()));
        assert_eq!(reply.header("retry-after").is_some(), status == 503);
        // What is known without a node is still served.
        front.ask("eth_getBlockByNumber", json!(["0x1", true])).await;
        assert_eq!(front.block_number().await, 1);
        let batch = format!(
            "[{},{}]",
            request(1, "eth_getBalance", balance.clone()),
            request(2, "eth_chainId", json!([]))
        );
        let reply = front.post(batch).await;
        assert_eq!(reply.status.as_u16(), 200);
        assert_eq!(reply.json()[0]["error"]["code"], -32002);
        assert_eq!(reply.json()[1]["result"], "0x228d");
    }
    recorder.fail(None);
    front.ask("eth_getBalance", balance).await;
}

#[tokio::test]
async fn before_the_first_head_nothing_but_constants_is_answered() {
    let world = World::new();
    let front = Front::new(open(), crate::nodes::headless(&world)).await;
    assert_eq!(front.ask("eth_chainId", json!([])).await, "0x228d");
    assert_eq!(front.call("eth_blockNumber", json!([])).await.refusal(), (503, -32002, "no_head".to_owned()));
    assert_eq!(front.get("/ready").await.status.as_u16(), 503);
    assert_eq!(front.get("/health").await.status.as_u16(), 200);
}

#[tokio::test]
async fn a_nodes_own_error_is_passed_on_as_it_is() {
    let world = World::new();
    let front = Front::new(open(), world.in_process()).await;
    let reply =
        front.post(r#"{"jsonrpc":"2.0","id":7,"method":"eth_getBalance","params":["0x1","latest"]}"#).await;
    assert_eq!(reply.status.as_u16(), 200);
    let expected = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"Invalid address params"}}"#;
    assert_eq!(reply.text(), expected);
}

#[tokio::test]
async fn an_answer_beyond_the_cap_is_refused_with_advice() {
    let world = World::new();
    let limits = Limits { max_answer_bytes: 200, ..Limits::default() };
    let front = Front::new(GatewayConfig { limits, ..open() }, world.in_process()).await;
    let hash = front.ask("eth_getBalance", json!([crate::world::MULTICALL, "latest"])).await;
    assert_eq!(hash, "0x0");
    let reply = front.call("eth_getCode", json!([crate::world::MULTICALL, "latest"])).await;
    assert_eq!(reply.refusal(), (200, -32602, "long_answer".to_owned()));
}

#[tokio::test]
async fn one_callers_requests_at_a_time_are_bounded() {
    let world = World::new();
    let recorder = Recorder::over(world.in_process());
    let limits = Limits { max_concurrent: 1, ..Limits::default() };
    let front = Front::new(GatewayConfig { limits, ..open() }, recorder.clone()).await;
    recorder.hold();
    let mut waiting = front.connect().await;
    let first = tokio::spawn(async move { waiting.call("eth_gasPrice", json!([])).await });
    crate::world::in_time(async {
        while recorder.asked("eth_gasPrice") == 0 {
            tokio::task::yield_now().await
        }
    })
    .await;
    let reply = front.call("eth_maxPriorityFeePerGas", json!([])).await;
    assert_eq!((reply.refusal().0, reply.refusal().1), (429, -32005));
    assert_eq!(reply.json()["error"]["data"]["scope"], "concurrency");
    front.ask("eth_chainId", json!([])).await;
    recorder.release();
    assert_eq!(first.await.unwrap().status.as_u16(), 200);
    front.ask("eth_maxPriorityFeePerGas", json!([])).await;
}

#[tokio::test]
async fn who_has_no_key_is_told_how_to_bring_one() {
    let world = World::new();
    let front = Front::new(keyed(), world.in_process()).await;
    let reply = front.call("eth_chainId", json!([])).await;
    assert_eq!(reply.refusal(), (401, -40100, "api_key_missing".to_owned()));
    assert!(reply.header("www-authenticate").is_some());
    assert_eq!(front.get("/health").await.status.as_u16(), 200);
    assert_eq!(front.get("/ready").await.status.as_u16(), 200);
}
