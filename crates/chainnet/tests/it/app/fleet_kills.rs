//! `kill -9` of one process of each kind while merchants are paid, wallets claim and everybody reads: nothing is lost, nothing
//! is paid twice, and only whoever was being served by the killed process notices.

use std::{
    collections::BTreeSet,
    future::Future,
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use alloy_primitives::{Address, Bytes, U256};
use serde_json::{Value, json};
use store::{
    AllowedWallet, Db,
    testing::{TestDb, run_on_postgres},
};
use testkit::{Balancer, HttpClient, Member, Merchant, Mining, NodeProcess, Receiver, RpcClient, Wallet};
use tokio::task::JoinSet;

use super::{
    PATIENCE,
    fleet::{Fleet, balance},
    portal_kills::{AMOUNT_IDR, EVENTS, check_books, check_events, wait_for_events},
};

/// Development accounts that pay invoices, one after the other each: 2 to 7.
const CUSTOMERS: usize = 6;
/// Whoever reads from the APIs, and from the gateways.
const READERS: usize = 8;
/// Between two tries.
const PAUSE: Duration = Duration::from_millis(100);

/// What everybody who puts load on the fleet shares.
#[derive(Default)]
struct Story {
    /// The gateway's and the faucet's key.
    key: String,
    is_over: AtomicBool,
    /// Odd while requests may fail because a process was killed.
    disturbances: AtomicU64,
    invoices: Mutex<BTreeSet<String>>,
    paid: AtomicUsize,
    claimed: Mutex<Vec<Address>>,
    reads: AtomicUsize,
    lost: Mutex<Vec<String>>,
    /// Where the gateways are now.
    gateways: Mutex<Vec<SocketAddr>>,
}

impl Story {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    fn disturbance(&self) -> u64 {
        self.disturbances.load(Ordering::SeqCst)
    }

    /// Requests may fail from now on, or not any more.
    fn disturb(&self) {
        self.disturbances.fetch_add(1, Ordering::SeqCst);
    }

    /// Calls a method at a gateway.
    async fn call(&self, gateway: HttpClient, method: &str, params: Value) -> Result<Value, String> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let answer = gateway.post_with("/", &[("x-api-key", &self.key)], &body).await;
        let answer = answer.map_err(|error| format!("{error:?}"))?;
        match answer.json().get("result") {
            Some(result) => Ok(result.clone()),
            None => Err(String::from_utf8_lossy(&answer.body).into_owned()),
        }
    }

    /// Pays with a transaction until it is in a block; a node that was killed has forgotten it.
    async fn settle(&self, gateway: HttpClient, raw: &Bytes) {
        let hash = alloy_primitives::keccak256(raw);
        persist(|| async {
            // It may be known already.
            let _ = self.call(gateway, "eth_sendRawTransaction", json!([raw])).await;
            let receipt = self.call(gateway, "eth_getTransactionReceipt", json!([hash])).await?;
            if receipt.is_null() { Err("not mined".to_owned()) } else { Ok(()) }
        })
        .await;
    }

    /// Waits until so many more invoices are paid: the fleet works, whatever was killed.
    async fn advance(&self, by: usize) {
        let (start, deadline) = (self.paid.load(Ordering::Relaxed), Instant::now() + 2 * PATIENCE);
        while self.paid.load(Ordering::Relaxed) < start + by {
            assert!(Instant::now() < deadline, "no invoice is paid any more");
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// Tries until it works. What a killed process did not answer is asked again, as a good client does.
async fn persist<T, E: std::fmt::Debug, F: Future<Output = Result<T, E>>>(attempt: impl Fn() -> F) -> T {
    let deadline = Instant::now() + 2 * PATIENCE;
    loop {
        match attempt().await {
            Ok(done) => return done,
            Err(error) => assert!(Instant::now() < deadline, "{error:?}"),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// The payment counts: a worker has credited it.
async fn see_paid(api: HttpClient, token: &str) -> Result<(), String> {
    let answer = api.get(&format!("/api/v1/platform-dev/pay/{token}")).await;
    let text = String::from_utf8_lossy(&answer.map_err(|error| format!("{error:?}"))?.body).into_owned();
    if text.contains("\"status\":\"paid\"") { Ok(()) } else { Err(text) }
}

/// Sends a customer invoices, which it pays at once, until the story is over.
async fn pay_invoices(
    story: Arc<Story>,
    merchant: Arc<Merchant>,
    (api, gateway): (HttpClient, HttpClient),
    customer: usize,
) {
    let mut wallet = Wallet::dev(customer);
    let mut count = 0;
    while !story.is_over() {
        let name = format!("customer-{customer}-{count}");
        let invoice = persist(|| merchant.create_invoice_once(&name, AMOUNT_IDR)).await;
        let quote = persist(|| merchant.quote(&invoice)).await;
        story.settle(gateway, &quote.sign(&mut wallet)).await;
        persist(|| see_paid(api, &invoice.token)).await;
        assert!(story.invoices.lock().unwrap().insert(invoice.id), "one invoice for two names");
        story.paid.fetch_add(1, Ordering::Relaxed);
        count += 1;
    }
}

/// Has one new wallet after the other claim, until the story is over.
async fn claim_coin(story: Arc<Story>, db: Db, faucets: Arc<Mutex<SocketAddr>>) {
    let mut count = 0u8;
    while !story.is_over() && count < 100 {
        count += 1;
        let wallet = Address::with_last_byte(count).create(u64::from(count));
        let team = "shop".parse().expect("a team");
        let entry = AllowedWallet { wallet, team, note: None, added_at: 0 };
        db.add_allowed_wallet(&entry).await.unwrap();
        let from = format!("10.0.0.{count}");
        persist(|| async {
            let faucet = HttpClient::new(*faucets.lock().unwrap());
            let body = json!({ "address": wallet, "website": "" });
            let headers = [("x-api-key", story.key.as_str()), ("x-forwarded-for", from.as_str())];
            let answer =
                faucet.post_with("/claim", &headers, &body).await.map_err(|error| format!("{error:?}"))?;
            // Who was not answered before is told that it has claimed.
            match (answer.status.as_u16(), answer.json()["code"].as_str()) {
                (200, _) | (429, Some("wallet_cooldown")) => Ok(()),
                _ => Err(format!("{answer:?}")),
            }
        })
        .await;
        story.claimed.lock().unwrap().push(wallet);
    }
}

/// Asks one thing again and again. An answer that does not come is lost, unless a process was killed meanwhile.
async fn read<F: Future<Output = Result<(), String>>>(story: Arc<Story>, ask: impl Fn() -> F) {
    while !story.is_over() {
        let before = story.disturbance();
        match ask().await {
            Ok(()) => drop(story.reads.fetch_add(1, Ordering::Relaxed)),
            Err(error) => {
                let is_calm = before.is_multiple_of(2) && story.disturbance() == before;
                if is_calm {
                    story.lost.lock().unwrap().push(error);
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

async fn look(server: HttpClient, path: &str) -> Result<(), String> {
    let answer = server.get(path).await.map_err(|error| format!("{error:?}"))?;
    if answer.status == 200 { Ok(()) } else { Err(format!("{answer:?}")) }
}

/// Follows the head at one gateway, across its restarts: it never goes back.
async fn follow_head(story: Arc<Story>, place: usize) {
    let mut last = 0;
    while !story.is_over() {
        let gateway = HttpClient::new(story.gateways.lock().unwrap()[place]);
        if let Ok(head) = story.call(gateway, "eth_blockNumber", json!([])).await {
            let head: U256 = serde_json::from_value(head).expect("a number");
            let head: u64 = head.to();
            assert!(head >= last, "gateway {place} went back from {last} to {head}");
            last = head;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Kills a process behind a balancer and starts another in its place.
async fn replace(story: &Story, balancer: &Balancer, member: &mut Member) {
    story.disturb();
    let address = member.client().address();
    member.kill9().await.unwrap();
    balancer.remove(address);
    story.disturb();
    story.advance(2).await;
    member.restart().await.unwrap_or_else(|error| panic!("{error}"));
    balancer.add(member.client().address());
    balancer.wait_for(2).await;
}

/// Kills the node and starts it again where it was; everybody finds it by themselves.
async fn replace_node(story: &Story, fleet_node: &mut NodeProcess, servers: &[HttpClient]) {
    story.disturb();
    fleet_node.kill9().await.unwrap();
    fleet_node.restart_in_place().await.unwrap_or_else(|error| panic!("{error}"));
    let rpc = RpcClient::new(fleet_node.client().address());
    let head: U256 = rpc.call("eth_blockNumber", json!([])).await.unwrap();
    for server in servers {
        let has_head = |answer: &testkit::HttpAnswer| {
            answer.json()["blockNumber"].as_u64().is_some_and(|number| U256::from(number) > head)
        };
        server.wait_for("/api/v1/chain", has_head).await.unwrap();
    }
    story.disturb();
}

async fn survive(test: &TestDb, rounds: usize) {
    // Every reader comes from the same address.
    let settings = vec![("RATE_LIMIT_MAX", "10000000".to_owned())];
    let Some(mut fleet) = Fleet::start(test, settings).await else { return };
    let receiver = Receiver::start().await.unwrap();
    let (apis, gateways) = (balance(&fleet.apis).await, balance(&fleet.gateways).await);
    let mut merchant = Merchant::sign_in(apis.client(), fleet.rpc(), Wallet::dev(1)).await.unwrap();
    let key = merchant.buy_key(Mining::Interval).await.unwrap();
    merchant.save_webhook(&receiver.url(), Mining::Interval).await.unwrap();

    let story = Story { key: fleet.issue_key(test, "rpc,faucet").await, ..Story::default() };
    let story = Arc::new(story);
    *story.gateways.lock().unwrap() = fleet.gateways.iter().map(|member| member.client().address()).collect();
    let faucet = Arc::new(Mutex::new(fleet.faucet.client().address()));
    let explorer = Arc::new(Mutex::new(fleet.explorer.client().address()));
    let mut load = JoinSet::new();
    let merchant = Arc::new(merchant);
    for customer in 2..2 + CUSTOMERS {
        let servers = (apis.client(), gateways.client());
        load.spawn(pay_invoices(story.clone(), merchant.clone(), servers, customer));
    }
    load.spawn(claim_coin(story.clone(), test.db(), faucet.clone()));
    for _ in 0..READERS {
        let api = apis.client();
        load.spawn(read(story.clone(), move || look(api, "/api/v1/chain")));
    }
    let pages = explorer.clone();
    load.spawn(read(story.clone(), move || {
        let explorer = HttpClient::new(*pages.lock().unwrap());
        async move {
            // A visitor may look at 600 pages in a minute.
            tokio::time::sleep(2 * PAUSE).await;
            look(explorer, "/blocks").await
        }
    }));
    (0..2).for_each(|place| drop(load.spawn(follow_head(story.clone(), place))));

    for _ in 0..rounds {
        story.advance(3).await;
        // First, because what it had taken to deliver comes back when its lease is over.
        fleet.workers[0].kill9().await.unwrap();
        story.advance(3).await;
        fleet.workers[0].restart().await.unwrap();
        replace(&story, &apis, &mut fleet.apis[0]).await;
        replace(&story, &gateways, &mut fleet.gateways[0]).await;
        story.gateways.lock().unwrap()[0] = fleet.gateways[0].client().address();
        story.disturb();
        for (member, place) in [(&mut fleet.faucet, &faucet), (&mut fleet.explorer, &explorer)] {
            member.kill9().await.unwrap();
            member.restart().await.unwrap_or_else(|error| panic!("{error}"));
            *place.lock().unwrap() = member.client().address();
            member.client().wait_for("/ready", |answer| answer.status == 200).await.unwrap();
        }
        story.disturb();
        let servers = [&fleet.apis[0], &fleet.apis[1], &fleet.explorer].map(Member::client);
        replace_node(&story, &mut fleet.node, &servers).await;
        apis.wait_for(2).await;
        gateways.wait_for(2).await;
        story.advance(3).await;
        fleet.workers.swap(0, 1);
        fleet.apis.swap(0, 1);
    }
    story.is_over.store(true, Ordering::Relaxed);
    load.join_all().await;
    check(&fleet, &story, &receiver, &key).await;
}

async fn check(fleet: &Fleet, story: &Story, receiver: &Receiver, key: &str) {
    let lost = story.lost.lock().unwrap().clone();
    assert!(lost.is_empty(), "{} requests were lost, such as {}", lost.len(), lost[0]);
    let invoices = story.invoices.lock().unwrap().clone();
    wait_for_events(receiver, invoices.len() * EVENTS).await;
    check_events(receiver, &invoices);
    for api in &fleet.apis {
        check_books(api.client(), key, invoices.len()).await;
    }
    let node = fleet.rpc();
    let claimed = story.claimed.lock().unwrap().clone();
    for wallet in &claimed {
        let once = domain::Wei::from_coin(500).0;
        let deadline = Instant::now() + PATIENCE;
        loop {
            let balance: U256 = node.call("eth_getBalance", json!([wallet, "latest"])).await.unwrap();
            if balance == once {
                break;
            }
            assert!(balance.is_zero() && Instant::now() < deadline, "{wallet} has {balance}");
            tokio::time::sleep(PAUSE).await;
        }
    }
    assert_eq!(fleet.explorer.client().get("/").await.unwrap().status, 200);
    let reads = story.reads.load(Ordering::Relaxed);
    assert!(reads > 0 && !claimed.is_empty(), "{reads} reads, {} claims", claimed.len());
    eprintln!(
        "{} invoices paid once, {} claims paid once, {} deliveries of {} events, {reads} reads, none lost",
        invoices.len(),
        claimed.len(),
        receiver.count(),
        invoices.len() * EVENTS,
    );
}

async fn survive_once(test: &TestDb) {
    Box::pin(survive(test, 1)).await;
}

async fn survive_ten_times(test: &TestDb) {
    Box::pin(survive(test, 10)).await;
}

#[test]
fn one_of_each_is_killed_under_load_and_nothing_is_lost() {
    run_on_postgres(|test| Box::pin(survive_once(test)));
}

#[test]
#[ignore = "takes minutes: scripts/soak fleet"]
fn ten_of_each_are_killed_under_load_and_nothing_is_lost() {
    run_on_postgres(|test| Box::pin(survive_ten_times(test)));
}
