//! The developers' pages: with and without a session, keys, webhooks and invoices by forms alone.

use std::time::Duration;

use hyper::StatusCode;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use crate::{
    member::{inside, location},
    rig::{Rig, Wishes},
};

const PAGES: [&str; 5] = [
    "/developers",
    "/developers/keys",
    "/developers/webhook",
    "/developers/webhook/events",
    "/developers/invoices",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_session_every_page_shows_how_to_sign_in() {
    let rig = Rig::new().await;
    for path in PAGES.into_iter().chain(["/developers/orders/x", "/developers/invoices/inv_x"]) {
        let reply = rig.get(path).await;
        let expected = if path == "/developers" { StatusCode::OK } else { StatusCode::UNAUTHORIZED };
        assert_eq!(reply.status, expected, "{path}");
        assert!(reply.text.contains("id=\"sign-in\"") && reply.text.contains("270 PNC"), "{path}");
        assert_eq!(reply.header("cache-control"), Some("no-store"), "{path}");
    }
    let indonesian = rig.get_with("/developers", &[("accept-language", "id")]).await.page();
    assert!(indonesian.contains("Masuk dengan dompet") && indonesian.contains("\"refused\":\"Anda menolak"));
    assert!(indonesian.contains("\"chainId\":\"0x228d\""), "{indonesian}");
    let stale = rig.get_with("/developers", &[("cookie", "chainnet_session=pds_x")]).await;
    assert!(stale.page().contains("id=\"sign-in\""));
    let forged = [("origin", "http://127.0.0.1:3000"), ("cookie", "chainnet_session=pds_x")];
    let reply = rig.ask("POST", "/developers/keys", &forged, "plan=monthly").await;
    assert_eq!(location(&reply), "/developers/keys");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_without_a_portal_says_so() {
    let rig = Rig::with(Wishes { has_portal: false, ..Wishes::default() }).await;
    for path in ["/developers", "/developers/keys", "/pay/MDEyMzQ1Njc4OWFiY2RlZg"] {
        let reply = rig.get(path).await;
        assert_eq!(reply.status, StatusCode::NOT_FOUND, "{path}");
        assert!(reply.text.contains("no developer portal"), "{path}: {}", reply.text);
    }
    assert!(!rig.get("/").await.page().contains("href=\"/developers\""));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_is_there_for_whoever_is_signed_in() {
    let rig = Rig::new().await;
    let merchant = rig.sign_in(1).await;
    for path in PAGES {
        let reply = merchant.get(path).await;
        assert_eq!(reply.header("cache-control"), Some("no-store"), "{path}");
        // Browsers keep a form's origin to themselves on pages without a referrer.
        assert_eq!(reply.header("referrer-policy"), Some("same-origin"), "{path}");
        let page = reply.page();
        assert!(page.contains("id=\"sign-out\"") && page.contains("0x709979…dc79C8"), "{path}: {page}");
    }
    for path in ["/developers/orders/x", "/developers/invoices/x", "/developers/webhook/deliveries/x"] {
        assert_eq!(merchant.get(path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    for path in [
        "/developers/invoices?status=x",
        "/developers/webhook?state=x",
        "/developers/webhook/events?before=x",
    ] {
        assert_eq!(merchant.get(path).await.status, StatusCode::BAD_REQUEST, "{path}");
    }
    let out = merchant.post("/developers", &[]).await;
    assert_eq!(location(&out), "/developers");
    assert!(out.header("set-cookie").unwrap().starts_with("chainnet_session=; Path=/; Max-Age=0"));
    assert!(merchant.get("/developers").await.page().contains("id=\"sign-in\""));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_changes_from_a_page_of_somebody_else() {
    let rig = Rig::new().await;
    let merchant = rig.sign_in(1).await;
    merchant.buy_key().await;
    let (invoice, _) = merchant.invoice("Budi").await;
    for origin in [None, Some("null"), Some("http://evil.example"), Some("http://127.0.0.1:3001")] {
        for (path, form) in [
            ("/developers", &[("a", "b")]),
            ("/developers/keys", &[("plan", "monthly")]),
            ("/developers/webhook", &[("action", "rotate")]),
            ("/developers/invoices", &[("customerLabel", "Eve")]),
            (invoice.as_str(), &[("a", "b")]),
        ] {
            let reply = merchant.post_from(origin, path, form).await;
            assert_eq!(reply.status, StatusCode::FORBIDDEN, "{origin:?} {path}");
            assert!(reply.text.contains("did not come from our own page"), "{}", reply.text);
        }
    }
    assert!(merchant.get(&invoice).await.page().contains("tag warn\">open"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_is_bought_shown_once_and_taken_back_by_forms() {
    let rig = Rig::new().await;
    let merchant = rig.sign_in(1).await;
    let form = [("plan", "yearly"), ("name", "toko <b>"), ("scope", "invoices:read")];
    let place = location(&merchant.post("/developers/keys", &form).await);
    let order = merchant.get(&place).await.page();
    assert!(
        order.contains("toko &lt;b&gt; (Yearly)") || order.contains("toko &#60;b&#62; (Yearly)"),
        "{order}"
    );
    assert!(order.contains("900 PNC") && order.contains("270 burned") && order.contains("id=\"pay-order\""));
    let early = merchant.post(&place, &[("tx", "")]).await;
    assert_eq!(early.status, StatusCode::CONFLICT);
    assert!(early.text.contains("No payment has arrived yet"), "{}", early.text);
    let hash = merchant.pay(&order).await;
    let claimed = merchant.post(&place, &[("tx", &hash)]).await;
    assert_eq!(claimed.header("cache-control"), Some("no-store"));
    let claimed = claimed.page();
    assert!(inside(&claimed, "<pre id=\"key-secret\">", "</pre>").starts_with("pdk_"), "{claimed}");
    let again = merchant.post(&place, &[("tx", &hash)]).await;
    assert_eq!(again.status, StatusCode::CONFLICT);
    assert!(!again.text.contains("key-secret\">pdk_"), "{}", again.text);
    let keys = merchant.get("/developers/keys").await.page();
    assert!(keys.contains("tag good\">active") && keys.contains("1 / 5") && keys.contains("never"), "{keys}");
    assert!(keys.contains(&place), "the order is listed");
    let id = inside(&keys, "name=\"revoke\" value=\"", "\"").to_owned();
    assert_eq!(location(&merchant.post("/developers/keys", &[("revoke", &id)]).await), "/developers/keys");
    assert!(merchant.get("/developers/keys").await.page().contains("tag bad\">revoked"));
    assert!(merchant.get("/developers").await.page().contains("0 / 5"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn orders_beyond_the_slots_and_bad_names_are_explained() {
    let rig = Rig::new().await;
    let merchant = rig.sign_in(1).await;
    let long = "x".repeat(65);
    let scope = ("scope", "invoices:read");
    for (form, words) in [
        (vec![("plan", "monthly"), ("name", long.as_str()), scope], "1 to 64 characters"),
        (vec![("plan", "monthly"), ("name", "shop")], "at least one thing"),
    ] {
        let reply = merchant.post("/developers/keys", &form).await;
        assert_eq!(reply.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(reply.text.contains(words) && reply.text.contains(form[1].1), "{}", reply.text);
    }
    assert_eq!(
        merchant.post("/developers/keys", &[("plan", "x"), scope]).await.status,
        StatusCode::BAD_REQUEST
    );
    for _ in 0..5 {
        location(&merchant.post("/developers/keys", &[("plan", "monthly"), scope]).await);
    }
    let full = merchant.post("/developers/keys", &[("plan", "monthly"), scope]).await;
    assert!(full.text.contains("as many keys as a wallet may have"), "{}", full.text);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_order_that_is_not_wanted_is_cancelled_by_a_button() {
    let rig = Rig::new().await;
    let merchant = rig.sign_in(1).await;
    let form = [("plan", "monthly"), ("scope", "invoices:read")];
    let place = location(&merchant.post("/developers/keys", &form).await);
    let order = merchant.get(&place).await.page();
    assert!(order.contains("name=\"action\" value=\"cancel\""), "{order}");
    assert!(order.contains("has not said what the coin costs"), "{order}");
    rig.set_rate("1000").await;
    assert!(!merchant.get(&place).await.page().contains("has not said what the coin costs"));
    assert_eq!(location(&merchant.post(&place, &[("action", "cancel")]).await), place);
    let cancelled = merchant.get(&place).await.page();
    assert!(cancelled.contains(">cancelled<") && !cancelled.contains("id=\"pay-order\""), "{cancelled}");
    assert!(!cancelled.contains("value=\"cancel\""), "{cancelled}");
    let paid = location(&merchant.post("/developers/keys", &form).await);
    merchant.pay(&merchant.get(&paid).await.page()).await;
    let refused = merchant.post(&paid, &[("action", "cancel")]).await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
    assert!(refused.text.contains("there is nothing to cancel"), "{}", refused.text);
}

/// Answers every request with 200 and a text.
async fn receiver() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut buffer = [0; 4096];
            let _ = stream.read(&mut buffer).await;
            let answer = "HTTP/1.1 200 OK\r\ncontent-length: 8\r\nconnection: close\r\n\r\n<thanks>";
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    url
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_webhook_is_paid_saved_tested_and_its_secret_changed() {
    let rig = Rig::new().await;
    let merchant = rig.sign_in(1).await;
    let refused = merchant.post("/developers/webhook", &[("url", "ftp://<x>")]).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        refused.text.contains("id=\"url-error\"") && !refused.text.contains("ftp://<x>"),
        "{}",
        refused.text
    );
    let url = receiver().await;
    let place = location(&merchant.post("/developers/webhook", &[("action", "save"), ("url", &url)]).await);
    let order = merchant.get(&place).await.page();
    assert!(order.contains(&format!("name=\"url\" value=\"{url}\"")), "{order}");
    let hash = merchant.pay(&order).await;
    let saved = merchant.post("/developers/webhook", &[("tx", &hash), ("url", &url)]).await.page();
    assert!(inside(&saved, "<pre id=\"webhook-secret\">", "</pre>").starts_with("whsec_"), "{saved}");
    assert_eq!(
        location(&merchant.post("/developers/webhook", &[("url", &url)]).await),
        "/developers/webhook",
        "later saves are free"
    );
    let tested = location(&merchant.post("/developers/webhook", &[("action", "test")]).await);
    let delivery = merchant.get(&tested).await.page();
    assert!(delivery.contains("answered 200") && delivery.contains("Your server took it."), "{delivery}");
    assert!(!delivery.contains("<thanks>"), "answers of others cannot become markup: {delivery}");
    let again = location(&merchant.post(&tested, &[]).await);
    assert_ne!(again, tested);
    let page = merchant.get("/developers/webhook").await.page();
    assert!(page.contains("tag good\">active") && page.contains("webhook.test"), "{page}");
    assert!(!merchant.get("/developers/webhook?state=exhausted").await.page().contains("webhook.test"));
    let events = merchant.get("/developers/webhook/events").await.page();
    assert!(events.contains("payment.completed") && events.contains("Nothing was paid"), "{events}");
    let rotated = merchant.post("/developers/webhook", &[("action", "rotate")]).await.page();
    assert!(rotated.contains("whsec_") && rotated.contains("X-Platform-Signature-Next"), "{rotated}");
    assert!(merchant.get("/developers/webhook").await.page().contains("The next secret takes over"));
    // The list has the test and its repetition.
    assert!(rig.sign_in(2).await.get(&tested).await.status == StatusCode::NOT_FOUND, "of another wallet");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invoices_need_a_key_and_are_made_listed_and_voided_by_forms() {
    let rig = Rig::new().await;
    let merchant = rig.sign_in(1).await;
    let form = [("customerLabel", "Budi"), ("amountIdr", "150000")];
    let refused = merchant.post("/developers/invoices", &form).await.page();
    assert!(
        refused.contains("needs an active key") && !refused.contains("id=\"create-invoice\""),
        "{refused}"
    );
    merchant.buy_key().await;
    let wrong = [("customerLabel", "<i>Budi"), ("amountIdr", "1.500"), ("externalId", "a b")];
    let wrong = merchant.post("/developers/invoices", &wrong).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(wrong.text.contains("A whole number from 1000") && wrong.text.contains("must not have spaces"));
    assert!(wrong.text.contains("value=\"1.500\"") && !wrong.text.contains("<i>Budi"), "{}", wrong.text);
    let named = [
        ("customerLabel", "Siti"),
        ("amountIdr", "2000"),
        ("externalId", "SITI-7"),
        ("expiresInMinutes", "15"),
    ];
    location(&merchant.post("/developers/invoices", &named).await);
    let taken = merchant.post("/developers/invoices", &named).await;
    assert!(taken.text.contains("an invoice with this number"), "{}", taken.text);
    let (place, _) = merchant.invoice("<script>alert(1)</script>").await;
    let page = merchant.get(&place).await.page();
    assert!(page.contains("Rp\u{a0}150.000") && page.contains("<svg class=\"qr\""), "{page}");
    assert!(!page.contains("<susu>") && !page.contains("<script>alert"), "{page}");
    assert_eq!(rig.sign_in(2).await.get(&place).await.status, StatusCode::NOT_FOUND, "of another wallet");
    assert_eq!(location(&merchant.post(&place, &[]).await), place);
    assert!(merchant.get(&place).await.page().contains("tag bad\">void"));
    location(&merchant.post(&place, &[]).await);
    let list = merchant.get("/developers/invoices?status=void").await.page();
    assert!(list.contains(&place) && !list.contains("SITI-7"), "{list}");
    assert!(merchant.get("/developers/invoices?status=open").await.page().contains("SITI-7"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invoices_are_listed_page_by_page() {
    let rig = Rig::new().await;
    let merchant = rig.sign_in(1).await;
    merchant.buy_key().await;
    for number in 0..26 {
        let form =
            [("customerLabel", "Budi"), ("amountIdr", "1000"), ("externalId", &*format!("N{number}."))];
        location(&merchant.post("/developers/invoices", &form).await);
    }
    let first = merchant.get("/developers/invoices?status=open").await.page();
    assert!(first.contains("N25.") && first.contains("N1.") && !first.contains("N0."), "{first}");
    let older = inside(&first, "id=\"older\" href=\"", "\"").replace("&amp;", "&").replace("&#38;", "&");
    let second = merchant.get(&older).await.page();
    assert!(
        second.contains("N0.") && !second.contains("N1.") && !second.contains("id=\"older\""),
        "{second}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_is_not_used_ends() {
    let rig = Rig::new().await;
    let merchant = rig.sign_in(1).await;
    rig.clock.advance(Duration::from_secs(31 * 60));
    assert!(merchant.get("/developers").await.page().contains("id=\"sign-in\""));
}
