//! Several nodes, some of them in trouble.

use std::{sync::Arc, time::Duration};

use chainnet_chain::{
    ChainClient, ChainError,
    remote::{ConnectError, RemoteClient, RemoteConfig},
};
use futures_util::future::join_all;
use hyper::StatusCode;
use tokio::net::TcpListener;

use crate::fake::{FakeNode, Fault, head_at_least, in_time, unused_address};

fn config() -> RemoteConfig {
    RemoteConfig {
        poll_interval: Duration::from_millis(20),
        failures_before_pause: 2,
        pause: Duration::from_secs(3600),
        ..RemoteConfig::default()
    }
}

async fn connect(nodes: &[&FakeNode], config: RemoteConfig) -> RemoteClient {
    let urls: Vec<_> = nodes.iter().map(|node| node.url()).collect();
    RemoteClient::connect(&urls, config).await.expect("a client")
}

#[tokio::test]
async fn the_next_node_answers_when_one_fails() {
    for fault in [
        Fault::HangUp,
        Fault::Status(StatusCode::SERVICE_UNAVAILABLE),
        Fault::Body("garbage".into()),
        Fault::Silence,
    ] {
        let (first, second) = (FakeNode::at(5).await, FakeNode::at(5).await);
        let config = RemoteConfig { request_timeout: Duration::from_millis(300), ..config() };
        let client = connect(&[&first, &second], config).await;
        first.fail(fault);
        for number in 0..=5 {
            let block = client.block(number).await.expect("an answer").expect("a block");
            assert_eq!(block.number(), number);
        }
        assert!(client.is_reachable());
    }
}

#[tokio::test]
async fn a_node_that_keeps_failing_is_left_alone() {
    // A request on a kept connection that breaks is sent again on a fresh one.
    for (fault, requests) in [(Fault::HangUp, 2..=4), (Fault::Body("garbage".into()), 2..=2)] {
        let (first, second) = (FakeNode::at(5).await, FakeNode::at(5).await);
        let config = RemoteConfig { poll_interval: Duration::from_secs(3600), ..config() };
        let client = connect(&[&first, &second], config).await;
        first.fail(fault);
        for _ in 0..5 {
            client.gas_price().await.expect("a price");
        }
        assert!(!client.nodes()[0].is_reachable());
        let asked = first.asked("eth_gasPrice");
        assert!(requests.contains(&asked), "{asked}");
        second.fail(Fault::HangUp);
        for _ in 0..3 {
            assert!(client.gas_price().await.is_err());
        }
        assert!(!client.is_reachable());
        let error = client.gas_price().await.expect_err("nobody left");
        assert!(matches!(error, ChainError::Unavailable(None)), "{error:?}");
        assert_eq!(first.asked("eth_gasPrice"), asked);
    }
}

#[tokio::test]
async fn a_node_that_is_back_is_asked_again() {
    let node = FakeNode::at(5).await;
    let client = connect(&[&node], config()).await;
    node.fail(Fault::HangUp);
    in_time(async {
        while client.is_reachable() {
            let _ = client.gas_price().await;
            tokio::task::yield_now().await;
        }
    })
    .await;
    node.fail(Fault::None);
    node.mine_to(6);
    head_at_least(&client, 6).await;
    assert_eq!(client.block(6).await.expect("an answer"), Some(node.ledger().block(6)));
    assert!(client.is_reachable());
}

#[tokio::test]
async fn a_client_starts_without_nodes_and_finds_them_later() {
    let address = unused_address().await;
    let url = format!("http://{address}").parse().expect("a URL");
    let client = RemoteClient::connect(&[url], config()).await.expect("a client");
    assert!(!client.is_reachable());
    assert!(client.heads().borrow().is_none());
    assert!(matches!(client.block(0).await, Err(ChainError::Unavailable(_))));
    assert!(matches!(client.chain_id().await, Err(ChainError::Unavailable(_))));
    let node = FakeNode::on(TcpListener::bind(address).await.expect("the port"), 3);
    head_at_least(&client, 3).await;
    assert_eq!(client.chain_id().await.expect("an id"), 8845);
    assert_eq!(client.block(3).await.expect("an answer"), Some(node.ledger().block(3)));
}

