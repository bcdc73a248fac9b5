//! What a merchant has done, over HTTP.

use domain::portal::Scopes;
use serde_json::{Value, json};
use store::testing::TestDb;

use crate::{
    contract::Walk,
    portal_shop::{DASHBOARD, order, walk_keys},
    rig::{Rig, on_both_engines},
};

on_both_engines! {
    a_dashboard_counts_what_happens,
    every_operation_of_dashboards_answers_as_it_is_described,
}

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
