//! Many subscribers, and one that does not keep up.

use futures_util::future::join_all;
use prometheus_client::encoding::text::encode;
use serde_json::json;

use crate::{
    dev::Dev,
    front::{Front, open},
    peer::Peer,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_peer_is_closed_with_the_reason_while_others_go_on() {
    const BLOCKS: u64 = 40;
    let dev = Dev::start();
    let front = Front::new(open(), dev.in_process()).await;
    let loud = dev.deploy_loud(20_000).await;
    let (mut slow, mut quick) = (Peer::narrow(front.address).await, Peer::open(front.address).await);
    // Every log comes 32 times, so that a block is far more than the machine holds for a peer that does not read.
    for _ in 0..32 {
        slow.subscribe(json!(["logs", { "address": loud }])).await;
    }
    quick.subscribe(json!(["newHeads"])).await;
    let first = dev.head() + 1;
    for number in first..first + BLOCKS {
        (0..4).for_each(|_| {
            dev.emit(loud, &[]);
        });
        dev.mine().await;
        assert_eq!(quick.heads(1).await, [number]);
    }
    let (code, reason) = slow.goodbye().await;
    assert_eq!((code, reason.as_str()), (1013, "too slow: events were not read in time, some are lost"));
    dev.mine().await;
    assert_eq!(quick.heads(1).await, [first + BLOCKS]);
    let mut metrics = String::new();
    encode(&mut metrics, &front.gateway.registry().lock()).expect("metrics");
    assert!(metrics.contains(r#"gateway_socket_endings_total{reason="too_slow"} 1"#), "{metrics}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_hundred_subscribers_hear_of_every_head() {
    const PEERS: usize = 500;
    const BLOCKS: u64 = 5;
    let dev = Dev::start();
    let front = Front::new(open(), dev.in_process()).await;
    let mut peers = Vec::with_capacity(PEERS);
    for _ in 0..PEERS {
        let mut peer = Peer::open(front.address).await;
        peer.subscribe(json!(["newHeads"])).await;
        peers.push(peer);
    }
    for _ in 0..BLOCKS {
        dev.mine().await;
    }
    let heard = join_all(peers.iter_mut().map(|peer| peer.heads(BLOCKS as usize))).await;
    let expected: Vec<u64> = (1..=BLOCKS).collect();
    assert!(heard.iter().all(|heads| *heads == expected));
}
