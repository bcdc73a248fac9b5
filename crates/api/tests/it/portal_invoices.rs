//! Invoices over HTTP: made, listed, taken back.

use std::time::Duration;

use alloy_primitives::Address;
use domain::{
    devnet,
    portal::{Scope, Scopes},
};
use serde_json::{Value, json};
use store::testing::TestDb;

use crate::{
    contract::Walk,
    portal_shop::{INVOICES, MERCHANT, link, order, walk_keys},
    rig::{Rig, on_both_engines},
};

on_both_engines! {
    an_invoice_is_made_and_looked_at,
    every_fault_of_an_invoice_is_named,
    a_request_with_a_name_makes_one_invoice,
    rivals_with_one_key_make_one_invoice_and_get_one_answer,
    an_external_id_is_of_one_invoice,
    pages_do_not_shift_while_invoices_arrive,
    lists_are_filtered,
    an_invoice_is_taken_back,
    an_invoice_with_a_quote_is_taken_back_when_that_ends,
    the_list_shows_every_change_at_once,
    invoices_are_their_merchants_alone,
    every_operation_of_invoices_answers_as_it_is_described,
}

async fn an_invoice_is_made_and_looked_at(test: &TestDb) {
    let rig = Rig::new(test).await;
    let shop = rig.shop().await;
    // Neither a rate nor the chain is needed.
    rig.node.cut(true);
    let mut body = order();
    body["externalId"] = json!("ORD-1042");
    body["expiresInMinutes"] = json!(15);
    let reply = shop.post(INVOICES, body.to_string()).await;
    assert_eq!(reply.status, 201, "{reply:?}");
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    assert!(reply.header("x-key-expires-at").is_some());
    let invoice = &reply.json()["invoice"];
    for (name, value) in [
        ("status", json!("open")),
        ("customerLabel", json!("Budi #1042")),
        ("amountIdr", json!(150_000)),
        ("note", json!("Kopi susu 6x")),
        ("externalId", json!("ORD-1042")),
        ("quote", json!(null)),
        ("payment", json!(null)),
        ("paidAt", json!(null)),
        ("voidPendingUntil", json!(null)),
    ] {
        assert_eq!(invoice[name], value, "{name}");
    }
    let token = invoice["payUrl"].as_str().unwrap().rsplit('/').next().unwrap();
    assert_eq!(token.len(), 22);
    let time = |name: &str| invoice[name].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    assert_eq!(time("expiresAt").duration_since(time("createdAt")).as_secs(), 15 * 60);
    let location = reply.header("location").unwrap();
    assert_eq!(location, format!("{INVOICES}/{}", invoice["id"].as_str().unwrap()));
    assert_eq!(shop.get(location).await.json()["invoice"], *invoice);
    let list = shop.get(INVOICES).await.json();
    assert_eq!(list, json!({ "invoices": [invoice], "nextCursor": null }));
    let bare = shop.invoice(json!({ "customerLabel": " Sari ", "amountIdr": 1000 })).await;
    assert_eq!((&bare["customerLabel"], &bare["note"]), (&json!("Sari"), &json!("")));
    assert_eq!(bare["externalId"], json!(null));
}

