//! Buying developer keys with coin, over HTTP and on a real chain.

use std::{sync::Arc, time::Duration};

use alloy_primitives::B256;
use chainnet_api::{EdgeConfig, clock::Clock};
use contracts::{PlatformFees, fees::FeeSource};
use merchant::{CreditProgress, Difference, Reconciler};
use serde_json::{Value, json};
use store::testing::TestDb;

use crate::{
    contract::Walk,
    portal_purchases::{KEYS, ORDERS, PLANS, REVOKE},
    rig::{Rig, deployment, on_both_engines},
};

on_both_engines! {
    a_key_is_bought_claimed_and_used,
    payments_that_are_odd_are_shown_and_none_is_lost,
    a_late_payment_counts_if_there_is_a_slot,
    a_claim_waits_for_its_payment_and_never_calls_it_failed,
    keys_that_end_or_are_taken_back_free_their_slots,
    an_order_is_opened_once_for_an_idempotency_key,
    orders_are_listed_by_pages_and_to_their_wallet,
    chain_and_database_are_compared,
    every_operation_of_orders_answers_as_it_is_described,
}

async fn a_key_is_bought_claimed_and_used(test: &TestDb) {
    let rig = Rig::new(test).await;
    let buyer = rig.buyer(2).await;
    let body = json!({ "plan": "three-months", "name": "Toko ☕", "scopes": ["invoices:read"] });
    let reply = buyer.post(KEYS, body).await;
    assert_eq!(reply.refusal(), (402, "payment_required".into()));
    let order = reply.json()["order"].clone();
    assert_eq!((order["kind"].as_str(), order["plan"].as_str()), (Some("api_key"), Some("quarterly")));
    assert_eq!((&order["amount"], &order["amountWei"]), (&json!("270"), &json!("270000000000000000000")));
    let split = json!({
        "burned": "81", "burnedWei": "81000000000000000000", "held": "189", "heldWei": "189000000000000000000",
    });
    assert_eq!(order["split"], split);
    assert_eq!((&order["state"], &order["txHash"]), (&json!("awaiting_payment"), &json!(null)));

    let tx = buyer.pay(0, &order);
    rig.mine().await;
    let paid = buyer.look(&order).await;
    assert_eq!((&paid["state"], &paid["exception"]), (&json!("paid"), &json!("none")));
    assert_eq!((&paid["txHash"], &paid["payer"]), (&json!(tx), &json!(buyer.address().to_checksum(None))));
    let burns = rig.get("/api/v1/fees/burns").await.json();
    let portal = burns["sources"].as_array().unwrap().iter().find(|s| s["source"] == "developer-portal");
    assert_eq!(portal.unwrap()["burned"], "81");

    let reply = buyer.claim(&order).await;
    assert_eq!(reply.status, 201, "{reply:?}");
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    let (key, secret) = (reply.json()["key"].clone(), reply.json()["secret"].as_str().unwrap().to_owned());
    assert_eq!((&key["name"], &key["scopes"]), (&json!("Toko ☕"), &json!(["invoices:read"])));
    assert_eq!((&key["plan"], &key["state"]), (&json!("quarterly"), &json!("active")));
    let time = |name: &str| key[name].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    assert_eq!(time("expiresAt").duration_since(time("createdAt")).as_hours(), 90 * 24);
    assert!(secret.starts_with(&format!("pdk_{}_", key["id"].as_str().unwrap())));
    assert!(secret.ends_with(key["last4"].as_str().unwrap()));

    let used = rig.get_with("/api/v1/platform-dev/v1/key", &[("x-platform-dev-key", &secret)]).await;
    assert_eq!((used.status.as_u16(), &used.json()["name"]), (200, &json!("Toko ☕")));
    assert_eq!(buyer.claim(&order).await.refusal(), (409, "order_claimed".into()));
    assert_eq!(buyer.look(&order).await["state"], "claimed");
    let listed = buyer.get(KEYS).await.json();
    assert_eq!((listed["keys"][0]["id"].clone(), &listed["active"]), (key["id"].clone(), &json!(1)));
    assert!(!listed.to_string().contains(&secret[17..]), "secrets are not kept");
    let audit = rig.db.list_audit(buyer.address(), 9).await.unwrap();
    assert_eq!(
        (audit[0].action.name(), audit[0].target.as_str()),
        ("key.created", key["id"].as_str().unwrap())
    );
}

