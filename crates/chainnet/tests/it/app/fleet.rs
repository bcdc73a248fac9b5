//! Every role as processes of their own on PostgreSQL and Redis: what one replica knows, the others know.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use alloy_primitives::Address;
use futures_util::future::join_all;
use serde_json::{Value, json};
use store::testing::{TestDb, run_on_postgres};
use tempfile::TempDir;
use testkit::{
    Balancer, FleetPlace, FleetRole, HttpAnswer, HttpClient, Member, Merchant, Mining, NodeProcess, Receiver,
    Redis, RpcClient, StartError, Wallet,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{
    PATIENCE, folder,
    portal_kills::{AMOUNT_IDR, EVENTS, check_events, wait_for_events},
};
use crate::rig::{BINARY, chainnet, node};

const PORTAL: &str = "/api/v1/platform-dev";
/// Requests of a client in a minute; ten come back in a second.
const LIMIT: u32 = 600;
/// Processes that share it: two APIs, the explorer and the faucet.
const SHARERS: u32 = 4;

/// Node, two workers, two APIs, two gateways, explorer and faucet.
pub(super) struct Fleet {
    pub(super) node: NodeProcess,
    pub(super) workers: [Member; 2],
    pub(super) apis: [Member; 2],
    pub(super) gateways: [Member; 2],
    pub(super) explorer: Member,
    pub(super) faucet: Member,
    pub(super) redis: Redis,
    data: TempDir,
}

impl Fleet {
    /// Starts all of it; none without Redis.
    pub(super) async fn start(test: &TestDb, settings: Vec<(&'static str, String)>) -> Option<Self> {
        let redis = Redis::start().await.expect("Redis starts")?;
        // Blocks every two seconds, as in operation.
        let (node, data) = (node([]).await, folder());
        let place = Arc::new(FleetPlace {
            binary: BINARY.into(),
            data: data.path().into(),
            node: node.client().url(),
            database: test.url().to_owned(),
            redis: Some(redis.url()),
            settings: settings.into_iter().chain([("TRUSTED_PROXIES", "127.0.0.0/8".to_owned())]).collect(),
        });
        let start = |role| Member::start(&place, role);
        let two = async |role| -> Result<[Member; 2], StartError> {
            let (first, second) = tokio::try_join!(start(role), start(role))?;
            Ok([first, second])
        };
        let (workers, apis, gateways, explorer, faucet) = tokio::try_join!(
            two(FleetRole::Worker),
            two(FleetRole::Api),
            two(FleetRole::Gateway),
            start(FleetRole::Explorer),
            start(FleetRole::Faucet),
        )
        .unwrap_or_else(|error| panic!("{error}"));
        let fleet = Self { node, workers, apis, gateways, explorer, faucet, redis, data };
        for member in fleet.apis.iter().chain(&fleet.gateways).chain([&fleet.explorer, &fleet.faucet]) {
            let ready = member.client().wait_for("/ready", |answer| answer.status == 200).await;
            ready.unwrap_or_else(|error| panic!("{error}\n{}", member.server().output()));
        }
        Some(fleet)
    }

    /// A client of the node that a wallet pays through.
    pub(super) fn rpc(&self) -> RpcClient {
        RpcClient::new(self.node.client().address())
    }

    /// Runs a command of the operator on the fleet's database.
    async fn operate<const N: usize>(&self, test: &TestDb, arguments: [&str; N]) -> String {
        let data = self.data.path().to_str().expect("a path");
        let places = ["--data", data, "--database-url", test.url()];
        chainnet(arguments.into_iter().chain(places)).await.success()
    }

    /// A key that has next to no limit and that every gateway and the faucet know.
    pub(super) async fn issue_key(&self, test: &TestDb, permissions: &str) -> String {
        let terms = ["keys", "issue", "--team", "shop", "--permissions", permissions, "--limit", "10000000"];
        let issued = self.operate(test, terms).await;
        let key = issued.split_whitespace().find(|word| word.starts_with("cnk_")).expect("a key");
        for gateway in &self.gateways {
            until(|| head(gateway.client(), key), |answer| answer.status == 200).await;
        }
        key.to_owned()
    }
}

/// The head as a gateway has it.
async fn head(gateway: HttpClient, key: &str) -> HttpAnswer {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_blockNumber", "params": [] });
    gateway.post_with("/", &[("x-api-key", key)], &body).await.unwrap()
}

/// A balancer before servers.
pub(super) async fn balance(members: &[Member]) -> Balancer {
    let balancer = Balancer::start().await.expect("a port");
    members.iter().for_each(|member| balancer.add(member.client().address()));
    balancer.wait_for(members.len()).await;
    balancer
}

/// Asks until an answer is as wanted.
async fn until<F: Future<Output = HttpAnswer>>(ask: impl Fn() -> F, wanted: impl Fn(&HttpAnswer) -> bool) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let answer = ask().await;
        if wanted(&answer) {
            return;
        }
        assert!(Instant::now() < deadline, "{answer:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// A session that began at one API is one at the other, and ends at both.
async fn sessions(fleet: &Fleet, wallet: Wallet) {
    let [first, second] = fleet.apis.each_ref().map(Member::client);
    let merchant = Merchant::sign_in(first, fleet.rpc(), wallet).await.unwrap();
    let path = format!("{PORTAL}/session");
    let headers = [merchant.bearer()];
    for api in [second, first, fleet.explorer.client()] {
        assert_eq!(api.get_with(&path, &headers).await.unwrap().status, 200);
    }
    assert!(second.delete_with(&path, &headers).await.unwrap().status.is_success());
    for api in [first, second, fleet.explorer.client()] {
        let refused = api.get_with(&path, &headers).await.unwrap();
        assert_eq!(refused.json()["code"], "session_invalid", "{refused:?}");
    }
}

/// One request that is made many times at both APIs at once takes effect once, and has one answer.
async fn idempotency(fleet: &Fleet, key: &str) {
    let body = json!({ "customerLabel": "once", "amountIdr": AMOUNT_IDR, "note": "" });
    let asking = (0..16).map(|place| {
        let (api, body, key) = (fleet.apis[place % 2].client(), body.clone(), key.to_owned());
        tokio::spawn(async move {
            let headers = [("x-platform-dev-key", key.as_str()), ("idempotency-key", "only-once")];
            api.post_with(&format!("{PORTAL}/v1/invoices"), &headers, &body).await.unwrap()
        })
    });
    let mut answers = Vec::new();
    for asked in asking.collect::<Vec<_>>() {
        let answer = asked.await.unwrap();
        assert_eq!(answer.status, 201, "{answer:?}");
        answers.push(answer.body);
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    let list = |api: HttpClient| async move {
        let path = format!("{PORTAL}/v1/invoices?limit=20");
        api.get_with(&path, &[("x-platform-dev-key", key)]).await.unwrap().json()
    };
    // Twice each: the second is a kept page.
    for member in [&fleet.apis[0], &fleet.apis[1], &fleet.apis[0], &fleet.apis[1]] {
        let listed = list(member.client()).await;
        assert_eq!(listed["invoices"].as_array().map(Vec::len), Some(1), "{listed}");
    }
}

/// Whoever watches a payment link at one API sees a payment that was quoted at the other, credited by a worker and told to the
/// merchant once.
async fn payment(fleet: &Fleet, merchant: &mut Merchant, receiver: &Receiver) {
    let [first, second] = fleet.apis.each_ref().map(Member::client);
    merchant.move_to(first);
    let invoice = merchant.create_invoice("watched", AMOUNT_IDR).await.unwrap();
    let mut watching = TcpStream::connect(second.address()).await.unwrap();
    let request = format!("GET {PORTAL}/pay/{}/stream HTTP/1.1\r\nHost: x\r\n\r\n", invoice.token);
    watching.write_all(request.as_bytes()).await.unwrap();
    let quote = merchant.quote(&invoice).await.unwrap();
    merchant.pay(&quote, Mining::Interval).await.unwrap();
    let mut seen = Vec::new();
    let paid = async {
        while !String::from_utf8_lossy(&seen).contains("\"status\":\"paid\"") {
            assert!(watching.read_buf(&mut seen).await.unwrap() > 0, "{}", String::from_utf8_lossy(&seen));
        }
    };
    tokio::time::timeout(PATIENCE, paid).await.unwrap();
    wait_for_events(receiver, EVENTS).await;
    check_events(receiver, &[invoice.id].into());
    assert_eq!(receiver.count(), EVENTS, "two workers, and every event is sent once");
}

/// A developer key that is taken back at one API, and a gateway's key that the operator takes back, are refused everywhere.
async fn revocations(fleet: &Fleet, test: &TestDb, merchant: &Merchant, key: &str) {
    let [first, second] = fleet.apis.each_ref().map(Member::client);
    let keys = first.get_with(&format!("{PORTAL}/keys"), &[merchant.bearer()]).await.unwrap().json();
    let id = keys["keys"][0]["id"].as_str().unwrap_or_else(|| panic!("{keys}")).to_owned();
    merchant.post("/keys/revoke", &json!({ "keyId": id }), 200).await.unwrap();
    for api in [first, second, fleet.explorer.client()] {
        let ask = || async {
            let path = format!("{PORTAL}/v1/dashboard");
            api.get_with(&path, &[("x-platform-dev-key", key)]).await.unwrap()
        };
        until(ask, |answer| answer.json()["code"] == "api_key_revoked").await;
    }

    let key = &*fleet.issue_key(test, "rpc").await;
    let id = key.split('_').nth(1).unwrap();
    fleet.operate(test, ["keys", "revoke", id]).await;
    for gateway in &fleet.gateways {
        let is_revoked = |answer: &HttpAnswer| answer.json()["error"]["data"]["reason"] == "api_key_revoked";
        until(|| head(gateway.client(), key), is_revoked).await;
    }
}

/// Asks in turn as a client of this address until everybody has refused often, and answers how often it was granted.
async fn exhaust(servers: &[HttpClient], address: Address) -> u32 {
    let [a, b, c, ..] = address.into_array();
    let from = format!("10.{a}.{b}.{c}");
    let (begin, mut granted, mut refused) = (Instant::now(), 0, 0);
    while refused < 10 * servers.len() {
        assert!(begin.elapsed() < 2 * PATIENCE, "{granted} were granted");
        let asked = join_all(servers.iter().map(async |server| {
            server.get_with("/api/v1/network", &[("x-forwarded-for", &from)]).await.unwrap()
        }));
        for answer in asked.await {
            match answer.status.as_u16() {
                200 => (granted, refused) = (granted + 1, 0),
                429 => refused += 1,
                _ => panic!("{answer:?}"),
            }
        }
    }
    granted
}

/// All APIs and the explorer together grant a client its limit; without Redis each has its part of it.
async fn limits(fleet: &mut Fleet) {
    let servers = [&fleet.apis[0], &fleet.apis[1], &fleet.explorer].map(Member::client);
    let granted = exhaust(&servers, Address::repeat_byte(1)).await;
    // One of them may have leased a few that were asked of another.
    assert!((LIMIT - LIMIT / 10..=LIMIT).contains(&granted), "{granted}");
    fleet.redis.kill().await.unwrap();
    let granted = exhaust(&servers, Address::repeat_byte(2)).await;
    let share = 3 * LIMIT / SHARERS;
    assert!((1..=share).contains(&granted), "{granted}");
    fleet.redis.start_again().await.unwrap();
}

async fn agree(test: &TestDb) {
    let settings = vec![("RATE_LIMIT_MAX", LIMIT.to_string())];
    let Some(mut fleet) = Fleet::start(test, settings).await else { return };
    sessions(&fleet, Wallet::dev(3)).await;
    let receiver = Receiver::start().await.unwrap();
    // Every request of the merchant goes to the next API.
    let balancer = balance(&fleet.apis).await;
    let mut merchant = Merchant::sign_in(balancer.client(), fleet.rpc(), Wallet::dev(1)).await.unwrap();
    let key = merchant.buy_key(Mining::Interval).await.unwrap();
    idempotency(&fleet, &key).await;
    merchant.save_webhook(&receiver.url(), Mining::Interval).await.unwrap();
    payment(&fleet, &mut merchant, &receiver).await;
    let page = fleet.explorer.client().get("/").await.unwrap();
    assert_eq!(page.status, 200);
    revocations(&fleet, test, &merchant, &key).await;
    limits(&mut fleet).await;
    let claims = fleet.faucet.client().get("/health").await.unwrap().json();
    assert_eq!(claims["faucet"]["funds"], Value::from("ok"), "{claims}");
    for member in fleet.apis.iter_mut().chain(&mut fleet.gateways).chain(&mut fleet.workers) {
        assert_eq!(member.stop().await.unwrap().code(), Some(0), "{}", member.server().output());
    }
}

#[test]
fn what_one_replica_knows_the_others_know() {
    run_on_postgres(|test| Box::pin(agree(test)));
}
