//! One head for everybody: pinned reads, and a height that never falls.

use serde_json::{Value, json};

use crate::{
    front::{Front, number, open, request},
    recorder::Recorder,
    world::{MULTICALL, World},
};

#[tokio::test]
async fn names_of_the_head_are_sent_on_as_its_number() {
    let world = World::new();
    world.mine_to(3).await;
    let recorder = Recorder::over(world.in_process());
    let front = Front::new(open(), recorder.clone()).await;
    for (index, tag) in [Some("latest"), Some("safe"), Some("finalized"), None].into_iter().enumerate() {
        let account = format!("0x{index:040x}");
        let mut params = vec![json!(account)];
        params.extend(tag.map(|tag| json!(tag)));
        front.ask("eth_getBalance", json!(params)).await;
        assert_eq!(recorder.params("eth_getBalance").last().unwrap(), &format!(r#"["{account}","0x3"]"#));
    }
    front.ask("eth_getTransactionCount", json!([MULTICALL, "pending"])).await;
    assert_eq!(recorder.params("eth_getTransactionCount"), [format!(r#"["{MULTICALL}","pending"]"#)]);
}

#[tokio::test]
async fn a_batch_sees_one_block() {
    let world = World::new();
    world.mine().await;
    let recorder = Recorder::over(world.in_process());
    let front = Front::new(open(), recorder.clone()).await;
    // Half of the batch is answered only after a new head.
    recorder.hold();
    let requests = [
        request(1, "eth_getBalance", json!([MULTICALL, "latest"])),
        request(2, "eth_blockNumber", json!([])),
        request(3, "eth_getBlockByNumber", json!(["latest", false])),
        request(4, "eth_getCode", json!(["0x00000000000000000000000000000000000000bb", "latest"])),
    ];
    let mut connection = front.connect().await;
    let body = format!("[{}]", requests.join(","));
    let asking = tokio::spawn(async move { connection.send("POST", "/", &[], body).await });
    crate::world::in_time(async {
        while recorder.asked("eth_getCode") == 0 {
            tokio::task::yield_now().await
        }
    })
    .await;
    world.mine().await;
    recorder.release();
    front.reach(2).await;
    let answers = asking.await.unwrap().json();
    assert_eq!(answers[1]["result"], "0x1");
    assert_eq!(answers[2]["result"]["number"], "0x1");
    assert!(recorder.params("eth_getCode")[0].ends_with(r#","0x1"]"#));
    assert!(recorder.params("eth_getBalance")[0].ends_with(r#","0x1"]"#));
}

#[tokio::test]
async fn local_answers_need_no_node() {
    let world = World::new();
    let recorder = Recorder::over(world.in_process());
    let front = Front::new(open(), recorder.clone()).await;
    for (method, expected) in [
        ("eth_chainId", json!("0x228d")),
        ("net_version", json!("8845")),
        ("eth_syncing", json!(false)),
        ("eth_accounts", json!([])),
        ("net_listening", json!(true)),
        ("eth_blockNumber", json!("0x0")),
    ] {
        assert_eq!(front.ask(method, json!([])).await, expected, "{method}");
        assert_eq!(recorder.asked(method), 0, "{method}");
    }
    let version = front.ask("web3_clientVersion", json!([])).await;
    assert!(version.as_str().unwrap().starts_with("chainnet-gateway/"), "{version}");
}

#[tokio::test]
async fn a_development_chain_that_is_set_back_is_followed() {
    let world = World::new();
    world.mine_to(2).await;
    let front = Front::new(open(), world.in_process()).await;
    let snapshot = world.control.snapshot().await.unwrap();
    let (raw, hash) = world.transfer(0);
    front.ask("eth_sendRawTransaction", json!([raw])).await;
    world.mine().await;
    front.reach(3).await;
    let block = front.ask("eth_getBlockByNumber", json!(["0x3", false])).await;
    assert_eq!(block["transactions"], json!([hash]));
    assert!(world.control.revert(snapshot).await.unwrap());
    crate::world::in_time(async { while front.block_number().await != 2 {} }).await;
    assert_eq!(front.ask("eth_getBlockByNumber", json!(["0x3", false])).await, Value::Null);
    world.control.increase_time(60).await.unwrap();
    world.mine().await;
    front.reach(3).await;
    let other = front.ask("eth_getBlockByNumber", json!(["0x3", false])).await;
    assert_ne!(other["hash"], block["hash"]);
    assert_eq!(number(&other["number"]), 3);
}