async fn payments_that_are_odd_are_shown_and_none_is_lost(test: &TestDb) {
    let rig = Rig::new(test).await;
    let buyer = rig.buyer(2).await;
    let order = buyer.order("monthly").await;
    // Too little, then too much by somebody else, then once more.
    rig.send_fee(2, 0, &order, 99);
    rig.mine().await;
    assert_eq!(buyer.look(&order).await["state"], "awaiting_payment");
    let settling = rig.send_fee(3, 0, &order, 150);
    rig.mine().await;
    rig.send_fee(2, 1, &order, 100);
    let unknown =
        PlatformFees::payCall { source: FeeSource::DeveloperPortal.id(), r#ref: B256::repeat_byte(9) };
    let input = alloy_sol_types::SolCall::abi_encode(&unknown).into();
    rig.send(2, 2, deployment().contracts.platform_fees.into(), domain::Wei::from_coin(7).0, input);
    rig.mine().await;
    let paid = buyer.look(&order).await;
    assert_eq!((&paid["state"], &paid["exception"]), (&json!("paid"), &json!("overpaid")));
    assert_eq!((&paid["txHash"], &paid["amountPaid"]), (&json!(settling), &json!("150")));
    let stranger = domain::devnet::ACCOUNTS[3].address;
    assert_eq!(paid["payer"], json!(stranger.to_checksum(None)));
    let payments = rig.db.list_payments(buyer.address(), None, 9).await.unwrap();
    let exceptions: Vec<&str> = payments.iter().rev().map(|payment| payment.exception.name()).collect();
    assert_eq!(exceptions, ["underpaid", "overpaid", "duplicate", "unmatched"]);
    assert_eq!(buyer.claim(&order).await.status, 201);
    let events = rig.db.list_events(buyer.address(), None, 9).await.unwrap();
    assert_eq!(events.len(), 1, "one payment did what it was for");
}

async fn a_late_payment_counts_if_there_is_a_slot(test: &TestDb) {
    let rig = Rig::new(test).await;
    let buyer = rig.buyer(2).await;
    rig.mine().await;
    let (first, second) = (buyer.order("monthly").await, buyer.order("monthly").await);
    let end: jiff::Timestamp = second["expiresAt"].as_str().unwrap().parse().unwrap();
    rig.mine_at(u64::try_from(end.as_second()).unwrap() + 1).await;
    assert_eq!(buyer.look(&first).await["state"], "expired");
    let others = [buyer.order("monthly").await, buyer.order("yearly").await];
    for _ in 0..2 {
        buyer.order("monthly").await;
    }
    // Four slots are taken: there is one for the first.
    buyer.pay(0, &first);
    buyer.pay(1, &second);
    buyer.pay(2, &others[0]);
    rig.mine().await;
    let states = [&first, &second, &others[0]];
    for (order, state) in states.iter().zip(["paid", "paid_waiting", "paid"]) {
        assert_eq!(buyer.look(order).await["state"], state);
    }
    assert_eq!(buyer.look(&first).await["exception"], "paid_late");
    assert_eq!(buyer.claim(&second).await.refusal(), (409, "key_limit_reached".into()));
    let key = buyer.claim(&others[0]).await.json()["key"].clone();
    assert_eq!(buyer.claim(&second).await.refusal(), (409, "key_limit_reached".into()));
    assert_eq!(buyer.revoke(&key).await.status, 200);
    assert_eq!(buyer.claim(&second).await.status, 201, "there is room again");
    assert_eq!(buyer.claim(&first).await.status, 201);
}

async fn a_claim_waits_for_its_payment_and_never_calls_it_failed(test: &TestDb) {
    let rig = Rig::new(test).await;
    let buyer = rig.buyer(2).await;
    let order = buyer.order("monthly").await;
    let nowhere = json!({ "orderId": order["id"], "txHash": B256::repeat_byte(9) });
    let reply = buyer.post(KEYS, nowhere).await;
    assert_eq!(reply.refusal(), (409, "order_not_paid".into()));
    assert_eq!(reply.json()["order"]["id"], order["id"]);
    assert!(reply.json()["detail"].as_str().unwrap().contains("do not pay twice"));
    let reply = buyer.claim(&order).await;
    assert_eq!(reply.refusal(), (409, "order_not_paid".into()), "after a while");

    // A transaction that is in a block and pays something else, one that was undone, one that waits.
    let other = rig.transfer(2, 0, 1);
    let undone = rig.send_fee(2, 1, &order, 0);
    rig.mine().await;
    for (hash, words) in [(other, "has not paid this order"), (undone, "failed")] {
        let reply = buyer.post(KEYS, json!({ "orderId": order["id"], "txHash": hash })).await;
        assert_eq!(reply.refusal(), (409, "order_not_paid".into()));
        assert!(reply.json()["detail"].as_str().unwrap().contains(words), "{reply:?}");
    }
    let tx = buyer.pay(2, &order);
    let claim = json!({ "orderId": order["id"], "txHash": tx });
    // The block comes while the claim waits.
    let (reply, _) = tokio::join!(buyer.post(KEYS, claim), rig.mine());
    assert_eq!(reply.status, 201, "{reply:?}");
    // What cannot be looked up may be on its way.
    let next = buyer.order("monthly").await;
    rig.node.cut(true);
    let reply = buyer.post(KEYS, json!({ "orderId": next["id"], "txHash": B256::repeat_byte(9) })).await;
    assert_eq!(reply.refusal(), (409, "order_not_paid".into()));
    assert!(reply.json()["detail"].as_str().unwrap().contains("not in a block yet"), "{reply:?}");
}

async fn keys_that_end_or_are_taken_back_free_their_slots(test: &TestDb) {
    let rig = Rig::new(test).await;
    let buyer = rig.buyer(2).await;
    let key = buyer.buy(0, "monthly").await["key"].clone();
    buyer.buy(1, "yearly").await;
    for _ in 0..3 {
        buyer.order("monthly").await;
    }
    let full = json!({ "plan": "monthly" });
    assert_eq!(buyer.post(KEYS, full.clone()).await.refusal(), (409, "key_limit_reached".into()));
    let first = buyer.revoke(&key).await;
    assert_eq!((first.status.as_u16(), &first.json()["key"]["state"]), (200, &json!("revoked")));
    let again = buyer.revoke(&key).await;
    assert_eq!((again.status.as_u16(), again.json()), (200, first.json()), "nothing changes");
    let stranger = rig.buyer(3).await;
    assert_eq!(stranger.revoke(&key).await.refusal(), (404, "key_not_found".into()));
    let monthly = buyer.order("monthly").await;
    buyer.pay(2, &monthly);
    rig.mine().await;
    assert_eq!(buyer.claim(&monthly).await.status, 201);
    assert_eq!(buyer.post(KEYS, full).await.refusal(), (409, "key_limit_reached".into()));
    // A month later one key is over, and so are the orders.
    rig.clock.advance(Duration::from_secs(30 * 86_400));
    let buyer = rig.buyer(2).await;
    let listed = buyer.get(KEYS).await.json();
    let states: Vec<&str> =
        listed["keys"].as_array().unwrap().iter().map(|key| key["state"].as_str().unwrap()).collect();
    assert_eq!((states, &listed["active"]), (vec!["expired", "active", "revoked"], &json!(1)));
    buyer.order("monthly").await;
}

async fn an_order_is_opened_once_for_an_idempotency_key(test: &TestDb) {
    let rig = Rig::new(test).await;
    let buyer = rig.buyer(2).await;
    let open = async |key: &str, plan: &str| {
        let body = json!({ "plan": plan }).to_string();
        buyer.post_with(KEYS, &[("idempotency-key", key)], body).await
    };
    let first = open("a", "monthly").await;
    assert_eq!(first.refusal().0, 402);
    assert_eq!(open("a", "monthly").await.json()["order"], first.json()["order"]);
    assert_eq!(open("a", "yearly").await.refusal(), (422, "idempotency_key_reused".into()));
    assert_ne!(open("b", "monthly").await.json()["order"]["id"], first.json()["order"]["id"]);
    assert_eq!(buyer.get(ORDERS).await.json()["orders"].as_array().unwrap().len(), 2);
}

async fn orders_are_listed_by_pages_and_to_their_wallet(test: &TestDb) {
    let rig = Rig::new(test).await;
    let (buyer, stranger) = (rig.buyer(2).await, rig.buyer(3).await);
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.insert(0, buyer.order("monthly").await["id"].clone());
    }
    let mut seen = Vec::new();
    let mut path = format!("{ORDERS}?limit=2");
    loop {
        let page = buyer.get(&path).await.json();
        seen.extend(page["orders"].as_array().unwrap().iter().map(|order| order["id"].clone()));
        let Some(cursor) = page["nextCursor"].as_str() else { break };
        path = format!("{ORDERS}?limit=2&cursor={cursor}");
    }
    seen.sort_by_key(Value::to_string);
    ids.sort_by_key(Value::to_string);
    assert_eq!(seen, ids);
    assert_eq!(stranger.get(ORDERS).await.json(), json!({ "orders": [], "nextCursor": null }));
    let foreign = format!("{ORDERS}/{}", ids[0].as_str().unwrap());
    assert_eq!(stranger.get(&foreign).await.refusal(), (404, "order_not_found".into()));
    let claim = stranger.post(KEYS, json!({ "orderId": ids[0] })).await;
    assert_eq!(claim.refusal(), (404, "order_not_found".into()));
}

