//! Several nodes, some of them in trouble, and callers who should not notice.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use chain::{
    Head, NodeState, PendingHashes, RawCall, RawError, RawUpstream,
    remote::{RemoteClient, RemoteConfig},
};
use futures_util::future::join_all;
use jsonrpc::Answer;
use serde_json::json;
use tokio::sync::watch;

use crate::{
    front::{Front, number, open},
    relay::{Mood, Relay},
    world::{World, in_time},
};

fn quick() -> RemoteConfig {
    RemoteConfig { poll_interval: Duration::from_millis(10), ..RemoteConfig::default() }
}

/// An upstream that has not shown a head yet.
pub(crate) struct Headless {
    inner: Arc<dyn RawUpstream>,
    heads: watch::Sender<Option<Arc<Head>>>,
}

/// An upstream without a head: a gateway to it does not wait for one.
pub(crate) fn headless(world: &World) -> Arc<Headless> {
    Arc::new(Headless { inner: world.in_process(), heads: watch::Sender::new(None) })
}

impl Headless {
    /// Shows a block as the head.
    pub(crate) fn show(&self, block: &chain::Block) {
        self.heads.send_replace(Some(Arc::new(Head { header: block.header.clone(), hash: block.hash })));
    }
}

#[async_trait]
impl RawUpstream for Headless {
    fn heads(&self) -> watch::Receiver<Option<Arc<Head>>> {
        self.heads.subscribe()
    }

    async fn pending(&self) -> PendingHashes {
        self.inner.pending().await
    }

    fn chain_id(&self) -> Option<u64> {
        self.inner.chain_id()
    }

    async fn call(&self, call: RawCall) -> Result<Answer, RawError> {
        self.inner.call(call).await
    }

