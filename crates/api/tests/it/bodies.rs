//! Bodies in which a member is there twice: whoever checks one and whoever acts on the other must not differ.

use serde_json::json;
use store::testing::TestDb;

use crate::{
    portal_purchases::{KEYS, REVOKE},
    portal_shop::INVOICES,
    rig::{Reply, Rig, on_both_engines},
};

on_both_engines! {
    a_member_that_is_there_twice_is_refused,
}

#[track_caller]
fn refused(reply: &Reply, field: &str) {
    assert_eq!(reply.refusal(), (400, "invalid_json".into()), "{reply:?}");
    let error = &reply.json()["errors"][0];
    assert_eq!((&error["field"], &error["code"]), (&json!(field), &json!("duplicate_member")), "{reply:?}");
}

async fn a_member_that_is_there_twice_is_refused(test: &TestDb) {
    let rig = Rig::new(test).await;
    let shop = rig.shop().await;
    let twice = r#"{"customerLabel":"Budi","amountIdr":5000,"amountIdr":6000}"#;
    refused(&shop.post(INVOICES, twice).await, "amountIdr");
    // The same name, written in another way; and one that is unknown, where the name is what counts first.
    refused(&shop.post(INVOICES, r#"{"amountIdr":5000,"\u0061mountIdr":6000}"#).await, "amountIdr");
    refused(&shop.post(INVOICES, r#"{"x":1,"x":1}"#).await, "x");
    refused(&shop.post(INVOICES, r#"{"note":{"a":[{"b":1,"b":2}]}}"#).await, "note.a[0].b");
    assert_eq!(shop.get(INVOICES).await.json()["invoices"], json!([]), "nothing was made");
    let deep = format!("{{\"note\":{}{}}}", "[".repeat(500), "]".repeat(500));
    assert_eq!(shop.post(INVOICES, deep).await.refusal(), (400, "invalid_json".into()));

    let buyer = rig.buyer(2).await;
    let body = r#"{"plan":"monthly","plan":"yearly"}"#.to_owned();
    refused(&buyer.post_with(KEYS, &[], body).await, "plan");
    let body = r#"{"keyId":"7Kq2mXc9TzPa","keyId":"7Kq2mXc9TzPb"}"#.to_owned();
    refused(&buyer.post_with(REVOKE, &[], body).await, "keyId");
    let body = r#"{"url":"https://a.example","url":"https://b.example"}"#.to_owned();
    refused(&buyer.post_with("/api/v1/platform-dev/webhooks", &[], body).await, "url");
    let body = r#"{"address":"0x1","address":"0x2"}"#;
    refused(&rig.post("/api/v1/platform-dev/session/challenge", body).await, "address");
    let body = r#"{"moniker":"a","moniker":"b"}"#;
    refused(&rig.post("/api/v1/validators/applications", body).await, "moniker");
}