async fn chain_and_database_are_compared(test: &TestDb) {
    let rig = Rig::new(test).await;
    let buyer = rig.buyer(2).await;
    buyer.buy(0, "monthly").await;
    let shop = rig.shop().await;
    rig.set_rate("1000").await;
    let (paid, open) =
        (shop.invoice(crate::portal_shop::order()).await, shop.invoice(crate::portal_shop::order()).await);
    let quote = shop.quote(&paid).await;
    shop.quote(&open).await;
    rig.send_quote(3, 0, &quote);
    rig.mine().await;
    let contracts = deployment().contracts;
    let places = (contracts.platform_fees, contracts.platform_checkout);
    let clock = rig.clock.clone();
    let now = Arc::new(move || clock.now());
    let reconciler = |db: &store::Db| {
        let progress = CreditProgress::poll(rig.db.clone());
        Reconciler::new(db.clone(), rig.node.clone(), places, progress, now.clone())
    };
    let found = reconciler(&rig.db).reconcile().await.unwrap();
    assert_eq!((found.payments, found.quotes, found.difference_count), (2, 2, 0), "{found:?}");

    // A database that knows nothing of the portal's fees differs from the chain.
    let other = store::Db::open(&test.fresh_url().await).await.unwrap();
    let stop = tokio_util::sync::CancellationToken::new();
    let indexer = indexer::Indexer::new(rig.node.clone(), other.clone(), indexer::IndexerConfig::default());
    tokio::spawn(indexer.run(stop.clone()));
    let head = rig.db.index_head().await.unwrap();
    while other.index_head().await.unwrap() != head {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let found = reconciler(&other).reconcile().await.unwrap();
    assert_eq!((found.payments, found.difference_count), (1, 2), "{found:?}");
    assert!(matches!(found.differences[..], [Difference::NotRecorded(_), Difference::Totals { .. }]));
    stop.cancel();
}

async fn every_operation_of_orders_answers_as_it_is_described(test: &TestDb) {
    let rig = Rig::new(test).await;
    let document = rig.get("/api/v1/openapi.json").await.json();
    let mut walk = Walk::of(document, |tag| tag == "Portal orders");
    let buyer = rig.buyer(2).await;
    walk.note("listPlans", PLANS, &rig.get(PLANS).await);
    let order = buyer.order("monthly").await;
    let path = format!("{ORDERS}/{}", order["id"].as_str().unwrap());
    walk.note("createKey", KEYS, &buyer.claim(&order).await);
    buyer.pay(0, &order);
    rig.mine().await;
    walk.note("createKey", KEYS, &buyer.claim(&order).await);
    walk.note("createKey", KEYS, &buyer.claim(&order).await);
    let key = buyer.get(KEYS).await.json()["keys"][0].clone();
    walk.note("getOrder", &path, &buyer.get(&path).await);
    walk.note("getOrder", "x", &buyer.get(&format!("{ORDERS}/x")).await);
    let unwanted = format!("{ORDERS}/{}/cancel", buyer.order("monthly").await["id"].as_str().unwrap());
    for path in [unwanted.clone(), format!("{path}/cancel"), format!("{ORDERS}/x/cancel")] {
        walk.note("cancelOrder", &path, &buyer.post(&path, json!({})).await);
    }
    for query in ["", "?limit=0", "?cursor=x", "?limit=1&limit=1", "?x=1"] {
        walk.note("listOrders", query, &buyer.get(&format!("{ORDERS}{query}")).await);
    }
    let long = format!("\"{}\"", "a".repeat(20_000));
    let bodies = [
        r#"{"plan":"monthly"}"#,
        r#"{"plan":"weekly"}"#,
        r#"{"plan":"monthly","name":""}"#,
        r#"{"plan":"monthly","planet":1}"#,
        r#"{"orderId":"ord_x"}"#,
        r#"{"orderId":"ord_00000000000000000000000000","txHash":"0x1"}"#,
        "{",
        &long,
    ];
    for body in bodies {
        walk.note("createKey", body, &buyer.post_with(KEYS, &[], body.to_owned()).await);
    }
    for body in [
        r#"{}"#,
        r#"{"plan":"monthly","orderId":"x"}"#,
        r#"{"orderId":"x","name":"y"}"#,
        r#"{"plan":"monthly","txHash":"0x"}"#,
        r#"{"plan":1,"scopes":[1]}"#,
    ] {
        let reply = buyer.post_with(KEYS, &[], body.to_owned()).await;
        assert_eq!(reply.refusal(), (422, "validation_failed".into()), "{body}");
    }
    let open = async |key: &str, plan: &str| {
        let body = json!({ "plan": plan }).to_string();
        buyer.post_with(KEYS, &[("idempotency-key", key)], body).await
    };
    for (key, plan) in [("", "monthly"), ("a", "monthly"), ("a", "yearly")] {
        walk.note("createKey", key, &open(key, plan).await);
    }
    for _ in 0..5 {
        walk.note("createKey", "limit", &buyer.post(KEYS, json!({ "plan": "monthly" })).await);
    }
    walk.note("listKeys", KEYS, &buyer.get(KEYS).await);
    for body in [json!({ "keyId": key["id"] }), json!({ "keyId": "x" }), json!({}), json!({ "x": 1 })] {
        walk.note("revokeKey", REVOKE, &buyer.post(REVOKE, body).await);
    }
    for body in ["{".to_owned(), long.clone()] {
        walk.note("revokeKey", REVOKE, &buyer.post_with(REVOKE, &[], body).await);
    }
    let calls = [
        ("listPlans", "GET", PLANS, ""),
        ("createKey", "POST", KEYS, r#"{"plan":"monthly"}"#),
        ("listKeys", "GET", KEYS, ""),
        ("revokeKey", "POST", REVOKE, r#"{"keyId":"7Kq2mXc9TzPa"}"#),
        ("listOrders", "GET", ORDERS, ""),
        ("getOrder", "GET", &path, ""),
        ("cancelOrder", "POST", &unwanted, ""),
    ];
    walk_sessions(&mut walk, &rig, test, &calls).await;
    walk.finish();
}

/// An operation, its method, its path and a body.
type Call<'a> = (&'a str, &'a str, &'a str, &'a str);

/// Calls operations of a session in every way that a session is refused, and when nobody is behind the API.
pub(crate) async fn walk_sessions(walk: &mut Walk, rig: &Rig, test: &TestDb, calls: &[Call<'_>]) {
    let json = ("content-type", "application/json");
    let cookie = format!("chainnet_session={}", rig.sign_in(4).await);
    let old = crate::portal_people::bearer(&rig.sign_in(5).await);
    let without_portal = Rig::without_portal(test).await;
    let closed = Rig::with(
        test,
        EdgeConfig { requests_per_minute: 0, developer_key_requests_per_minute: 0, ..EdgeConfig::default() },
    )
    .await;
    for &(operation, method, path, body) in calls {
        let ask = async |rig: &Rig, path: &str, headers: &[(&str, &str)]| {
            rig.ask(method, path, headers, body).await
        };
        let bad = ("authorization", "Bearer pds_x");
        for headers in [&[json][..], &[json, bad], &[json, ("cookie", &cookie)]] {
            walk.note(operation, path, &ask(rig, path, headers).await);
        }
        walk.note(operation, path, &ask(rig, &format!("{path}?{}", "x".repeat(2048)), &[json]).await);
        walk.note(operation, path, &ask(&closed, path, &[json]).await);
        walk.note(operation, path, &ask(&without_portal, path, &[json]).await);
        if !body.is_empty() {
            let plain = [("content-type", "text/plain"), ("authorization", old.as_str())];
            walk.note(operation, path, &ask(rig, path, &plain).await);
        }
    }
    rig.clock.advance(Duration::from_secs(31 * 60));
    for &(operation, method, path, body) in calls {
        walk.note(operation, path, &rig.ask(method, path, &[json, ("authorization", &old)], body).await);
    }
    rig.db.close().await;
    for &(operation, method, path, body) in calls {
        walk.note(operation, path, &rig.ask(method, path, &[json, ("authorization", &old)], body).await);
    }
}
