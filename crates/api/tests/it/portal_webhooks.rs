//! Webhooks over HTTP: saved for a coin, tested, rotated, delivered when something is paid on a real chain.

use std::{sync::Arc, time::Duration};

use axum::{Router, body::Bytes, extract::State, http::HeaderMap, routing::post};
use chainnet_api::EdgeConfig;
use hyper::StatusCode;
use parking_lot::Mutex;
use serde_json::{Value, json};
use store::testing::TestDb;
use tokio::net::TcpListener;

use crate::{
    contract::Walk,
    portal_orders::walk_sessions,
    portal_purchases::Buyer,
    portal_shop::order,
    rig::{Rig, on_both_engines},
};

on_both_engines! {
    a_webhook_is_saved_for_a_coin,
    payments_are_told_and_sent_again_on_demand,
    a_test_is_shown_in_full_and_limited,
    a_test_waits_as_long_as_a_receiver_may_take,
    a_secret_is_rotated,
    urls_that_lead_astray_are_refused,
    nobody_sees_anothers_deliveries,
    every_operation_of_webhooks_answers_as_it_is_described,
}

const WEBHOOKS: &str = "/api/v1/platform-dev/webhooks";
const ROTATE: &str = "/api/v1/platform-dev/webhooks/rotate";
const TEST: &str = "/api/v1/platform-dev/webhooks/test";
const DELIVERIES: &str = "/api/v1/platform-dev/webhooks/deliveries";
const EVENTS: &str = "/api/v1/platform-dev/events";

type Got = (HeaderMap, Bytes);

/// A merchant's server.
struct Shop {
    url: String,
    got: Arc<Mutex<Vec<Got>>>,
    status: Arc<Mutex<StatusCode>>,
    /// How long it takes to answer.
    delay: Arc<Mutex<Duration>>,
}

type Inside = (Arc<Mutex<Vec<Got>>>, Arc<Mutex<StatusCode>>, Arc<Mutex<Duration>>);

async fn receive(State((got, status, delay)): State<Inside>, headers: HeaderMap, body: Bytes) -> StatusCode {
    got.lock().push((headers, body));
    let delay = *delay.lock();
    tokio::time::sleep(delay).await;
    *status.lock()
}