    fn nodes(&self) -> Vec<NodeState> {
        self.inner.nodes()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_lags_and_one_that_dies_are_not_noticed() {
    let world = World::new();
    world.mine_to(6).await;
    let (port, _node) = world.port().await;
    let (healthy, lagging, dying) = (Relay::to(port).await, Relay::to(port).await, Relay::to(port).await);
    lagging.set(Mood::Behind(2));
    let urls = [lagging.url(), dying.url(), healthy.url()];
    let remote = RemoteClient::connect(&urls, quick()).await.unwrap();
    let front = Front::new(open(), Arc::new(remote)).await;
    let (is_over, failures, polls) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let poller = async {
        let mut connection = front.connect().await;
        let mut last = 0;
        while polls.fetch_add(1, Ordering::Relaxed) < 10_000 {
            let now = number(&connection.call("eth_blockNumber", json!([])).await.result());
            assert!(now >= last, "from {last} to {now}");
            last = now;
        }
        is_over.store(true, Ordering::Relaxed);
        last
    };
    let readers = join_all((0..4u64).map(|reader| {
        let (front, is_over, failures) = (&front, &is_over, &failures);
        async move {
            let mut connection = front.connect().await;
            let mut round = 0u64;
            while !is_over.load(Ordering::Relaxed) {
                round += 1;
                let account = format!("0x{:040x}", reader * 1_000_000 + round);
                let reply = connection.call("eth_getBalance", json!([account, "latest"])).await;
                if reply.json().get("result").is_none() {
                    eprintln!("{}", reply.text());
                    failures.fetch_add(1, Ordering::Relaxed);
                }
            }
            round
        }
    }));
    let trouble = async {
        // A block for every two hundred polls.
        for block in 1..50 {
            while polls.load(Ordering::Relaxed) < block * 200 {
                tokio::task::yield_now().await;
            }
            world.mine().await;
            if block == 15 {
                dying.kill();
            }
        }
    };
    let (last, rounds, ()) = in_time(async { tokio::join!(poller, readers, trouble) }).await;
    assert!(last > 40, "blocks were mined meanwhile: {last}");
    assert!(rounds.iter().all(|rounds| *rounds > 0));
    assert!(dying.count("eth_getBalance") > 0 && healthy.count("eth_getBalance") > 0);
    // Those under way on the node that was killed are asked of another one too.
    assert_eq!(failures.load(Ordering::Relaxed), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn four_hundred_callers_fit_through_eighty_connections() {
    let world = World::new();
    let (port, _node) = world.port().await;
    let relay = Relay::capped(port, 80).await;
    let remote = RemoteClient::connect(&[relay.url()], quick()).await.unwrap();
    let front = Front::new(open(), Arc::new(remote)).await;
    let callers = (0..400u64).map(|caller| {
        let connecting = front.connect();
        async move {
            let mut connection = connecting.await;
            for round in 0..5 {
                let account = format!("0x{:040x}", caller * 100 + round);
                connection.call("eth_getBalance", json!([account, "latest"])).await.result();
            }
        }
    });
    in_time(join_all(callers)).await;
    assert_eq!(relay.count("eth_getBalance"), 2_000);
    assert_eq!(relay.refused_connections(), 0);
    assert!(relay.most_connections() <= 25, "{}", relay.most_connections());
}

#[tokio::test]
async fn a_gone_node_is_503_and_final_blocks_are_still_served() {
    let world = World::new();
    world.mine().await;
    let (port, _node) = world.port().await;
    let relay = Relay::to(port).await;
    let remote = RemoteClient::connect(&[relay.url()], quick()).await.unwrap();
    let front = Front::new(open(), Arc::new(remote)).await;
    let balance = json!([crate::world::MULTICALL, "0x0"]);
    front.ask("eth_getBalance", balance.clone()).await;
    relay.kill();
    let reply = front.call("eth_getBalance", json!([crate::world::MULTICALL, "latest"])).await;
    assert_eq!(reply.refusal(), (503, -32002, "no_node".to_owned()));
    assert_eq!(reply.header("retry-after"), Some("1"));
    front.ask("eth_getBalance", balance).await;
    let block = front.ask("eth_getBlockByNumber", json!(["0x1", true])).await;
    assert_eq!(block["number"], "0x1");
    assert_eq!(front.block_number().await, 1);
}

#[tokio::test]
async fn a_silent_node_is_504() {
    let world = World::new();
    let (port, _node) = world.port().await;
    let relay = Relay::to(port).await;
    let config = RemoteConfig {
        request_timeout: Duration::from_millis(200),
        poll_interval: Duration::from_secs(3600),
        ..RemoteConfig::default()
    };
    let remote = RemoteClient::connect(&[relay.url()], config).await.unwrap();
    let front = Front::new(open(), Arc::new(remote)).await;
    relay.set(Mood::Silent);
    let reply = front.call("eth_gasPrice", json!([])).await;
    assert_eq!(reply.refusal(), (504, -32002, "timeout".to_owned()));
}

#[tokio::test]
async fn requests_that_take_long_do_not_take_the_node_from_everybody_else() {
    let world = World::new();
    let (port, _node) = world.port().await;
    let relay = Relay::to(port).await;
    let config = RemoteConfig {
        request_timeout: Duration::from_millis(300),
        poll_interval: Duration::from_secs(3600),
        pause: Duration::from_secs(3600),
        ..RemoteConfig::default()
    };
    let remote = RemoteClient::connect(&[relay.url()], config).await.unwrap();
    let front = Front::new(open(), Arc::new(remote)).await;
    relay.set(Mood::SilentTo("eth_call"));
    let slow = (0..10u64).map(|number| {
        let params = json!([{ "to": format!("0x{number:040x}") }, "latest"]);
        async { front.call("eth_call", params).await.refusal() }
    });
    for refusal in in_time(join_all(slow)).await {
        assert_eq!(refusal, (504, -32002, "timeout".to_owned()));
    }
    for account in 0..10u64 {
        front.ask("eth_getBalance", json!([format!("0x{account:040x}"), "latest"])).await;
    }
    // A node that does not answer anybody is found out all the same.
    relay.set(Mood::Silent);
    let is_given_up = async { while front.call("eth_gasPrice", json!([])).await.refusal().2 != "no_node" {} };
    in_time(is_given_up).await;
}

#[tokio::test]
async fn a_transaction_goes_to_two_nodes_and_is_answered_once() {
    let world = World::new();
    let (port, _node) = world.port().await;
    let (one, two) = (Relay::to(port).await, Relay::to(port).await);
    let remote = RemoteClient::connect(&[one.url(), two.url()], quick()).await.unwrap();
    let front = Front::new(open(), Arc::new(remote)).await;
    for nonce in 0..5 {
        // One of the two says that it knows the transaction already, because both lead to one pool.
        let (raw, hash) = world.transfer(nonce);
        assert_eq!(front.ask("eth_sendRawTransaction", json!([raw])).await, hash);
    }
    let sent = || one.count("eth_sendRawTransaction") + two.count("eth_sendRawTransaction");
    in_time(async {
        while sent() < 10 {
            tokio::task::yield_now().await
        }
    })
    .await;
    two.kill();
    let (raw, hash) = world.transfer(5);
    assert_eq!(front.ask("eth_sendRawTransaction", json!([raw.clone()])).await, hash);
    let again = front.call("eth_sendRawTransaction", json!([raw])).await;
    assert_eq!(again.status.as_u16(), 200);
}

#[tokio::test]
async fn a_slow_node_does_not_hold_up_reads() {
    let world = World::new();
    let (port, _node) = world.port().await;
    let (one, two) = (Relay::to(port).await, Relay::to(port).await);
    let config = RemoteConfig { poll_interval: Duration::from_secs(3600), ..RemoteConfig::default() };
    let remote = RemoteClient::connect(&[one.url(), two.url()], config).await.unwrap();
    let front = Front::new(open(), Arc::new(remote)).await;
    for account in 0..200u64 {
        front.ask("eth_getBalance", json!([format!("0x{account:040x}"), "latest"])).await;
    }
    one.set(Mood::Silent);
    for account in 200..205u64 {
        let asking = front.ask("eth_getBalance", json!([format!("0x{account:040x}"), "latest"]));
        let answered = tokio::time::timeout(Duration::from_secs(5), asking).await;
        answered.expect("the other node was asked before this one's time was over");
    }
}

#[tokio::test]
async fn the_embedded_chains_own_methods_stay_out_of_reach() {
    let world = World::new();
    let upstream = world.in_process();
    for method in ["evm_mine", "chainnet_stopValidator", "debug_traceCall", "txpool_content"] {
        let call = RawCall { method, params: "[]".into(), lane: chain::Lane::Cheap, at: 0 };
        let Ok(Answer::Error(error)) = upstream.call(call).await else { panic!("{method} was answered") };
        assert!(error.starts_with(br#"{"code":-32604"#), "{error:?}");
    }
    assert_eq!(world.head(), 0);
}
