//! `kill -9` of the worker while invoices are paid: every payment counts once, and every event reaches the merchant with the
//! same bytes however often it is sent.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    time::Duration,
};

use rand::{Rng, SeedableRng, rngs::StdRng};
use serde_json::Value;
use store::testing::{TestDb, run_on_postgres, run_on_sqlite};
use testkit::{AppProcess, HttpClient, Merchant, Mining, Receiver, RpcClient, Wallet};

use super::{PATIENCE, folder, role, worker};
use crate::rig::{BINARY, on_demand};

/// What every invoice asks for.
pub(super) const AMOUNT_IDR: u64 = 10_000;
/// Payments in a block.
const TOGETHER: usize = 10;
/// A payment has two events: itself, and the invoice.
pub(super) const EVENTS: usize = 2;
/// Longest life of a worker in the campaign.
const LONGEST_LIFE: Duration = Duration::from_millis(900);

/// Pays invoices while the worker is killed again and again, then looks at everything that the merchant sees.
async fn survive(test: &TestDb, kills: usize, payments: usize) {
    let (node, data) = (on_demand().await, folder());
    let own = ["--api-port", "0", "--rate-limit-max", "1000000", "--trusted-proxies", "127.0.0.0/8"];
    let arguments = role("api", data.path(), node.client(), test.url());
    let app = AppProcess::start(BINARY, arguments.into_iter().chain(own.map(str::to_owned)));
    let app = app.await.unwrap_or_else(|error| panic!("{error}"));
    let receiver = Receiver::start().await.unwrap();
    let mut victim = worker(data.path(), node.client(), test.url());
    let mut merchant =
        Merchant::sign_in(app.api(), RpcClient::new(node.client().address()), Wallet::dev(1)).await.unwrap();
    let key = merchant.buy_key(Mining::OnDemand).await.unwrap();
    merchant.save_webhook(&receiver.url(), Mining::OnDemand).await.unwrap();

    let (mut customer, mut transactions, mut invoices) = (Wallet::dev(2), Vec::new(), BTreeSet::new());
    for index in 0..payments {
        let invoice = merchant.create_invoice(&format!("customer {index}"), AMOUNT_IDR).await.unwrap();
        transactions.push(merchant.quote(&invoice).await.unwrap().sign(&mut customer));
        invoices.insert(invoice.id);
    }
    let mut random = StdRng::seed_from_u64(20_261_115);
    let paying = async {
        for block in transactions.chunks(TOGETHER) {
            for raw in block {
                node.client().send_raw(raw).await.unwrap();
            }
            node.client().mine().await.unwrap();
        }
    };
    let killing = async {
        for _ in 0..kills {
            tokio::time::sleep(random.random_range(Duration::ZERO..LONGEST_LIFE)).await;
            victim.kill().await.unwrap();
            victim = worker(data.path(), node.client(), test.url());
        }
    };
    tokio::join!(paying, killing);
    wait_for_events(&receiver, payments * EVENTS).await;
    check_events(&receiver, &invoices);
    check_books(app.api(), &key, payments).await;
}

/// Waits until so many different events have arrived. What a killed worker had taken comes when its lease is over.
pub(super) async fn wait_for_events(receiver: &Receiver, many: usize) {
    let different = || events(receiver).len();
    let arrived = async {
        loop {
            // Counted first: what arrives in between must not be waited for.
            let count = receiver.count();
            if different() >= many {
                return;
            }
            receiver.wait_for(count + 1).await;
        }
    };
    let waited = tokio::time::timeout(3 * PATIENCE, arrived).await;
    assert!(waited.is_ok(), "{} of {many} events have arrived", different());
}

/// Bodies by the id that their header names.
fn events(receiver: &Receiver) -> HashMap<String, BTreeSet<Vec<u8>>> {
    let mut events: HashMap<_, BTreeSet<_>> = HashMap::new();
    for received in receiver.received() {
        let id = received.headers["webhook-id"].to_str().unwrap().to_owned();
        events.entry(id).or_default().insert(received.body.to_vec());
    }
    events
}

pub(super) fn check_events(receiver: &Receiver, invoices: &BTreeSet<String>) {
    let mut sequences = BTreeMap::new();
    let mut told: HashMap<String, BTreeSet<String>> = HashMap::new();
    for (id, bodies) in events(receiver) {
        assert_eq!(bodies.len(), 1, "{id} was sent with different bodies");
        let event: Value = serde_json::from_slice(bodies.first().unwrap()).unwrap();
        assert_eq!(event["id"], id.as_str());
        let invoice = event.pointer("/data/invoice/id").and_then(Value::as_str).unwrap().to_owned();
        let is_new = told.entry(event["type"].as_str().unwrap().to_owned()).or_default().insert(invoice);
        assert!(is_new, "told twice of one invoice: {event}");
        sequences.insert(event["sequence"].as_u64().unwrap(), id);
    }
    assert_eq!(told["payment.completed"], *invoices);
    assert_eq!(told["invoice.paid"], *invoices);
    let (first, last) = (*sequences.keys().next().unwrap(), *sequences.keys().last().unwrap());
    assert_eq!(last - first + 1, sequences.len() as u64, "sequence numbers are missing");
}

pub(super) async fn check_books(api: HttpClient, key: &str, payments: usize) {
    let path = "/api/v1/platform-dev/v1/dashboard";
    let dashboard = api.get_with(path, &[("x-platform-dev-key", key)]).await.unwrap().json();
    assert_eq!(dashboard["invoices"]["paid"], payments, "{dashboard}");
    assert_eq!(dashboard["invoices"]["open"], 0, "{dashboard}");
    assert_eq!(dashboard["revenue"]["idr"], payments as u64 * AMOUNT_IDR, "{dashboard}");
}

store::engine_tests! {
    async fn killed_workers_credit_every_payment_once_and_lose_no_event(test: TestDb) {
        survive(test, 3, 60).await;
    }
}

async fn survive_fifty(test: &TestDb) {
    survive(test, 50, 1_000).await;
    eprintln!("50 kills, 1000 payments, each credited once and told of with the same bytes");
}

#[test]
#[ignore = "takes minutes: scripts/soak portal_kills"]
fn fifty_kills_lose_nothing_on_sqlite() {
    run_on_sqlite(|test| Box::pin(survive_fifty(test)));
}

#[test]
#[ignore = "takes minutes: scripts/soak portal_kills"]
fn fifty_kills_lose_nothing_on_postgres() {
    run_on_postgres(|test| Box::pin(survive_fifty(test)));
}