impl Shop {
    async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let inside: Inside = (Arc::default(), Arc::new(Mutex::new(StatusCode::NO_CONTENT)), Arc::default());
        let (got, status, delay) = inside.clone();
        let router = Router::new().route("/hook", post(receive)).with_state(inside);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, got, status, delay }
    }

    /// Waits for so many requests.
    async fn received(&self, count: usize) -> Vec<Got> {
        for _ in 0..6_000 {
            if self.got.lock().len() >= count {
                return self.got.lock().clone();
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("{} of {count} arrived", self.got.lock().len())
    }
}

/// Saves a wallet's first URL and gives the secret.
async fn save(buyer: &Buyer<'_>, nonce: u64, url: &str) -> String {
    let body = json!({ "url": url });
    let reply = buyer.post(WEBHOOKS, body.clone()).await;
    assert_eq!(reply.refusal(), (402, "payment_required".into()), "{reply:?}");
    buyer.pay(nonce, &reply.json()["order"]);
    buyer.rig.mine().await;
    let reply = buyer.post(WEBHOOKS, body).await;
    assert_eq!(reply.status, 201, "{reply:?}");
    reply.json()["secret"].as_str().unwrap().to_owned()
}

async fn a_webhook_is_saved_for_a_coin(test: &TestDb) {
    let (rig, shop) = (Rig::new(test).await, Shop::open().await);
    let buyer = rig.buyer(2).await;
    assert_eq!(buyer.get(WEBHOOKS).await.json(), json!({ "webhook": null }));
    let body = json!({ "url": shop.url });
    let reply = buyer.post(WEBHOOKS, body.clone()).await;
    assert_eq!(reply.refusal(), (402, "payment_required".into()));
    let order = reply.json()["order"].clone();
    assert_eq!((&order["kind"], &order["amount"]), (&json!("webhook"), &json!("1")));
    let again = buyer.post(WEBHOOKS, body.clone()).await;
    assert_eq!(again.json()["order"]["id"], order["id"], "one order is enough");

    buyer.pay(0, &order);
    rig.mine().await;
    let reply = buyer.post(WEBHOOKS, body.clone()).await;
    assert_eq!(reply.status, 201, "{reply:?}");
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    let (webhook, secret) = (reply.json()["webhook"].clone(), reply.json()["secret"].clone());
    assert!(secret.as_str().unwrap().starts_with("whsec_"));
    assert_eq!((&webhook["url"], &webhook["state"]), (&json!(shop.url), &json!("active")));
    assert_eq!(buyer.look(&order).await["state"], "claimed");

    let other = json!({ "url": format!("{}/other", shop.url) });
    let reply = buyer.post(WEBHOOKS, other).await;
    assert_eq!((reply.status.as_u16(), &reply.json()["secret"]), (200, &json!(null)));
    let shown = buyer.get(WEBHOOKS).await;
    assert_eq!(shown.json()["webhook"]["url"], format!("{}/other", shop.url));
    assert!(!shown.json().to_string().contains("whsec_"));
}

async fn payments_are_told_and_sent_again_on_demand(test: &TestDb) {
    let (rig, shop) = (Rig::new(test).await, Shop::open().await);
    rig.deliver();
    rig.set_rate("1000").await;
    let buyer = rig.buyer(crate::portal_shop::MERCHANT).await;
    save(&buyer, 0, &shop.url).await;
    let merchant = rig.shop().await;
    let invoice = merchant.invoice(order()).await;
    let quote = merchant.quote(&invoice).await;
    rig.send_quote(3, 0, &quote);
    rig.mine().await;

    let got = shop.received(2).await;
    let events: Vec<Value> = got.iter().map(|(_, body)| serde_json::from_slice(body).unwrap()).collect();
    let types: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["payment.completed", "invoice.paid"]);
    assert_eq!(events[1]["data"]["invoice"]["id"], invoice["id"]);
    let header = |place: usize, name: &str| got[place].0[name].to_str().unwrap().to_owned();
    assert_eq!(header(1, "x-platform-event"), "invoice.paid");

    let delivered = format!("{DELIVERIES}?state=delivered");
    for _ in 0..2_000 {
        if buyer.get(&delivered).await.json()["deliveries"].as_array().unwrap().len() == 2 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let list = buyer.get(&delivered).await.json();
    let delivery =
        list["deliveries"].as_array().unwrap().iter().find(|one| one["eventType"] == "invoice.paid");
    let id = delivery.expect("it was delivered")["id"].as_str().unwrap().to_owned();
    assert_eq!(id, header(1, "x-platform-delivery"));
    let detail = buyer.get(&format!("{DELIVERIES}/{id}")).await.json();
    assert_eq!(
        (&detail["attempts"][0]["status"], &detail["attempts"][0]["attempt"]),
        (&json!(204), &json!(1))
    );

    let reply = buyer.post(&format!("{DELIVERIES}/{id}/redeliver"), json!({})).await;
    assert_eq!(reply.status, 202, "{reply:?}");
    assert_ne!(reply.json()["delivery"]["id"], json!(id));
    let again = shop.received(3).await;
    assert_eq!(again[2].1, again[1].1, "the same bytes");
    assert_eq!(again[2].0["webhook-id"], again[1].0["webhook-id"]);

    let events = buyer.get(&format!("{EVENTS}?limit=1")).await;
    assert_eq!(events.json()["events"][0]["type"], "invoice.paid");
    let cursor = events.json()["nextCursor"].as_str().unwrap().to_owned();
    let next = buyer.get(&format!("{EVENTS}?limit=1&cursor={cursor}")).await;
    assert_eq!(next.json()["events"][0]["type"], "payment.completed");
}

async fn a_test_is_shown_in_full_and_limited(test: &TestDb) {
    let (rig, shop) = (Rig::new(test).await, Shop::open().await);
    let buyer = rig.buyer(2).await;
    let reply = buyer.post(TEST, json!({})).await;
    assert_eq!(reply.refusal(), (409, "webhook_not_configured".into()));
    save(&buyer, 0, &shop.url).await;
    let reply = buyer.post(TEST, json!({})).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    let report = reply.json();
    let (headers, body) = shop.received(1).await.remove(0);
    assert_eq!(report["request"]["body"].as_str().unwrap().as_bytes(), &body[..]);
    for header in report["request"]["headers"].as_array().unwrap() {
        let (name, value) = (header["name"].as_str().unwrap(), header["value"].as_str().unwrap());
        assert_eq!(headers[name].to_str().unwrap(), value);
    }
    assert_eq!((&report["isDelivered"], &report["response"]["status"]), (&json!(true), &json!(204)));
    let standard = format!(
        "{}.{}.{}",
        headers["webhook-id"].to_str().unwrap(),
        headers["webhook-timestamp"].to_str().unwrap(),
        std::str::from_utf8(&body).unwrap()
    );
    assert_eq!(report["signatureInput"]["standard"], standard);

    *shop.status.lock() = StatusCode::INTERNAL_SERVER_ERROR;
    let failed = buyer.post(TEST, json!({})).await.json();
    assert_eq!((&failed["isDelivered"], &failed["response"]["status"]), (&json!(false), &json!(500)));
    let list = buyer.get(DELIVERIES).await.json();
    assert_eq!(list["deliveries"].as_array().unwrap().len(), 2);
    for _ in 2..10 {
        assert_eq!(buyer.post(TEST, json!({})).await.status, 200);
    }
    let reply = buyer.post(TEST, json!({})).await;
    assert_eq!(reply.refusal(), (429, "rate_limited".into()));
    assert!(reply.header("retry-after").is_some());
}

async fn a_test_waits_as_long_as_a_receiver_may_take(test: &TestDb) {
    // The time that any other request may take is over long before the receiver answers.
    let config = EdgeConfig {
        requests_per_minute: 1_000_000,
        time_limit: Duration::from_secs(2),
        ..EdgeConfig::default()
    };
    let (rig, shop) = (Rig::with(test, config).await, Shop::open().await);
    let buyer = rig.buyer(2).await;
    save(&buyer, 0, &shop.url).await;
    *shop.delay.lock() = Duration::from_secs(4);
    let reply = buyer.post(TEST, json!({})).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    assert_eq!(reply.json()["isDelivered"], json!(true));
}

async fn a_secret_is_rotated(test: &TestDb) {
    let (rig, shop) = (Rig::new(test).await, Shop::open().await);
    let buyer = rig.buyer(2).await;
    let old = save(&buyer, 0, &shop.url).await;
    let reply = buyer.post(ROTATE, json!({ "overlapHours": 1 })).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    let rotated = reply.json();
    assert_ne!(rotated["nextSecret"], json!(old));
    assert_eq!(rotated["webhook"]["nextSecretActiveAt"], rotated["activeAt"]);
    let report = buyer.post(TEST, json!({})).await.json();
    let names: Vec<&str> = report["request"]["headers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"x-platform-signature-next"), "{names:?}");
    for hours in [json!(73), json!(-1), json!(1.5), json!("1")] {
        let reply = buyer.post(ROTATE, json!({ "overlapHours": hours })).await;
        assert_eq!(reply.refusal(), (422, "validation_failed".into()), "{hours}");
    }
}

async fn urls_that_lead_astray_are_refused(test: &TestDb) {
    let rig = Rig::new(test).await;
    let buyer = rig.buyer(2).await;
    for (url, reason) in [
        ("ftp://shop.example.org/", "scheme"),
        ("nonsense", "not_a_url"),
        ("http://user:pass@127.0.0.1/", "user_info"),
        ("http://127.0.0.1/#here", "fragment"),
        (&format!("http://127.0.0.1/{}", "a".repeat(2_048)), "too_long"),
    ] {
        let reply = buyer.post(WEBHOOKS, json!({ "url": url })).await;
        assert_eq!(reply.refusal(), (422, "webhook_url_blocked".into()), "{url}");
        assert_eq!(reply.json()["reason"], reason, "{url}");
    }
    let orders = buyer.get(crate::portal_purchases::ORDERS).await.json();
    assert_eq!(orders["orders"], json!([]), "nothing is asked for a URL that is no good");
}

async fn nobody_sees_anothers_deliveries(test: &TestDb) {
    let (rig, shop) = (Rig::new(test).await, Shop::open().await);
    let (one, other) = (rig.buyer(2).await, rig.buyer(3).await);
    save(&one, 0, &shop.url).await;
    save(&other, 0, &shop.url).await;
    let id = one.post(TEST, json!({})).await.json()["deliveryId"].as_str().unwrap().to_owned();
    let path = format!("{DELIVERIES}/{id}");
    assert_eq!(one.get(&path).await.status, 200);
    assert_eq!(other.get(&path).await.refusal(), (404, "delivery_not_found".into()));
    let again = format!("{path}/redeliver");
    assert_eq!(other.post(&again, json!({})).await.refusal(), (404, "delivery_not_found".into()));
    assert_eq!(other.get(DELIVERIES).await.json()["deliveries"], json!([]));
    let old = format!("{DELIVERIES}/dlv_00000000000000000000000001");
    assert_eq!(one.get(&old).await.refusal(), (410, "delivery_pruned".into()));
    for path in [WEBHOOKS, DELIVERIES, EVENTS, &path] {
        assert_eq!(rig.get(path).await.refusal().0, 401, "{path}");
    }
    for path in [WEBHOOKS, ROTATE, TEST, &again] {
        assert_eq!(rig.post(path, "{}").await.refusal().0, 401, "{path}");
    }
}

async fn every_operation_of_webhooks_answers_as_it_is_described(test: &TestDb) {
    let (rig, shop) = (Rig::new(test).await, Shop::open().await);
    let document = rig.get("/api/v1/openapi.json").await.json();
    let mut walk = Walk::of(document, |tag| tag == "Portal webhooks");
    let buyer = rig.buyer(2).await;
    walk.note("getWebhook", WEBHOOKS, &buyer.get(WEBHOOKS).await);
    walk.note("testWebhook", TEST, &buyer.post(TEST, json!({})).await);
    walk.note("rotateWebhook", ROTATE, &buyer.post(ROTATE, json!({})).await);
    let body = json!({ "url": shop.url });
    let reply = buyer.post(WEBHOOKS, body.clone()).await;
    walk.note("saveWebhook", WEBHOOKS, &reply);
    buyer.pay(0, &reply.json()["order"]);
    rig.mine().await;
    for _ in 0..2 {
        walk.note("saveWebhook", WEBHOOKS, &buyer.post(WEBHOOKS, body.clone()).await);
    }
    walk.note("getWebhook", WEBHOOKS, &buyer.get(WEBHOOKS).await);
    for hours in [json!(1), json!(99)] {
        let reply = buyer.post(ROTATE, json!({ "overlapHours": hours })).await;
        walk.note("rotateWebhook", ROTATE, &reply);
    }
    let long = format!("\"{}\"", "a".repeat(20_000));
    for body in ["{", &long, "{}", r#"{"url":1}"#, r#"{"url":"x"}"#, r#"{"uri":"x"}"#] {
        walk.note("saveWebhook", body, &buyer.post_with(WEBHOOKS, &[], body.to_owned()).await);
        walk.note("rotateWebhook", body, &buyer.post_with(ROTATE, &[], body.to_owned()).await);
    }
    let tested = buyer.post(TEST, json!({})).await;
    walk.note("testWebhook", TEST, &tested);
    let id = tested.json()["deliveryId"].as_str().unwrap().to_owned();
    for _ in 0..10 {
        walk.note("testWebhook", TEST, &buyer.post(TEST, json!({})).await);
    }
    for query in ["", "?state=delivered&limit=1", "?limit=0", "?cursor=x", "?state=lost", "?x=1"] {
        walk.note("listDeliveries", query, &buyer.get(&format!("{DELIVERIES}{query}")).await);
    }
    for query in ["", "?limit=1", "?limit=0", "?cursor=x", "?limit=1&limit=2", "?x=1"] {
        walk.note("listEvents", query, &buyer.get(&format!("{EVENTS}{query}")).await);
    }
    for id in [id.as_str(), "x", "dlv_00000000000000000000000001"] {
        let path = format!("{DELIVERIES}/{id}");
        walk.note("getDelivery", &path, &buyer.get(&path).await);
        walk.note("redeliver", &path, &buyer.post(&format!("{path}/redeliver"), json!({})).await);
    }
    let delivery = format!("{DELIVERIES}/{id}");
    let again = format!("{delivery}/redeliver");
    let calls = [
        ("saveWebhook", "POST", WEBHOOKS, r#"{"url":"http://127.0.0.1:1/"}"#),
        ("getWebhook", "GET", WEBHOOKS, ""),
        ("rotateWebhook", "POST", ROTATE, "{}"),
        ("testWebhook", "POST", TEST, ""),
        ("listDeliveries", "GET", DELIVERIES, ""),
        ("getDelivery", "GET", &delivery, ""),
        ("redeliver", "POST", &again, ""),
        ("listEvents", "GET", EVENTS, ""),
    ];
    let nobody = rig.buyer(3).await;
    walk.note("redeliver", &again, &nobody.post(&again, json!({})).await);
    walk_sessions(&mut walk, &rig, test, &calls).await;
    walk.finish();
}
