//! Calls that are passed on as bytes.

use std::{sync::Arc, time::Duration};

use chainnet_chain::{
    Lane, RawCall, RawError, RawUpstream,
    remote::{RemoteClient, RemoteConfig},
};
use futures_util::future::join_all;
use jsonrpc::Answer;

use crate::fake::{FakeNode, Fault, in_time};

async fn connect(nodes: &[&FakeNode]) -> Arc<RemoteClient> {
    let urls: Vec<_> = nodes.iter().map(|node| node.url()).collect();
    let config = RemoteConfig { poll_interval: Duration::from_millis(20), ..RemoteConfig::default() };
    Arc::new(RemoteClient::connect(&urls, config).await.expect("a client"))
}

fn gas_price(at: u64) -> RawCall {
    RawCall { method: "eth_gasPrice", params: "[]".into(), lane: Lane::Cheap, at }
}

/// A block with its transactions, which a held node does not answer.
fn block(number: u64) -> RawCall {
    let params = format!("[\"{number:#x}\",true]").into();
    RawCall { method: "eth_getBlockByNumber", params, lane: Lane::Heavy, at: 0 }
}

#[tokio::test]
async fn results_and_errors_come_back_as_the_node_wrote_them() {
    let node = FakeNode::at(5).await;
    let client = connect(&[&node]).await;
    assert_eq!(client.call(gas_price(5)).await, Ok(Answer::Result("\"0x7\"".into())));
    let unknown = RawCall { method: "eth_nothing", ..gas_price(0) };
    let error = r#"{"code":-32601,"message":"Method not found"}"#;
    assert_eq!(client.call(unknown).await, Ok(Answer::Error(error.into())));
    assert_eq!(RawUpstream::chain_id(&*client), Some(8845));
    let [state] = &RawUpstream::nodes(&*client)[..] else { panic!("one node") };
    assert_eq!((state.head, state.is_usable), (Some(5), true));
}

#[tokio::test]
async fn a_read_waits_for_a_node_that_is_about_to_have_the_block() {
    let (ahead, behind) = (FakeNode::at(6).await, FakeNode::at(5).await);
    let client = connect(&[&ahead, &behind]).await;
    behind.subscribed(1).await;
    ahead.fail(Fault::HangUp);
    let call = client.call(gas_price(6));
    let mining = async {
        in_time(async {
            while ahead.asked("eth_gasPrice") == 0 {
                tokio::task::yield_now().await;
            }
        })
        .await;
        assert_eq!(behind.asked("eth_gasPrice"), 0, "it does not have the block");
        behind.mine_to(6);
    };
    let (answer, ()) = in_time(async { tokio::join!(call, mining) }).await;
    assert_eq!(answer, Ok(Answer::Result("\"0x7\"".into())));
    assert_eq!(behind.asked("eth_gasPrice"), 1);
}

#[tokio::test]
async fn with_no_node_left_a_call_fails_at_once() {
    let node = FakeNode::at(5).await;
    let client = connect(&[&node]).await;
    node.fail(Fault::HangUp);
    assert_eq!(in_time(client.call(gas_price(0))).await, Err(RawError::Unavailable));
    let transaction =
        RawCall { method: "eth_sendRawTransaction", params: "[\"0x01\"]".into(), lane: Lane::Write, at: 0 };
    assert_eq!(in_time(client.call(transaction)).await, Err(RawError::Unavailable));
}

#[tokio::test]
async fn heavy_calls_leave_room_for_cheap_ones() {
    let node = FakeNode::at(5).await;
    let client = connect(&[&node]).await;
    node.hold();
    let heavy: Vec<_> = (0..40)
        .map(|number| {
            let client = Arc::clone(&client);
            tokio::spawn(async move { client.call(block(number % 6)).await })
        })
        .collect();
    in_time(async {
        while node.asked("eth_getBlockByNumber") < 8 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(in_time(client.call(gas_price(0))).await, Ok(Answer::Result("\"0x7\"".into())));
    node.release();
    for answer in in_time(join_all(heavy)).await {
        assert!(matches!(answer.expect("a caller"), Ok(Answer::Result(_))));
    }
}
