//! The end of a process: announced while it still serves, and unnoticed by whoever asks `/ready` first.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use serde_json::json;
use store::testing::TestDb;
use testkit::{AppProcess, Balancer, FleetPlace, FleetRole, HttpClient, Member, Redis};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{PATIENCE, folder};
use crate::rig::{BINARY, chainnet, node};

const INTERNAL: &str = "cnk_internal-dev_devnet-placeholder-replace-before-production";
/// Whoever asks the API at once, and whoever asks the gateway.
const CROWD: usize = 100;

async fn up(data: &std::path::Path, seconds: &str) -> AppProcess {
    let arguments = ["--on-demand", "--rate-limit-max", "100000", "--drain-seconds", seconds];
    let app = AppProcess::up(BINARY, data, arguments).await.unwrap_or_else(|error| panic!("{error}"));
    app.node().unwrap().mine().await.unwrap();
    app
}

fn surface(app: &AppProcess, marker: &str) -> HttpClient {
    HttpClient::new(app.server().announced(marker).unwrap())
}

async fn chain_id(gateway: HttpClient, key: &str) -> Result<bool, testkit::HttpError> {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_chainId", "params": [] });
    let answer = gateway.post_with("/", &[("x-api-key", key)], &body).await?;
    Ok(answer.json()["result"] == "0x228d")
}

#[tokio::test]
async fn every_surface_says_that_it_drains_and_still_serves_until_a_second_signal() {
    let data = folder();
    let mut app = up(data.path(), "300").await;
    let surfaces = ["REST", "Gateway", "Faucet", "Explorer"].map(|marker| (marker, surface(&app, marker)));
    for (_, client) in surfaces {
        client.wait_for("/ready", |answer| answer.status == 200).await.unwrap();
    }
    app.server().terminate().unwrap();
    for (marker, client) in surfaces {
        let told = client.wait_for("/ready", |answer| answer.status == 503).await.unwrap();
        let word = if marker == "Gateway" { "reason" } else { "status" };
        assert_eq!(told.json()[word], "draining", "{marker}: {told:?}");
        assert_eq!(told.header("connection"), Some("close"), "{marker}");
        assert_eq!(client.get("/health").await.unwrap().status, 200, "{marker}");
    }
    let [(_, api), (_, gateway), _, (_, explorer)] = surfaces;
    assert_eq!(api.get("/api/v1/network").await.unwrap().status, 200);
    assert!(chain_id(gateway, INTERNAL).await.unwrap());
    assert_eq!(explorer.get("/").await.unwrap().status, 200);
    // The second signal.
    let ended = app.stop().await.unwrap();
    assert_eq!(ended.code(), Some(1), "{}", app.server().output());
}

#[tokio::test]
async fn a_drained_process_sees_everybody_out_and_ends_well() {
    let data = folder();
    let mut app = up(data.path(), "1").await;
    let mut watching = TcpStream::connect(surface(&app, "Explorer").address()).await.unwrap();
    watching.write_all(b"GET /live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").await.unwrap();
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains("event: head") {
        assert!(watching.read_buf(&mut seen).await.unwrap() > 0, "{}", String::from_utf8_lossy(&seen));
    }
    app.server().terminate().unwrap();
    // The stream comes to its end, and is not cut.
    tokio::time::timeout(PATIENCE, watching.read_to_end(&mut seen)).await.unwrap().unwrap();
    assert!(seen.ends_with(b"0\r\n\r\n"), "{}", String::from_utf8_lossy(&seen));
    assert_eq!(app.ended().await.unwrap().code(), Some(0), "{}", app.server().output());
}

/// Servers of one kind behind a balancer.
struct Group {
    balancer: Balancer,
    members: Vec<Member>,
}

impl Group {
    async fn start(place: &Arc<FleetPlace>, role: FleetRole) -> Self {
        let balancer = Balancer::start().await.unwrap();
        let mut members = Vec::new();
        for _ in 0..2 {
            let member = Member::start(place, role).await.unwrap_or_else(|error| panic!("{error}"));
            balancer.add(member.client().address());
            members.push(member);
        }
        balancer.wait_for(2).await;
        Self { balancer, members }
    }

