//! Orders that are not wanted any more: cancelled, and what becomes of payments that come all the same.

use chainnet_api::clock::Clock;
use serde_json::{Value, json};
use store::testing::TestDb;

use crate::{
    portal_purchases::{Buyer, KEYS, ORDERS},
    rig::{Reply, Rig, on_both_engines},
};

on_both_engines! {
    an_order_that_is_cancelled_frees_its_slot,
    a_payment_that_crosses_a_cancellation_is_not_lost,
    a_payment_after_a_cancellation_waits_for_a_slot,
    what_is_paid_or_over_cannot_be_cancelled,
    an_order_is_cancelled_by_its_wallet_alone,
    plans_are_named_by_their_titles_too,
    a_buyer_is_told_that_there_is_no_rate,
}

async fn cancel(buyer: &Buyer<'_>, order: &Value) -> Reply {
    buyer.post_with(&format!("{ORDERS}/{}/cancel", order["id"].as_str().unwrap()), &[], String::new()).await
}

async fn an_order_that_is_cancelled_frees_its_slot(test: &TestDb) {
    let rig = Rig::new(test).await;
    let buyer = rig.buyer(2).await;
    let mut orders = Vec::new();
    for _ in 0..5 {
        orders.push(buyer.order("monthly").await);
    }
    let sixth = json!({ "plan": "monthly" });
    assert_eq!(buyer.post(KEYS, sixth.clone()).await.refusal(), (409, "key_limit_reached".into()));
    let reply = cancel(&buyer, &orders[0]).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    let cancelled = reply.json()["order"].clone();
    assert_eq!((&cancelled["id"], &cancelled["state"]), (&orders[0]["id"], &json!("cancelled")));
    assert_eq!(buyer.look(&orders[0]).await, cancelled);
    assert_eq!(cancel(&buyer, &orders[0]).await.json()["order"], cancelled, "once more changes nothing");
    assert_eq!(buyer.post(KEYS, sixth).await.refusal(), (402, "payment_required".into()));
    let refused = buyer.claim(&orders[0]).await;
    assert_eq!(refused.refusal(), (409, "order_not_paid".into()));
    let audit = rig.db.list_audit(buyer.address(), 9).await.unwrap();
    assert_eq!(
        (audit[0].action.name(), audit[0].target.as_str()),
        ("order.cancelled", orders[0]["id"].as_str().unwrap())
    );
}

async fn a_payment_that_crosses_a_cancellation_is_not_lost(test: &TestDb) {
    let rig = Rig::new(test).await;
    let buyer = rig.buyer(2).await;
    let order = buyer.order("monthly").await;
    buyer.pay(0, &order);
    assert_eq!(cancel(&buyer, &order).await.status, 200);
    rig.mine().await;
    let paid = buyer.look(&order).await;
    assert_eq!((&paid["state"], &paid["exception"]), (&json!("paid"), &json!("paid_late")));
    assert_eq!(buyer.claim(&order).await.status, 201);
}

async fn a_payment_after_a_cancellation_waits_for_a_slot(test: &TestDb) {
    let rig = Rig::new(test).await;
    let buyer = rig.buyer(2).await;
    let order = buyer.order("monthly").await;
    cancel(&buyer, &order).await;
    let mut others = Vec::new();
    for _ in 0..5 {
        others.push(buyer.order("monthly").await);
    }
    buyer.pay(0, &order);
    rig.mine().await;
    assert_eq!(buyer.look(&order).await["state"], "paid_waiting");
    assert_eq!(buyer.claim(&order).await.refusal(), (409, "key_limit_reached".into()));
    cancel(&buyer, &others[0]).await;
    assert_eq!(buyer.claim(&order).await.status, 201);
}

async fn what_is_paid_or_over_cannot_be_cancelled(test: &TestDb) {
    let rig = Rig::new(test).await;
    let buyer = rig.buyer(2).await;
    let (paid, over) = (buyer.order("monthly").await, buyer.order("monthly").await);
    buyer.pay(0, &paid);
    rig.mine().await;
    let reply = cancel(&buyer, &paid).await;
    assert_eq!(reply.refusal(), (409, "order_not_open".into()));
    assert_eq!(reply.json()["order"]["state"], "paid");
    let end: jiff::Timestamp = over["expiresAt"].as_str().unwrap().parse().unwrap();
    rig.mine_at(u64::try_from(end.max(rig.clock.now()).as_second()).unwrap() + 1).await;
    assert_eq!(cancel(&buyer, &over).await.refusal(), (409, "order_not_open".into()));
    assert_eq!(buyer.claim(&paid).await.status, 201);
    assert_eq!(cancel(&buyer, &paid).await.refusal(), (409, "order_not_open".into()));
}

async fn an_order_is_cancelled_by_its_wallet_alone(test: &TestDb) {
    let rig = Rig::new(test).await;
    let (buyer, stranger) = (rig.buyer(2).await, rig.buyer(3).await);
    let order = buyer.order("monthly").await;
    assert_eq!(cancel(&stranger, &order).await.refusal(), (404, "order_not_found".into()));
    assert_eq!(cancel(&buyer, &json!({ "id": "ord_x" })).await.refusal(), (404, "order_not_found".into()));
    assert_eq!(buyer.look(&order).await["state"], "awaiting_payment");
}

async fn plans_are_named_by_their_titles_too(test: &TestDb) {
    let rig = Rig::new(test).await;
    let buyer = rig.buyer(2).await;
    for (text, plan) in [
        ("Monthly", "monthly"),
        ("Three months", "quarterly"),
        ("THREE MONTHS", "quarterly"),
        ("Yearly", "yearly"),
        ("Three-Months", "quarterly"),
    ] {
        let order = buyer.order(text).await;
        assert_eq!(order["plan"], plan, "{text}");
    }
    for text in ["", "weekly", "Three  months", "month", " monthly"] {
        let reply = buyer.post(KEYS, json!({ "plan": text })).await;
        assert_eq!(reply.refusal(), (422, "plan_unknown".into()), "{text}");
    }
}

async fn a_buyer_is_told_that_there_is_no_rate(test: &TestDb) {
    let rig = Rig::new(test).await;
    let buyer = rig.buyer(2).await;
    let reply = buyer.post(KEYS, json!({ "plan": "monthly" })).await;
    assert_eq!(reply.refusal(), (402, "payment_required".into()));
    let notice = reply.json()["notices"][0].clone();
    assert_eq!(notice["code"], "rate_unavailable", "{reply:?}");
    rig.set_rate("1000").await;
    let reply = buyer.post(KEYS, json!({ "plan": "monthly" })).await.json();
    assert_eq!(reply["notices"], json!(null), "{reply}");
}
