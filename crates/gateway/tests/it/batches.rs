//! Ids, notifications and batches.

use chainnet_gateway::{GatewayConfig, Limits};
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::{
    front::{Front, open, request},
    recorder::Recorder,
    world::World,
};

#[tokio::test]
async fn ids_come_back_byte_for_byte() {
    let world = World::new();
    let front = Front::new(open(), world.in_process()).await;
    for id in ["1", "\"one\"", "9223372036854775808", "null", "1.50", "-0", "1e5", "\"\\u00e9\\\"\"", "\"\""]
    {
        let reply = front.post(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"eth_chainId"}}"#)).await;
        assert_eq!(reply.text(), format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"0x228d"}}"#));
        let refused = front.post(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"debug_x"}}"#)).await;
        assert!(refused.text().starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error""#)));
    }
}

#[tokio::test]
async fn notifications_are_done_and_not_answered() {
    let world = World::new();
    let front = Front::new(open(), world.in_process()).await;
    let (raw, hash) = world.transfer(0);
    let reply = front
        .post(json!({ "jsonrpc": "2.0", "method": "eth_sendRawTransaction", "params": [raw] }).to_string())
        .await;
    assert_eq!((reply.status.as_u16(), reply.text()), (200, ""));
    assert_eq!(front.ask("eth_getTransactionByHash", json!([hash])).await["hash"], hash);
    let silent = r#"[{"jsonrpc":"2.0","method":"eth_chainId"},{"jsonrpc":"2.0","method":"eth_chainId"}]"#;
    assert_eq!(front.post(silent).await.text(), "");
    let mixed =
        r#"[{"jsonrpc":"2.0","method":"eth_chainId"},{"jsonrpc":"2.0","id":2,"method":"eth_chainId"}]"#;
    assert_eq!(front.post(mixed).await.text(), r#"[{"jsonrpc":"2.0","id":2,"result":"0x228d"}]"#);
}

#[tokio::test]
async fn a_batch_is_answered_in_its_order_and_equal_requests_are_asked_once() {
    let world = World::new();
    let recorder = Recorder::over(world.in_process());
    let front = Front::new(open(), recorder.clone()).await;
    let account = |n: u64| json!([format!("0x{:040x}", n % 10), "latest"]);
    let requests: Vec<_> = (0..100).map(|n| request(n, "eth_getBalance", account(n))).collect();
    let reply = front.post(format!("[{}]", requests.join(","))).await;
    let answers: Vec<Value> = serde_json::from_slice(&reply.body).unwrap();
    let ids: Vec<_> = answers.iter().map(|answer| answer["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, (0..100).collect::<Vec<_>>());
    assert_eq!(recorder.asked("eth_getBalance"), 10);
}

#[tokio::test]
async fn the_requests_of_a_batch_are_asked_together() {
    let world = World::new();
    let recorder = Recorder::over(world.in_process());
    let limits = Limits { batch_parallel: 16, ..Limits::default() };
    let front = Front::new(GatewayConfig { limits, ..open() }, recorder.clone()).await;
    recorder.hold();
    let requests: Vec<_> =
        (0..40).map(|n| request(n, "eth_getBalance", json!([format!("0x{n:040x}"), "latest"]))).collect();
    let mut connection = front.connect().await;
    let body = format!("[{}]", requests.join(","));
    let asking = tokio::spawn(async move { connection.send("POST", "/", &[], body).await });
    let together = async {
        while recorder.asked("eth_getBalance") < 16 {
            tokio::task::yield_now().await
        }
    };
    crate::world::in_time(together).await;
    assert_eq!(recorder.asked("eth_getBalance"), 16, "no more than allowed at a time");
    recorder.release();
    assert_eq!(asking.await.unwrap().json().as_array().unwrap().len(), 40);
}

#[tokio::test]
async fn many_callers_are_answered_each_with_their_own_ids() {
    let world = World::new();
    let front = Front::new(open(), world.in_process()).await;
    let callers = (0..50u64).map(|caller| {
        let front = &front;
        async move {
            let mut connection = front.connect().await;
            for round in 0..20 {
                let id = caller * 1000 + round;
                let reply = connection.send("POST", "/", &[], request(id, "eth_gasPrice", json!([]))).await;
                assert_eq!(reply.json()["id"], id);
            }
        }
    });
    join_all(callers).await;
}
