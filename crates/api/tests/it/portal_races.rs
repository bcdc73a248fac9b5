//! Many at once want the last of a wallet's slots for keys, on both databases.

use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::{Value, json};
use store::testing::TestDb;

use crate::{
    portal_purchases::{KEYS, ORDERS},
    rig::{Reply, Rig, on_both_engines},
};

on_both_engines! {
    of_many_orders_five_get_a_slot,
    of_many_claims_of_an_order_one_gets_its_key,
    of_many_tries_of_a_purchase_one_opens_an_order,
    late_orders_race_for_the_last_slot,
}

const RIVALS: usize = 64;

fn outcomes(replies: &[Reply]) -> Vec<(u16, String)> {
    let outcome = |reply: &Reply| match reply.status.as_u16() {
        201 => (201, String::new()),
        _ => reply.refusal(),
    };
    replies.iter().map(outcome).collect()
}

fn count(outcomes: &[(u16, String)], status: u16, code: &str) -> usize {
    outcomes.iter().filter(|(found, word)| (*found, word.as_str()) == (status, code)).count()
}

async fn of_many_orders_five_get_a_slot(test: &TestDb) {
    let rig = Rig::new(test).await;
    let buyer = rig.buyer(2).await;
    let replies = join_all((0..RIVALS).map(|_| buyer.post(KEYS, json!({ "plan": "monthly" })))).await;
    let found = outcomes(&replies);
    assert_eq!(count(&found, 402, "payment_required"), 5, "{found:?}");
    assert_eq!(count(&found, 409, "key_limit_reached"), RIVALS - 5, "{found:?}");

    let orders: Vec<Value> = replies
        .iter()
        .filter(|reply| reply.status == 402)
        .map(|reply| reply.json()["order"].clone())
        .collect();
    for (nonce, order) in (0..).zip(&orders) {
        buyer.pay(nonce, order);
    }
    rig.mine().await;
    let replies = join_all(orders.iter().map(|order| buyer.claim(order))).await;
    assert_eq!(count(&outcomes(&replies), 201, ""), 5);
    assert_eq!(buyer.get(KEYS).await.json()["active"], 5);
    let sixth = buyer.post(KEYS, json!({ "plan": "monthly" })).await;
    assert_eq!(sixth.refusal(), (409, "key_limit_reached".into()));
}

async fn of_many_claims_of_an_order_one_gets_its_key(test: &TestDb) {
    let rig = Arc::new(Rig::new(test).await);
    let buyer = rig.buyer(2).await;
    let order = buyer.order("monthly").await;
    buyer.pay(0, &order);
    // They wait together for the block, too.
    let claims = join_all((0..RIVALS).map(|_| buyer.claim(&order)));
    let (replies, _) = tokio::join!(claims, rig.mine());
    let found = outcomes(&replies);
    assert_eq!(count(&found, 201, ""), 1, "{found:?}");
    assert_eq!(count(&found, 409, "order_claimed"), RIVALS - 1, "{found:?}");
    assert_eq!(buyer.get(KEYS).await.json()["keys"].as_array().unwrap().len(), 1);
}

async fn of_many_tries_of_a_purchase_one_opens_an_order(test: &TestDb) {
    let rig = Rig::new(test).await;
    let buyer = rig.buyer(2).await;
    let body = json!({ "plan": "monthly" }).to_string();
    let tries = (0..RIVALS).map(|_| buyer.post_with(KEYS, &[("idempotency-key", "one")], body.clone()));
    let replies = join_all(tries).await;
    assert_eq!(count(&outcomes(&replies), 402, "payment_required"), RIVALS);
    let first = replies[0].json()["order"].clone();
    assert!(replies.iter().all(|reply| reply.json()["order"] == first));
    assert_eq!(buyer.get(ORDERS).await.json()["orders"].as_array().unwrap().len(), 1);
}

async fn late_orders_race_for_the_last_slot(test: &TestDb) {
    let rig = Rig::new(test).await;
    let buyer = rig.buyer(2).await;
    rig.mine().await;
    let mut late = Vec::new();
    for _ in 0..5 {
        late.push(buyer.order("monthly").await);
    }
    let now = u64::try_from(chainnet_api::clock::Clock::now(&*rig.clock).as_second()).unwrap();
    rig.mine_at(now + 31 * 60).await;
    for _ in 0..5 {
        buyer.order("monthly").await;
    }
    for (nonce, order) in (0..).zip(&late) {
        buyer.pay(nonce, order);
    }
    rig.mine().await;
    for order in &late {
        assert_eq!(buyer.look(order).await["state"], "paid_waiting");
    }
    let refused = join_all(late.iter().map(|order| buyer.claim(order))).await;
    assert_eq!(count(&outcomes(&refused), 409, "key_limit_reached"), 5);
    // The five that took the slots lapse, too; then there is room for all that were paid.
    rig.mine_at(now + 2 * 31 * 60).await;
    let claims = (0..RIVALS).map(|index| buyer.claim(&late[index % late.len()]));
    let found = outcomes(&join_all(claims).await);
    assert_eq!(count(&found, 201, ""), 5, "{found:?}");
    assert_eq!(buyer.get(KEYS).await.json()["active"], 5);
}