    /// Ends one after the other and starts another in its place.
    async fn roll(&mut self) {
        for member in &mut self.members {
            let before = member.client().address();
            let ended = member.stop().await.unwrap();
            assert_eq!(ended.code(), Some(0), "{}", member.server().output());
            self.balancer.remove(before);
            member.restart().await.unwrap_or_else(|error| panic!("{error}"));
            self.balancer.add(member.client().address());
            self.balancer.wait_for(2).await;
        }
    }
}

/// Requests that never end, until they are told to.
#[derive(Default)]
struct Load {
    is_over: AtomicBool,
    served: AtomicUsize,
    failed: Mutex<Vec<String>>,
}

impl Load {
    async fn ask<F>(self: Arc<Self>, request: impl Fn() -> F)
    where
        F: Future<Output = Result<bool, testkit::HttpError>>,
    {
        while !self.is_over.load(Ordering::Relaxed) {
            match request().await {
                Ok(true) => drop(self.served.fetch_add(1, Ordering::Relaxed)),
                Ok(false) => self.failed.lock().unwrap().push("refused".to_owned()),
                Err(error) => self.failed.lock().unwrap().push(format!("{error:?}")),
            }
        }
    }
}

async fn key_without_limits(data: &str, database: &str) -> String {
    let issue = ["keys", "issue", "--team", "load", "--permissions", "rpc", "--limit", "10000000"];
    let places = ["--data", data, "--database-url", database];
    let output = chainnet(issue.into_iter().chain(places)).await.success();
    output.split_whitespace().find(|word| word.starts_with("cnk_")).unwrap().to_owned()
}

async fn roll(test: &TestDb) {
    let (node, data) = (node([]).await, folder());
    let redis = Redis::start().await.unwrap();
    let place = Arc::new(FleetPlace {
        binary: BINARY.into(),
        data: data.path().into(),
        node: node.client().url(),
        database: test.url().to_owned(),
        redis: redis.as_ref().map(Redis::url),
        settings: vec![("RATE_LIMIT_MAX", "10000000".to_owned()), ("DRAIN_SECONDS", "4".to_owned())],
    });
    let key = key_without_limits(data.path().to_str().unwrap(), test.url()).await;
    let _worker = Member::start(&place, FleetRole::Worker).await.unwrap_or_else(|error| panic!("{error}"));
    let mut apis = Group::start(&place, FleetRole::Api).await;
    let mut gateways = Group::start(&place, FleetRole::Gateway).await;

    let load = Arc::new(Load::default());
    let mut crowd = tokio::task::JoinSet::new();
    for _ in 0..CROWD {
        let (api, gateway, key) = (apis.balancer.client(), gateways.balancer.client(), key.clone());
        crowd.spawn(
            load.clone().ask(move || async move { Ok(api.get("/api/v1/chain").await?.status == 200) }),
        );
        crowd.spawn(load.clone().ask(move || {
            let key = key.clone();
            async move { chain_id(gateway, &key).await }
        }));
    }
    tokio::join!(apis.roll(), gateways.roll());
    load.is_over.store(true, Ordering::Relaxed);
    tokio::time::timeout(PATIENCE, crowd.join_all()).await.unwrap();
    let failed = load.failed.lock().unwrap();
    assert!(failed.is_empty(), "{} failed, such as {}", failed.len(), failed[0]);
    assert_eq!(apis.balancer.turned_away() + gateways.balancer.turned_away(), 0);
    let served = load.served.load(Ordering::Relaxed);
    assert!(served > 2 * CROWD, "{served} were served");
    eprintln!("{served} requests, none failed, four processes restarted");
}

store::engine_tests! {
    async fn a_rolling_restart_under_load_fails_no_request(test: TestDb) {
        // Boxed: it is all tasks of two hundred clients.
        Box::pin(tokio::time::timeout(3 * PATIENCE, roll(test))).await.unwrap();
    }
}
