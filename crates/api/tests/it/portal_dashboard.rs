//! What a merchant has done, over HTTP.

use std::time::Duration;

use chainnet_api::EdgeConfig;
use domain::{devnet, portal::Scopes};
use serde_json::{Value, json};
use store::testing::TestDb;

use crate::{
    contract::Walk,
    portal_people::bearer,
    portal_shop::{DASHBOARD, MERCHANT, order, walk_keys},
    rig::{Rig, on_both_engines},
};

on_both_engines! {
    a_dashboard_counts_what_happens,
    a_summary_shows_a_wallet_everything_of_its_own,
    every_operation_of_dashboards_answers_as_it_is_described,
    every_operation_of_summaries_answers_as_it_is_described,
}

const SUMMARY: &str = "/api/v1/platform-dev/summary";

async fn a_dashboard_counts_what_happens(test: &TestDb) {
    let rig = Rig::new(test).await;
    rig.set_rate("1000").await;
    let shop = rig.shop().await;
    let empty = shop.get(DASHBOARD).await.json();
    assert_eq!(empty["wallet"], shop.wallet.to_checksum(None));
    assert_eq!(empty["invoices"], json!({ "open": 0, "paid": 0, "expired": 0, "void": 0 }));
    assert_eq!((&empty["revenue"]["idr"], &empty["revenue"]["coin"]), (&json!(0), &json!("0")));
    assert_eq!(empty["keys"], json!({ "active": 1, "limit": 5 }));
    assert_eq!((&empty["webhook"], &empty["recentInvoices"]), (&json!(null), &json!([])));
    let days = empty["revenue"]["last30Days"].as_array().unwrap();
    assert_eq!(days.len(), 30);
    assert!(days.windows(2).all(|two| two[0]["date"].as_str() < two[1]["date"].as_str()));
    let mut made = Vec::new();
    for amount in [150_000, 50_000, 1_000, 2_000, 3_000, 4_000] {
        made.push(shop.invoice(json!({ "customerLabel": "Budi", "amountIdr": amount })).await);
    }
    shop.void(&made[2]).await;
    for (nonce, invoice) in made[..2].iter().enumerate() {
        let quote = shop.quote(invoice).await;
        rig.send_quote(2, nonce as u64, &quote);
    }
    rig.mine().await;
    let full = shop.get(DASHBOARD).await.json();
    assert_eq!(full["invoices"], json!({ "open": 3, "paid": 2, "expired": 0, "void": 1 }));
    let revenue = &full["revenue"];
    assert_eq!((&revenue["idr"], &revenue["coin"]), (&json!(200_000), &json!("200")));
    let total: u64 =
        revenue["last30Days"].as_array().unwrap().iter().map(|day| day["invoices"].as_u64().unwrap()).sum();
    assert_eq!(total, 2);
    let recent: Vec<Value> =
        full["recentInvoices"].as_array().unwrap().iter().map(|one| one["id"].clone()).collect();
    let mut newest: Vec<Value> = made.iter().map(|invoice| invoice["id"].clone()).collect();
    newest.sort_by_key(|id| std::cmp::Reverse(id.as_str().unwrap().to_owned()));
    assert_eq!(recent, newest[..5]);
    let other = rig.shop_of(alloy_primitives::Address::repeat_byte(9), Scopes::ALL).await;
    assert_eq!(other.get(DASHBOARD).await.json()["invoices"]["paid"], 0);
}

async fn every_operation_of_dashboards_answers_as_it_is_described(test: &TestDb) {
    let rig = Rig::new(test).await;
    let shop = rig.shop().await;
    shop.invoice(order()).await;
    let document = rig.get("/api/v1/openapi.json").await.json();
    let mut walk = Walk::of(document, |tag| tag == "Portal dashboard");
    walk.note("getDashboard", DASHBOARD, &shop.get(DASHBOARD).await);
    walk_keys(&mut walk, &rig, test, &shop, &[("getDashboard", "GET", DASHBOARD)]).await;
    walk.finish();
}

