//! Filters of two replicas that share them through Redis: any of the two answers any poll.

use chainnet_gateway::{Gateway, RedisFilters};
use futures_util::future::join_all;
use serde_json::{Value, json};
use testkit::Redis;

use crate::{
    dev::Dev,
    front::{Front, open, request},
    peer::Peer,
};

async fn replica(dev: &Dev, redis: &Redis) -> (Front, Peer) {
    let filters = RedisFilters::new(&redis.url(), "devnet").expect("an address");
    let upstream = dev.in_process();
    let front = Front::made(|access| Gateway::replica(open(), upstream, access, filters)).await;
    front.ready().await;
    let peer = Peer::open(front.address).await;
    (front, peer)
}

async fn changes(peer: &mut Peer, id: &Value) -> Vec<Value> {
    peer.result("eth_getFilterChanges", json!([id])).await.as_array().expect("a list").clone()
}

#[tokio::test]
async fn polls_may_go_to_any_replica() {
    let Some(redis) = Redis::start().await.unwrap() else { return };
    let dev = Dev::start();
    let ((_one, mut one), (_two, mut two)) = (replica(&dev, &redis).await, replica(&dev, &redis).await);
    let emitters = dev.deploy_emitters().await;
    one.at_head(dev.head()).await;
    let blocks = one.result("eth_newBlockFilter", json!([])).await;
    let logs = one.result("eth_newFilter", json!([{ "address": emitters[0] }])).await;
    for round in 0..4 {
        dev.emit(emitters[0], &[]);
        dev.mine().await;
        one.at_head(dev.head()).await;
        two.at_head(dev.head()).await;
        let (asked, other) = if round % 2 == 0 { (&mut two, &mut one) } else { (&mut one, &mut two) };
        assert_eq!(changes(asked, &blocks).await, [json!(dev.chain.head().block.hash)]);
        assert_eq!(changes(asked, &logs).await.len(), 1);
        assert!(changes(other, &blocks).await.is_empty());
    }
    assert_eq!(two.result("eth_uninstallFilter", json!([blocks])).await, true);
    assert_eq!(one.ask("eth_getFilterChanges", json!([blocks])).await["error"]["code"], -32000);
}

#[tokio::test]
async fn polls_at_once_share_what_is_new_among_them() {
    let Some(redis) = Redis::start().await.unwrap() else { return };
    let dev = Dev::start();
    let ((one, mut peer), (two, _)) = (replica(&dev, &redis).await, replica(&dev, &redis).await);
    let id = peer.result("eth_newBlockFilter", json!([])).await;
    let mut mined = Vec::new();
    for _ in 0..5 {
        dev.mine().await;
        mined.push(json!(dev.chain.head().block.hash));
    }
    for front in [&one, &two] {
        Peer::open(front.address).await.at_head(dev.head()).await;
    }
    let answers = join_all(
        (0..10).map(|turn| [&one, &two][turn % 2].post(request(1, "eth_getFilterChanges", json!([id])))),
    )
    .await;
    let found: Vec<Value> = answers
        .iter()
        .flat_map(|reply| reply.json()["result"].as_array().cloned().unwrap_or_default())
        .collect();
    assert_eq!(found, mined, "{answers:?}");
}

#[tokio::test]
async fn without_redis_polls_are_refused_for_the_moment() {
    let Some(mut redis) = Redis::start().await.unwrap() else { return };
    let dev = Dev::start();
    let (_front, mut peer) = replica(&dev, &redis).await;
    let id = peer.result("eth_newBlockFilter", json!([])).await;
    redis.kill().await.unwrap();
    let refused = peer.ask("eth_getFilterChanges", json!([id])).await;
    assert_eq!(refused["error"]["code"], -32002, "{refused}");
    assert_eq!(refused["error"]["data"]["reason"], "filters_unavailable");
    redis.start_again().await.unwrap();
    // The new server knows nothing, and the caller is told to install the filter again.
    let answered = async {
        loop {
            let answer = peer.ask("eth_getFilterChanges", json!([id])).await;
            if answer["error"]["code"] != -32002 {
                return answer;
            }
        }
    };
    assert_eq!(crate::world::in_time(answered).await["error"]["code"], -32000);
}