#[tokio::test]
async fn a_node_that_lags_is_not_asked() {
    let (ahead, behind) = (FakeNode::at(10).await, FakeNode::at(2).await);
    let client = connect(&[&behind, &ahead], config()).await;
    head_at_least(&client, 10).await;
    for number in [0, 1, 2, 9, 10] {
        assert!(client.block(number).await.expect("an answer").is_some());
    }
    assert_eq!(client.block(2).await.expect("an answer").map(|block| block.number()), Some(2));
    assert!(!client.nodes()[0].is_usable(Some(10)) && client.nodes()[1].is_usable(Some(10)));
    assert!(client.is_reachable());
    // With the better node gone nobody is left to ask, until the other has caught up.
    ahead.fail(Fault::HangUp);
    assert!(client.block(1).await.is_err());
    behind.mine_to(9);
    in_time(async {
        while client.block(1).await.is_err() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn the_served_head_never_goes_back() {
    let (first, second) = (FakeNode::at(5).await, FakeNode::at(3).await);
    let client = connect(&[&first, &second], config()).await;
    let mut heads = client.heads();
    let mut last = heads.borrow_and_update().as_ref().map_or(0, |head| head.number());
    assert_eq!(last, 5);
    first.fail(Fault::HangUp);
    for height in 4..=12 {
        second.mine_to(height);
        if height <= 5 {
            continue;
        }
        in_time(async {
            while last < height {
                heads.changed().await.expect("an open channel");
                let now = heads.borrow_and_update().as_ref().map_or(0, |head| head.number());
                assert!(now > last, "from {last} to {now}");
                last = now;
            }
        })
        .await;
    }
}

#[tokio::test]
async fn nodes_on_different_chains_are_refused_by_name() {
    let (first, second) = (FakeNode::at(5).await, FakeNode::at(5).await);
    second.change(|script| script.chain_id = 1);
    let urls = [first.url(), second.url()];
    let Err(error) = RemoteClient::connect(&urls, config()).await else { panic!("connected") };
    let text = error.to_string();
    assert!(matches!(error, ConnectError::Disagreement { .. }));
    for part in [first.url().to_string(), second.url().to_string(), "8845".to_owned(), " 1,".to_owned()] {
        assert!(text.contains(&part), "{text}");
    }
    let config = RemoteConfig { chain_id: Some(8846), ..config() };
    let Err(error) = RemoteClient::connect(&urls[..1], config).await else { panic!("connected") };
    assert!(matches!(error, ConnectError::WrongChain { found: 8845, expected: 8846, .. }), "{error}");
    assert!(matches!(RemoteClient::connect(&[], self::config()).await, Err(ConnectError::NoNodes)));
}

#[tokio::test]
async fn a_node_of_another_chain_that_comes_later_is_not_asked() {
    let address = unused_address().await;
    let good = FakeNode::at(5).await;
    let urls = [format!("http://{address}").parse().expect("a URL"), good.url()];
    let client = RemoteClient::connect(&urls, config()).await.expect("a client");
    let stranger = FakeNode::on(TcpListener::bind(address).await.expect("the port"), 9);
    stranger.change(|script| script.chain_id = 1);
    in_time(async {
        while stranger.asked("eth_chainId") < 3 {
            client.gas_price().await.expect("a price");
        }
    })
    .await;
    assert_eq!(stranger.asked("eth_gasPrice") + stranger.asked("eth_getBlockByNumber"), 0);
    assert_eq!(client.heads().borrow().as_ref().map(|head| head.number()), Some(5));
}

#[tokio::test]
async fn connections_to_a_node_are_bounded() {
    let node = FakeNode::at(5).await;
    let config = RemoteConfig { max_connections: 4, poll_interval: Duration::from_secs(3600), ..config() };
    let client = Arc::new(connect(&[&node], config).await);
    node.subscribed(1).await;
    node.hold();
    let readers = (0..60).map(|index| {
        let client = Arc::clone(&client);
        tokio::spawn(async move { client.block(index % 6).await })
    });
    let readers: Vec<_> = readers.collect();
    in_time(async {
        while client.nodes()[0].in_flight() < 3 {
            tokio::task::yield_now().await
        }
    })
    .await;
    node.release();
    for block in in_time(join_all(readers)).await {
        assert!(block.expect("a reader").expect("an answer").is_some());
    }
    // The fourth is for our own questions, and the feed has a connection of its own.
    assert!((4..=5).contains(&node.most_connections()), "{}", node.most_connections());
}