async fn a_summary_shows_a_wallet_everything_of_its_own(test: &TestDb) {
    let rig = Rig::new(test).await;
    rig.set_rate("1000").await;
    let shop = rig.shop().await;
    let invoice = shop.invoice(order()).await;
    let quote = shop.quote(&invoice).await;
    rig.send_quote(2, 0, &quote);
    rig.mine().await;
    let token = bearer(&rig.sign_in(MERCHANT).await);
    let order = json!({ "plan": "monthly" }).to_string();
    let headers = [("authorization", token.as_str()), ("content-type", "application/json")];
    let required = rig.ask("POST", "/api/v1/platform-dev/keys", &headers, order).await;
    assert_eq!(required.refusal(), (402, "payment_required".into()));
    let path = format!("{SUMMARY}/{}", shop.wallet.to_checksum(None));
    let reply = rig.get_with(&path, &headers[..1]).await;
    assert_eq!((reply.status.as_u16(), reply.header("cache-control")), (200, Some("no-store")));
    let summary = reply.json();
    assert_eq!(summary["dashboard"], shop.get(DASHBOARD).await.json());
    assert_eq!((&summary["keys"][0]["state"], &summary["webhook"]), (&json!("active"), &json!(null)));
    assert!(!String::from_utf8_lossy(&reply.body).contains(&shop.key), "no secrets");
    let orders: Vec<&Value> =
        summary["orders"].as_array().unwrap().iter().map(|order| &order["state"]).collect();
    assert_eq!(orders, ["awaiting_payment", "claimed"]);
    let payment = &summary["payments"][0];
    assert_eq!(payment["invoiceId"], invoice["id"]);
    assert_eq!((&payment["purpose"], &payment["exception"]), (&json!("invoice"), &json!("none")));
    assert_eq!(payment["quoteId"], quote["id"]);
    let foreign = format!("{SUMMARY}/{}", devnet::ACCOUNTS[MERCHANT + 1].address);
    let refused = rig.get_with(&foreign, &headers[..1]).await;
    assert_eq!(refused.refusal(), (403, "wallet_mismatch".into()));
}

async fn every_operation_of_summaries_answers_as_it_is_described(test: &TestDb) {
    let rig = Rig::new(test).await;
    rig.set_rate("1000").await;
    let shop = rig.shop().await;
    rig.send_quote(2, 0, &shop.quote(&shop.invoice(order()).await).await);
    rig.mine().await;
    let document = rig.get("/api/v1/openapi.json").await.json();
    let mut walk = Walk::of(document, |tag| tag == "Portal summary");
    let (token, path) = (bearer(&rig.sign_in(MERCHANT).await), format!("{SUMMARY}/{}", shop.wallet));
    let ask =
        async |rig: &Rig, path: &str, token: &str| rig.get_with(path, &[("authorization", token)]).await;
    let long = format!("{path}?{}", "x".repeat(2048));
    let foreign = format!("{SUMMARY}/{}", devnet::ACCOUNTS[MERCHANT + 1].address);
    for path in [path.as_str(), &long, &foreign, &format!("{SUMMARY}/0x1")] {
        walk.note("getSummary", path, &ask(&rig, path, &token).await);
    }
    walk.note("getSummary", "unknown", &ask(&rig, &path, "Bearer pds_x").await);
    walk.note("getSummary", "missing", &rig.get(&path).await);
    let closed = Rig::with(
        test,
        EdgeConfig { requests_per_minute: 0, developer_key_requests_per_minute: 0, ..EdgeConfig::default() },
    )
    .await;
    walk.note("getSummary", "limited", &ask(&closed, &path, &token).await);
    rig.clock.advance(Duration::from_secs(13 * 3600));
    walk.note("getSummary", "expired", &ask(&rig, &path, &token).await);
    let token = bearer(&rig.sign_in(MERCHANT).await);
    rig.db.close().await;
    walk.note("getSummary", "closed", &ask(&rig, &path, &token).await);
    walk.finish();
}
