//! Small reads that are asked for at the same moment.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use chainnet_chain::{
    Lane, RawCall, RawError, RawUpstream,
    remote::{RemoteClient, RemoteConfig},
};
use futures_util::{FutureExt, future::join_all};
use jsonrpc::Answer;

use crate::fake::{FakeNode, Fault, in_time};

/// The most that go together.
const MOST: usize = 16;

async fn connect(nodes: &[&FakeNode], config: RemoteConfig) -> Arc<RemoteClient> {
    let urls: Vec<_> = nodes.iter().map(|node| node.url()).collect();
    let config = RemoteConfig { poll_interval: Duration::from_millis(20), ..config };
    let client = Arc::new(RemoteClient::connect(&urls, config).await.expect("a client"));
    // What it asks on its own account is not looked at.
    nodes.iter().for_each(|node| drop(node.batches()));
    client
}

fn small(method: &'static str) -> RawCall {
    RawCall { method, params: "[]".into(), lane: Lane::Small, at: 0 }
}

async fn ask(client: &RemoteClient, calls: usize) -> Vec<Result<Answer, RawError>> {
    in_time(join_all((0..calls).map(|_| client.call(small("eth_getBalance"))))).await
}

fn result(json: &'static str) -> Result<Answer, RawError> {
    Ok(Answer::Result(Bytes::from_static(json.as_bytes())))
}

#[tokio::test]
async fn reads_that_are_asked_together_go_together_and_come_back_to_those_who_asked() {
    let node = FakeNode::at(5).await;
    let client = connect(&[&node], RemoteConfig::default()).await;
    let methods = ["eth_getBalance", "eth_getTransactionCount", "eth_nothing", "eth_getCode"];
    let calls = methods.iter().cycle().take(40).map(|method| client.call(small(method)));
    let answers = in_time(join_all(calls)).await;
    let error = Answer::Error(Bytes::from_static(br#"{"code":-32601,"message":"Method not found"}"#));
    let expected = [result("\"0x7\""), result("\"0x3\""), Ok(error), result("\"0x6001\"")];
    for (answer, expected) in answers.iter().zip(expected.iter().cycle()) {
        assert_eq!(answer, expected);
    }
    assert_eq!(node.batches(), [MOST, MOST, 8]);
}

#[tokio::test]
async fn a_read_alone_is_no_batch_and_others_are_never_part_of_one() {
    let node = FakeNode::at(5).await;
    let client = connect(&[&node], RemoteConfig::default()).await;
    assert_eq!(ask(&client, 1).await, [result("\"0x7\"")]);
    let cheap = || client.call(RawCall { lane: Lane::Cheap, ..small("eth_call") });
    assert_eq!(in_time(join_all((0..5).map(|_| cheap()))).await, vec![result("\"0x2a\""); 5]);
    assert_eq!(node.batches(), [0; 0]);
}

#[tokio::test]
async fn a_node_that_takes_no_batches_is_asked_one_by_one_from_then_on() {
    let node = FakeNode::at(5).await;
    node.change(|script| script.has_batches = false);
    let client = connect(&[&node], RemoteConfig::default()).await;
    for expected in [&[MOST, 4][..], &[]] {
        assert_eq!(ask(&client, 20).await, vec![result("\"0x7\""); 20]);
        assert_eq!(node.batches(), expected);
    }
    assert!(RawUpstream::nodes(&*client)[0].is_usable, "it is as well as before");
}

#[tokio::test]
async fn whoever_leaves_takes_nobody_along() {
    let node = FakeNode::at(5).await;
    let client = connect(&[&node], RemoteConfig::default()).await;
    let mut first = Box::pin(client.call(small("eth_getBalance")));
    assert!(first.as_mut().now_or_never().is_none());
    let rest = ask(&client, 3);
    let leaving = async { drop(first) };
    let (answers, ()) = tokio::join!(rest, leaving);
    assert_eq!(answers, vec![result("\"0x7\""); 3]);
    assert_eq!(node.batches(), [4]);
}

#[tokio::test]
async fn when_a_node_fails_all_go_to_the_next_one() {
    let (ill, well) = (FakeNode::at(5).await, FakeNode::at(5).await);
    let client = connect(&[&ill, &well], RemoteConfig::default()).await;
    ill.fail(Fault::HangUp);
    assert_eq!(ask(&client, 10).await, vec![result("\"0x7\""); 10]);
    well.fail(Fault::Status(hyper::StatusCode::BAD_GATEWAY));
    assert_eq!(ask(&client, 10).await, vec![Err(RawError::Unavailable); 10]);
}

#[tokio::test]
async fn answers_that_are_too_long_together_are_fetched_one_by_one() {
    let node = FakeNode::at(5).await;
    let config = RemoteConfig { max_answer_bytes: 8 * 1024, ..RemoteConfig::default() };
    let client = connect(&[&node], config).await;
    let block = RawCall { params: r#"["0x1",false]"#.into(), ..small("eth_getBlockByNumber") };
    let answers = in_time(join_all((0..10).map(|_| client.call(block.clone())))).await;
    assert!(answers.iter().all(|answer| matches!(answer, Ok(Answer::Result(_)))), "{answers:?}");
    assert_eq!(node.batches(), [10]);
    assert_eq!(ask(&client, 10).await, vec![result("\"0x7\""); 10]);
    assert_eq!(node.batches(), [10], "a long answer says nothing about batches");
}