async fn every_fault_of_an_invoice_is_named(test: &TestDb) {
    let rig = Rig::new(test).await;
    let shop = rig.shop().await;
    for (field, value) in [
        ("customerLabel", json!("")),
        ("customerLabel", json!("Budi\u{7}")),
        ("customerLabel", json!("Budi\nBudi")),
        ("customerLabel", json!("\u{202e}iduB")),
        ("customerLabel", json!("x".repeat(81))),
        ("amountIdr", json!(0)),
        ("amountIdr", json!(-1)),
        ("amountIdr", json!(1500.5)),
        ("amountIdr", json!("150000")),
        ("amountIdr", json!(1_000_000_000_001_i64)),
        ("amountIdr", json!(1e25)),
        ("note", json!("n".repeat(281))),
        ("note", json!("a\u{0}b")),
        ("externalId", json!("a b")),
        ("externalId", json!("x".repeat(65))),
        ("expiresInMinutes", json!(14)),
        ("expiresInMinutes", json!(43_201)),
    ] {
        let mut body = order();
        body[field] = value.clone();
        let reply = shop.post(INVOICES, body.to_string()).await;
        assert_eq!(reply.refusal(), (422, "validation_failed".into()), "{field}: {value}");
        let errors = reply.json()["errors"].clone();
        assert_eq!((errors.as_array().unwrap().len(), &errors[0]["field"]), (1, &json!(field)));
    }
    let both = shop.post(INVOICES, "{}").await.json();
    assert_eq!(both["errors"].as_array().unwrap().len(), 2, "{both}");
    let mut unknown = order();
    unknown["amountIDR"] = json!(5);
    assert_eq!(shop.post(INVOICES, unknown.to_string()).await.refusal(), (422, "unknown_field".into()));
    for body in ["", "{", "[]", "7"] {
        assert_eq!(shop.post(INVOICES, body).await.refusal(), (400, "invalid_json".into()), "{body}");
    }
    let huge = "x".repeat(10 * 1024 * 1024);
    assert_eq!(shop.post(INVOICES, huge.clone()).await.refusal(), (413, "body_too_large".into()));
    let invoice = shop.invoice(order()).await;
    let void = format!("{INVOICES}/{}/void", invoice["id"].as_str().unwrap());
    assert_eq!(shop.post(&void, huge).await.refusal(), (413, "body_too_large".into()));
    assert_eq!(shop.post(&void, r#"{"reason":"x"}"#).await.refusal(), (422, "unknown_field".into()));
    assert_eq!(shop.get(INVOICES).await.json()["invoices"].as_array().unwrap().len(), 1);
}

async fn a_request_with_a_name_makes_one_invoice(test: &TestDb) {
    let rig = Rig::new(test).await;
    let shop = rig.shop().await;
    let create = async |key: &str, body: Value| {
        shop.post_with(INVOICES, &[("idempotency-key", key)], body.to_string()).await
    };
    let first = create("5b0f", order()).await;
    assert_eq!((first.status.as_u16(), first.header("idempotent-replayed")), (201, None));
    let again = create("5b0f", order()).await;
    assert_eq!((again.status.as_u16(), again.header("idempotent-replayed")), (201, Some("true")));
    assert_eq!(again.body, first.body);
    let mut other = order();
    other["amountIdr"] = json!(160_000);
    assert_eq!(create("5b0f", other.clone()).await.refusal(), (422, "idempotency_key_reused".into()));
    assert_eq!(create("5b10", other).await.status, 201);
    // What was refused is not kept.
    assert_eq!(create("5b11", json!({})).await.refusal(), (422, "validation_failed".into()));
    assert_eq!(create("5b11", order()).await.status, 201);
    for key in ["", "a b", &"x".repeat(256)] {
        let refused = create(key, order()).await.refusal();
        assert_eq!(refused, (400, "invalid_idempotency_key".into()), "{key}");
    }
    let twice = [("idempotency-key", "a"), ("idempotency-key", "b")];
    let refused = shop.post_with(INVOICES, &twice, order().to_string()).await.refusal();
    assert_eq!(refused, (400, "invalid_idempotency_key".into()));
    // A void of another invoice is another request.
    let id = |reply: &Value| reply["invoice"]["id"].as_str().unwrap().to_owned();
    let void = async |id: &str| {
        shop.post_with(&format!("{INVOICES}/{id}/void"), &[("idempotency-key", "5b0f")], "").await
    };
    let voided = void(&id(&first.json())).await;
    assert_eq!((voided.status.as_u16(), voided.header("idempotent-replayed")), (200, None));
    let again = void(&id(&first.json())).await;
    assert_eq!((again.header("idempotent-replayed"), &again.body), (Some("true"), &voided.body));
    let other = id(&create("5b12", order()).await.json());
    assert_eq!(void(&other).await.refusal(), (422, "idempotency_key_reused".into()));
    rig.clock.advance(Duration::from_secs(72 * 3600 + 1));
    let late = create("5b0f", order()).await;
    assert_eq!((late.status.as_u16(), late.header("idempotent-replayed")), (201, None));
    assert_ne!(late.body, first.body);
}

async fn rivals_with_one_key_make_one_invoice_and_get_one_answer(test: &TestDb) {
    let rig = Rig::new(test).await;
    let shop = rig.shop().await;
    let headers = [("idempotency-key", "5b0f")];
    let asking = (0..16).map(|_| shop.post_with(INVOICES, &headers, order().to_string()));
    let replies = futures_util::future::join_all(asking).await;
    assert!(replies.iter().all(|reply| reply.status == 201 && reply.body == replies[0].body), "{replies:?}");
    let fresh = replies.iter().filter(|reply| reply.header("idempotent-replayed").is_none()).count();
    assert_eq!(fresh, 1);
    assert_eq!(shop.get(INVOICES).await.json()["invoices"].as_array().unwrap().len(), 1);
}

async fn an_external_id_is_of_one_invoice(test: &TestDb) {
    let rig = Rig::new(test).await;
    let shop = rig.shop().await;
    let mut body = order();
    body["externalId"] = json!("ORD-1042");
    let first = shop.invoice(body.clone()).await;
    let taken = shop.post(INVOICES, body.to_string()).await;
    assert_eq!(taken.refusal(), (409, "external_id_exists".into()));
    assert_eq!(taken.json()["invoice"], first);
    let found = shop.get(&format!("{INVOICES}?externalId=ORD-1042")).await.json();
    assert_eq!(found["invoices"], json!([first]));
    let elsewhere = rig.shop_of(Address::repeat_byte(0x77), Scopes::ALL).await;
    assert_ne!(elsewhere.invoice(body).await["id"], first["id"], "names are each merchant's own");
}

async fn pages_do_not_shift_while_invoices_arrive(test: &TestDb) {
    let rig = Rig::new(test).await;
    let shop = rig.shop().await;
    let mut made = Vec::new();
    for number in 0..250 {
        let label = format!("customer {number}");
        made.push(shop.invoice(json!({ "customerLabel": label, "amountIdr": 1000 })).await["id"].clone());
    }
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = shop.get(&format!("{INVOICES}?limit=40{cursor}")).await.json();
        seen.extend(page["invoices"].as_array().unwrap().iter().map(|invoice| invoice["id"].clone()));
        // Newcomers are before the first page.
        shop.invoice(order()).await;
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    // Those of one millisecond have no order of their own, but each is there once.
    let text = |id: &Value| id.as_str().unwrap().to_owned();
    assert!(seen.windows(2).all(|two| text(&two[0]) > text(&two[1])), "newest first");
    made.sort_by_key(text);
    seen.sort_by_key(text);
    assert_eq!(seen, made);
}

async fn lists_are_filtered(test: &TestDb) {
    let rig = Rig::new(test).await;
    let shop = rig.shop().await;
    let (kept, void) = (shop.invoice(order()).await, shop.invoice(order()).await);
    assert_eq!(shop.void(&void).await.status, 200);
    let list = async |query: &str| -> Vec<Value> {
        let page = shop.get(&format!("{INVOICES}?{query}")).await.json();
        page["invoices"].as_array().unwrap().iter().map(|one| one["id"].clone()).collect()
    };
    assert_eq!(list("status=open").await, [kept["id"].clone()]);
    assert_eq!(list("status=void").await, [void["id"].clone()]);
    assert_eq!(list("status=paid").await, [json!(null); 0]);
    assert_eq!(list("externalId=nothing").await, [json!(null); 0]);
    for (query, code) in [
        ("status=opened", "invalid_parameter"),
        ("externalId=", "invalid_parameter"),
        ("externalId=a%20b", "invalid_parameter"),
        ("limit=0", "invalid_limit"),
        ("limit=101", "invalid_limit"),
        ("cursor=x", "invalid_cursor"),
        ("cursor=YjoxMg", "invalid_cursor"),
        ("state=open", "unknown_parameter"),
    ] {
        let refusal = shop.get(&format!("{INVOICES}?{query}")).await.refusal();
        assert_eq!(refusal, (400, code.to_owned()), "{query}");
    }
}

async fn an_invoice_is_taken_back(test: &TestDb) {
    let rig = Rig::new(test).await;
    rig.set_rate("1000").await;
    let shop = rig.shop().await;
    let invoice = shop.invoice(order()).await;
    for _ in 0..2 {
        let void = shop.void(&invoice).await;
        assert_eq!((void.status.as_u16(), &void.json()["invoice"]["status"]), (200, &json!("void")));
    }
    assert_eq!(shop.ask_quote(&invoice).await.refusal(), (409, "invoice_not_open".into()));
    assert_eq!(rig.get(&link(&invoice)).await.json()["invoice"]["status"], "void");
    let audit = rig.db.list_audit(shop.wallet, 10).await.unwrap();
    assert_eq!(audit.len(), 1, "once");
    assert!(audit[0].actor.to_string().starts_with("key:"), "{audit:?}");
    assert_eq!(
        (audit[0].action.name(), audit[0].origin.as_deref()),
        ("invoice.voided", Some("127.0.0.0/24"))
    );
    assert_eq!(shop.void(&json!({ "id": "inv_x" })).await.refusal(), (404, "invoice_not_found".into()));
}

async fn an_invoice_with_a_quote_is_taken_back_when_that_ends(test: &TestDb) {
    let rig = Rig::new(test).await;
    rig.set_rate("1000").await;
    let shop = rig.shop().await;
    let invoice = shop.invoice(order()).await;
    let quote = shop.quote(&invoice).await;
    let pending = shop.void(&invoice).await;
    assert_eq!(pending.status, 202, "{pending:?}");
    let shown = &pending.json()["invoice"];
    assert_eq!((&shown["status"], &shown["voidPendingUntil"]), (&json!("open"), &quote["deadline"]));
    assert_eq!(shop.void(&invoice).await.status, 202, "it still is");
    assert_eq!(shop.ask_quote(&invoice).await.refusal(), (409, "invoice_not_open".into()));
    assert_eq!(rig.get(&link(&invoice)).await.json()["invoice"]["isVoiding"], true);
    let deadline = quote["deadlineSeconds"].as_u64().unwrap();
    rig.mine_at(deadline).await;
    assert_eq!(shop.look(&invoice).await["status"], "open", "its last second");
    rig.mine().await;
    let ended = shop.look(&invoice).await;
    assert_eq!((&ended["status"], &ended["voidPendingUntil"]), (&json!("void"), &json!(null)));
    // One that is paid in between is paid.
    let invoice = shop.invoice(order()).await;
    let quote = shop.quote(&invoice).await;
    assert_eq!(shop.void(&invoice).await.status, 202);
    rig.send_quote(2, 0, &quote);
    rig.mine().await;
    assert_eq!(shop.look(&invoice).await["status"], "paid");
    assert_eq!(shop.void(&invoice).await.refusal(), (409, "invoice_not_open".into()));
}

/// Pages are kept, so each way in which one changes is tried with the page in the cache.
async fn the_list_shows_every_change_at_once(test: &TestDb) {
    let rig = Rig::new(test).await;
    rig.set_rate("1000").await;
    let shop = rig.shop().await;
    let first = async || {
        let listed = shop.get(INVOICES).await.json();
        assert_eq!(listed, shop.get(INVOICES).await.json(), "asked twice, answered once");
        listed["invoices"][0].clone()
    };
    assert_eq!(first().await, json!(null));
    let quoted = shop.invoice(order()).await;
    assert_eq!((&first().await["id"], &first().await["quote"]), (&quoted["id"], &json!(null)));
    let quote = shop.quote(&quoted).await;
    assert_eq!(first().await["quote"]["id"], quote["id"], "a quote was given");
    rig.mine_at(quote["deadlineSeconds"].as_u64().unwrap() + 1).await;
    assert_eq!(first().await["quote"], json!(null), "the quote has ended, the invoice has not");
    assert_eq!(first().await["status"], "open");
    rig.send_quote(2, 0, &shop.quote(&quoted).await);
    rig.mine().await;
    assert_eq!(first().await["status"], "paid");
    let taken_back = shop.invoice(order()).await;
    assert_eq!(first().await["id"], taken_back["id"]);
    assert_eq!(shop.void(&taken_back).await.status, 200);
    assert_eq!(first().await["status"], "void");
    let mut short = order();
    short["expiresInMinutes"] = json!(15);
    let short = shop.invoice(short).await;
    assert_eq!(first().await["status"], "open");
    let end: jiff::Timestamp = short["expiresAt"].as_str().unwrap().parse().unwrap();
    rig.mine_at(u64::try_from(end.as_second()).unwrap() + 1).await;
    assert_eq!(first().await["status"], "expired");
}

async fn invoices_are_their_merchants_alone(test: &TestDb) {
    let rig = Rig::new(test).await;
    let shop = rig.shop().await;
    let invoice = shop.invoice(order()).await;
    let other = rig.shop_of(devnet::ACCOUNTS[MERCHANT + 1].address, Scopes::ALL).await;
    let path = format!("{INVOICES}/{}", invoice["id"].as_str().unwrap());
    assert_eq!(other.get(&path).await.refusal(), (404, "invoice_not_found".into()));
    assert_eq!(other.void(&invoice).await.refusal(), (404, "invoice_not_found".into()));
    assert_eq!(other.get(INVOICES).await.json()["invoices"], json!([]));
    for (scope, can_read, can_write) in [
        (Scope::DashboardRead, false, false),
        (Scope::InvoicesRead, true, false),
        (Scope::InvoicesWrite, false, true),
    ] {
        let limited = rig.shop_of(shop.wallet, [scope].into_iter().collect()).await;
        let refused =
            |reply: crate::rig::Reply| (reply.status == 403).then(|| reply.json()["requiredScope"].clone());
        let read = (!can_read).then(|| json!("invoices:read"));
        let write = (!can_write).then(|| json!("invoices:write"));
        assert_eq!(refused(limited.get(INVOICES).await), read);
        assert_eq!(refused(limited.get(&path).await), read);
        assert_eq!(refused(limited.post(INVOICES, order().to_string()).await), write);
        assert_eq!(refused(limited.post(&format!("{path}/void"), "").await), write);
    }
}

async fn every_operation_of_invoices_answers_as_it_is_described(test: &TestDb) {
    let rig = Rig::new(test).await;
    rig.set_rate("1000").await;
    let shop = rig.shop().await;
    let document = rig.get("/api/v1/openapi.json").await.json();
    let mut walk = Walk::of(document, |tag| tag == "Portal invoices");
    let mut body = order();
    body["externalId"] = json!("ORD-1");
    let body = body.to_string();
    let named = [("idempotency-key", "a")];
    let made = shop.post_with(INVOICES, &named, body.clone()).await;
    walk.note("createInvoice", INVOICES, &made);
    let invoice = made.json()["invoice"].clone();
    let path = format!("{INVOICES}/{}", invoice["id"].as_str().unwrap());
    let void = format!("{path}/void");
    for (headers, body) in [
        (&[][..], body.as_str()),
        (&named[..], "{}"),
        (&named[..], &order().to_string()),
        (&[("idempotency-key", " ")][..], &body),
        (&[][..], "{"),
        (&[][..], r#"{"x":1}"#),
        (&[][..], &"x".repeat(20_000)),
    ] {
        walk.note("createInvoice", INVOICES, &shop.post_with(INVOICES, headers, body).await);
    }
    let plain = [("x-platform-dev-key", shop.key.as_str()), ("content-type", "text/plain")];
    walk.note("createInvoice", INVOICES, &rig.ask("POST", INVOICES, &plain, "{}").await);
    shop.quote(&invoice).await;
    let quoted = shop.get(&path).await;
    assert!(quoted.json()["invoice"]["quote"].is_object());
    walk.note("getInvoice", &path, &quoted);
    walk.note("getInvoice", "x", &shop.get(&format!("{INVOICES}/x")).await);
    for query in ["", "?limit=0", "?cursor=x", "?status=x", "?x=1"] {
        walk.note("listInvoices", query, &shop.get(&format!("{INVOICES}{query}")).await);
    }
    for (headers, body) in [
        (&named[..], ""),
        (&named[..], "{}"),
        (&[("idempotency-key", " ")][..], ""),
        (&[][..], "{"),
        (&[][..], r#"{"x":1}"#),
        (&[][..], &"x".repeat(20_000)),
    ] {
        walk.note("voidInvoice", &void, &shop.post_with(&void, headers, body).await);
    }
    walk.note("voidInvoice", "x", &shop.void(&json!({ "id": "x" })).await);
    let other = shop.invoice(order()).await;
    walk.note("voidInvoice", "void", &shop.void(&other).await);
    let paid = shop.invoice(order()).await;
    rig.send_quote(2, 0, &shop.quote(&paid).await);
    rig.mine().await;
    walk.note("voidInvoice", "paid", &shop.void(&paid).await);
    walk.note("listInvoices", "paid", &shop.get(INVOICES).await);
    let calls = [
        ("createInvoice", "POST", INVOICES),
        ("listInvoices", "GET", INVOICES),
        ("getInvoice", "GET", path.as_str()),
        ("voidInvoice", "POST", void.as_str()),
    ];
    walk_keys(&mut walk, &rig, test, &shop, &calls).await;
    walk.finish();
}
