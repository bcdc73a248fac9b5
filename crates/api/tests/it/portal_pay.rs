//! Payment links: quotes, paying on the chain, watching, pictures.

use std::{net::Ipv4Addr, time::Duration};

use chain::{At, ChainClient};
use chainnet_api::{AnswerBody, EdgeConfig, clock::Clock};
use domain::{devnet, portal::Scopes};
use http_body_util::BodyExt;
use hyper::{Request, Response};
use serde_json::{Value, json};
use store::testing::TestDb;

use crate::{
    contract::Walk,
    portal_shop::{MERCHANT, PAY, Shop, link, order},
    rig::{Reply, Rig, on_both_engines},
};

on_both_engines! {
    an_invoice_is_paid_with_the_transaction_of_its_quote,
    a_quote_can_be_paid_in_its_last_second_and_not_after,
    an_invoice_ends_by_the_time_of_the_chain,
    an_invoice_that_is_made_after_time_was_moved_on_can_be_paid,
    a_quote_never_outlives_its_invoice,
    a_quote_keeps_its_rate,
    without_a_rate_there_is_no_quote,
    nobody_is_quoted_while_the_last_quote_may_have_been_paid,
    rivals_get_the_same_quote,
    a_link_shows_nothing_that_the_merchant_wrote,
    what_an_expired_key_asked_for_is_still_credited,
    quotes_are_limited,
    a_watcher_sees_the_quote_and_the_payment,
    watchers_are_let_go,
    there_are_so_many_watchers_and_no_more,
    a_link_is_drawn,
    every_operation_of_payment_links_answers_as_it_is_described,
}

const PATIENCE: Duration = Duration::from_secs(30);
const RATE: &str = "/api/v1/platform-dev/rates/current";

async fn an_invoice_is_paid_with_the_transaction_of_its_quote(test: &TestDb) {
    let rig = Rig::new(test).await;
    rig.set_rate("1234.56789012").await;
    let shop = rig.shop().await;
    let invoice = shop.invoice(order()).await;
    let before = rig.node.account(shop.wallet, At::Head).await.unwrap().balance;
    let quote = shop.quote(&invoice).await;
    assert_eq!(quote["amountWei"], "121500001093840209848");
    assert_eq!(quote["amount"], "121.500001093840209848");
    assert_eq!(quote["rate"]["idrPerCoin"], "1234.56789012");
    assert_eq!(quote["deadlineSeconds"], rig.chain_time() + 900);
    assert_eq!(shop.look(&invoice).await["quote"], quote);
    let hash = rig.send_quote(3, 0, &quote);
    rig.mine().await;
    let paid = shop.look(&invoice).await;
    assert_eq!((&paid["status"], &paid["quote"]), (&json!("paid"), &json!(null)));
    let payment = &paid["payment"];
    for (name, value) in [
        ("txHash", json!(hash)),
        ("quoteId", quote["id"].clone()),
        ("payer", json!(devnet::ACCOUNTS[3].address.to_checksum(None))),
        ("amountWei", quote["amountWei"].clone()),
        ("blockNumber", json!(2)),
        ("paidAt", paid["paidAt"].clone()),
    ] {
        assert_eq!(payment[name], value, "{name}");
    }
    let after = rig.node.account(shop.wallet, At::Head).await.unwrap().balance;
    assert_eq!((after - before).to_string(), quote["amountWei"], "straight to the merchant");
    let page = rig.get(&link(&invoice)).await.json();
    assert_eq!((&page["invoice"]["status"], &page["quote"]), (&json!("paid"), &json!(null)));
    assert_eq!(page["invoice"]["payment"], *payment);
    assert_eq!(shop.ask_quote(&invoice).await.refusal(), (409, "invoice_not_open".into()));
    // The same transaction again is refused by the contract.
    rig.send_quote(4, 0, &quote);
    rig.mine().await;
    assert_eq!(shop.look(&invoice).await, paid);
}

async fn a_quote_can_be_paid_in_its_last_second_and_not_after(test: &TestDb) {
    let rig = Rig::new(test).await;
    rig.set_rate("1000").await;
    let shop = rig.shop().await;
    let (early, late) = (shop.invoice(order()).await, shop.invoice(order()).await);
    let first = shop.quote(&early).await;
    rig.send_quote(2, 0, &first);
    rig.mine_at(first["deadlineSeconds"].as_u64().unwrap()).await;
    assert_eq!(shop.look(&early).await["status"], "paid");
    let second = shop.quote(&late).await;
    let deadline = second["deadlineSeconds"].as_u64().unwrap();
    rig.send_quote(2, 1, &second);
    rig.mine_at(deadline + 1).await;
    let missed = shop.look(&late).await;
    assert_eq!((&missed["status"], &missed["quote"]), (&json!("open"), &json!(null)));
    let third = shop.quote(&late).await;
    assert_ne!(third["id"], second["id"]);
    assert_eq!(third["deadlineSeconds"], deadline + 1 + 900);
    rig.send_quote(2, 2, &third);
    rig.mine().await;
    assert_eq!(shop.look(&late).await["payment"]["quoteId"], third["id"]);
}

fn seconds(invoice: &Value, name: &str) -> u64 {
    let time: jiff::Timestamp = invoice[name].as_str().unwrap().parse().unwrap();
    time.as_second().try_into().unwrap()
}

async fn an_invoice_ends_by_the_time_of_the_chain(test: &TestDb) {
    let rig = Rig::new(test).await;
    rig.set_rate("1000").await;
    let shop = rig.shop().await;
    let mut body = order();
    body["expiresInMinutes"] = json!(15);
    let first = shop.invoice(body.clone()).await;
    // The clock on the wall ends nothing.
    rig.clock.advance(Duration::from_secs(3600));
    let second = shop.invoice(body).await;
    rig.mine_at(seconds(&first, "expiresAt")).await;
    assert_eq!(shop.look(&first).await["status"], "open", "its last second");
    let refused = shop.ask_quote(&first).await.refusal();
    assert_eq!(refused, (409, "invoice_not_open".into()), "no block will be in time");
    rig.mine_at(seconds(&second, "expiresAt") + 1).await;
    for invoice in [&first, &second] {
        assert_eq!(shop.look(invoice).await["status"], "expired");
        assert_eq!(shop.void(invoice).await.refusal(), (409, "invoice_not_open".into()));
        assert_eq!(shop.ask_quote(invoice).await.refusal(), (409, "invoice_not_open".into()));
    }
}

async fn an_invoice_that_is_made_after_time_was_moved_on_can_be_paid(test: &TestDb) {
    let rig = Rig::new(test).await;
    rig.set_rate("1000").await;
    let shop = rig.shop().await;
    // As `evm_increaseTime` does it: the chain is three days ahead of every clock.
    let now = u64::try_from(rig.clock.now().as_second()).unwrap();
    rig.mine_at(now.max(rig.chain_time()) + 3 * 86_400).await;
    let mut body = order();
    body["expiresInMinutes"] = json!(15);
    let invoice = shop.invoice(body).await;
    assert_eq!(seconds(&invoice, "expiresAt"), rig.chain_time() + 15 * 60);
    rig.mine().await;
    assert_eq!(shop.look(&invoice).await["status"], "open");
    let quote = shop.quote(&invoice).await;
    rig.send_quote(2, 0, &quote);
    rig.mine().await;
    assert_eq!(shop.look(&invoice).await["status"], "paid");
    let other = shop.invoice(order()).await;
    rig.mine_at(seconds(&other, "expiresAt") + 1).await;
    assert_eq!(shop.look(&other).await["status"], "expired");
}

async fn a_quote_never_outlives_its_invoice(test: &TestDb) {
    let rig = Rig::new(test).await;
    rig.set_rate("1000").await;
    let shop = rig.shop().await;
    let mut body = order();
    body["expiresInMinutes"] = json!(15);
    let invoice = shop.invoice(body).await;
    let end = seconds(&invoice, "expiresAt");
    rig.mine_at(end - 60).await;
    let quote = shop.quote(&invoice).await;
    assert_eq!(quote["deadlineSeconds"], end);
    rig.send_quote(2, 0, &quote);
    rig.mine_at(end).await;
    assert_eq!(shop.look(&invoice).await["status"], "paid");
}

async fn a_quote_keeps_its_rate(test: &TestDb) {
    let rig = Rig::new(test).await;
    rig.set_rate("1000").await;
    let shop = rig.shop().await;
    let invoice = shop.invoice(order()).await;
    let first = shop.quote(&invoice).await;
    assert_eq!((&first["amount"], &first["rate"]["source"]), (&json!("150"), &json!("operator:1")));
    rig.set_rate("1500").await;
    assert_eq!(rig.get(RATE).await.json()["rate"]["idrPerCoin"], "1500");
    assert_eq!(shop.quote(&invoice).await, first);
    rig.mine_at(first["deadlineSeconds"].as_u64().unwrap() + 1).await;
    let second = shop.quote(&invoice).await;
    assert_eq!((&second["amount"], &second["rate"]["source"]), (&json!("100"), &json!("operator:2")));
}

async fn without_a_rate_there_is_no_quote(test: &TestDb) {
    let rig = Rig::new(test).await;
    let shop = rig.shop().await;
    let invoice = shop.invoice(order()).await;
    let refused = shop.ask_quote(&invoice).await;
    assert_eq!(refused.refusal(), (503, "rate_unavailable".into()));
    assert!(refused.header("retry-after").is_some());
    assert_eq!(rig.get(RATE).await.refusal(), (503, "rate_unavailable".into()));
    assert_eq!(rig.get(&link(&invoice)).await.json()["rate"], json!(null));
    rig.set_rate("1000").await;
    assert_eq!(shop.quote(&invoice).await["amount"], "150");
    rig.node.cut(true);
    let other = shop.invoice(order()).await;
    assert_eq!(shop.ask_quote(&other).await.refusal(), (503, "chain_unavailable".into()));
}

async fn nobody_is_quoted_while_the_last_quote_may_have_been_paid(test: &TestDb) {
    let rig = Rig::new(test).await;
    rig.set_rate("1000").await;
    let shop = rig.shop().await;
    let invoice = shop.invoice(order()).await;
    let quote = shop.quote(&invoice).await;
    let deadline = quote["deadlineSeconds"].as_u64().unwrap();
    rig.send_quote(2, 0, &quote);
    rig.mine_uncredited(deadline).await;
    assert_eq!(shop.quote(&invoice).await, quote, "its last second");
    rig.mine_uncredited(deadline + 2).await;
    assert_eq!(shop.ask_quote(&invoice).await.refusal(), (503, "payments_behind".into()));
    assert_eq!(rig.get(&link(&invoice)).await.json()["quote"], json!(null));
}

async fn rivals_get_the_same_quote(test: &TestDb) {
    let rig = Rig::new(test).await;
    rig.set_rate("1000").await;
    let shop = rig.shop().await;
    let invoice = shop.invoice(order()).await;
    let replies = futures_util::future::join_all((0..10).map(|_| shop.ask_quote(&invoice))).await;
    assert!(replies.iter().all(|reply| reply.status == 200 && reply.body == replies[0].body), "{replies:?}");
}

async fn a_link_shows_nothing_that_the_merchant_wrote(test: &TestDb) {
    let rig = Rig::new(test).await;
    let shop = rig.shop().await;
    let mut body = order();
    body["externalId"] = json!("ORD-1042");
    let invoice = shop.invoice(body).await;
    let page = rig.get(&link(&invoice)).await;
    assert_eq!((page.status.as_u16(), page.header("cache-control")), (200, Some("no-store")));
    let text = String::from_utf8_lossy(&page.body);
    for secret in ["Budi", "Kopi", "ORD-1042", "inv_"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    let shown = page.json();
    assert_eq!(shown["invoice"]["merchant"], shop.wallet.to_checksum(None));
    assert_eq!((&shown["network"]["chainId"], &shown["network"]["symbol"]), (&json!(8845), &json!("PNC")));
    for path in [format!("{PAY}/x"), format!("{PAY}/{}", "A".repeat(22)), format!("{PAY}/{}", "B".repeat(22))]
    {
        assert_eq!(rig.get(&path).await.refusal(), (404, "invoice_not_found".into()), "{path}");
    }
}

async fn what_an_expired_key_asked_for_is_still_credited(test: &TestDb) {
    let rig = Rig::new(test).await;
    rig.set_rate("1000").await;
    rig.mine().await;
    let wallet = devnet::ACCOUNTS[MERCHANT].address;
    let key = rig.give_key(wallet, Scopes::ALL, Duration::from_secs(60)).await;
    let old = Shop { rig: &rig, wallet, key: key.text.expose().to_owned() };
    let invoice = old.invoice(order()).await;
    rig.clock.advance(Duration::from_secs(61));
    assert_eq!(
        old.get(&format!("{}?", crate::portal_shop::INVOICES)).await.refusal(),
        (401, "api_key_expired".into())
    );
    let quote = old.quote(&invoice).await;
    rig.send_quote(2, 0, &quote);
    rig.mine().await;
    let new = rig.shop_of(wallet, Scopes::ALL).await;
    assert_eq!(new.look(&invoice).await["status"], "paid");
}

async fn quotes_are_limited(test: &TestDb) {
    let rig = Rig::new(test).await;
    rig.set_rate("1000").await;
    let shop = rig.shop().await;
    let (first, second) = (shop.invoice(order()).await, shop.invoice(order()).await);
    for _ in 0..10 {
        shop.quote(&first).await;
    }
    let refused = shop.ask_quote(&first).await;
    assert_eq!(refused.refusal(), (429, "rate_limited".into()));
    assert!(refused.header("retry-after").is_some());
    shop.quote(&second).await;
    assert_eq!(rig.get(&link(&first)).await.status, 200, "looking is not limited so");
    rig.clock.advance(Duration::from_secs(61));
    shop.quote(&first).await;
}

/// A stream of events, read one by one.
struct Events {
    body: AnswerBody,
    text: String,
}

impl Events {
    async fn open(rig: &Rig, path: &str) -> Response<AnswerBody> {
        let request = Request::get(path).body(String::new()).unwrap();
        rig.edge.answer(Ipv4Addr::LOCALHOST.into(), request).await
    }

    async fn watch(rig: &Rig, invoice: &Value) -> Self {
        let response = Self::open(rig, &format!("{}/stream", link(invoice))).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["cache-control"], "no-store");
        Self { body: response.into_body(), text: String::new() }
    }

    /// The data of the next event; none at the end.
    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.text = rest;
                if event.starts_with(':') {
                    continue;
                }
                assert!(event.lines().any(|line| line == "event: status"), "{event}");
                let data = event.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
                return Some(serde_json::from_str(data).unwrap());
            }
            let frame = tokio::time::timeout(PATIENCE, self.body.frame()).await.expect("an event in time")?;
            self.text.push_str(std::str::from_utf8(&frame.unwrap().into_data().unwrap()).unwrap());
        }
    }
}

async fn a_watcher_sees_the_quote_and_the_payment(test: &TestDb) {
    let config = EdgeConfig {
        requests_per_minute: 1_000_000,
        time_limit: Duration::from_millis(1_500),
        ..EdgeConfig::default()
    };
    let limit = config.time_limit;
    let rig = Rig::with(test, config).await;
    rig.set_rate("1000").await;
    let shop = rig.shop().await;
    let invoice = shop.invoice(order()).await;
    let mut events = Events::watch(&rig, &invoice).await;
    let first = events.next().await.unwrap();
    assert_eq!((&first["invoice"]["status"], &first["quote"]), (&json!("open"), &json!(null)));
    assert_eq!(first, rig.get(&link(&invoice)).await.json());
    let quote = shop.quote(&invoice).await;
    assert_eq!(events.next().await.unwrap()["quote"], quote);
    // The time limit is for making an answer; this one is made, and goes on.
    tokio::time::sleep(limit + Duration::from_millis(100)).await;
    rig.mine().await;
    rig.send_quote(2, 0, &quote);
    rig.mine().await;
    let last = events.next().await.unwrap();
    assert_eq!(last["invoice"]["status"], "paid");
    assert_eq!(last["invoice"]["payment"]["quoteId"], quote["id"]);
    assert_eq!(events.next().await, None, "there is no more to tell");
    let mut late = Events::watch(&rig, &invoice).await;
    assert_eq!(late.next().await.unwrap(), last);
    assert_eq!(late.next().await, None);
}

async fn watchers_are_let_go(test: &TestDb) {
    let rig = Rig::new(test).await;
    let shop = rig.shop().await;
    let invoice = shop.invoice(order()).await;
    let mut events = Events::watch(&rig, &invoice).await;
    assert_eq!(events.next().await.unwrap()["invoice"]["status"], "open");
    shop.void(&invoice).await;
    assert_eq!(events.next().await.unwrap()["invoice"]["status"], "void");
    assert_eq!(events.next().await, None);
    let other = shop.invoice(order()).await;
    let mut events = Events::watch(&rig, &other).await;
    assert!(events.next().await.is_some());
    rig.shut_down();
    assert_eq!(events.next().await, None, "the process ends");
}

async fn there_are_so_many_watchers_and_no_more(test: &TestDb) {
    let rig = Rig::new(test).await;
    let shop = rig.shop().await;
    let invoice = shop.invoice(order()).await;
    let mut watchers = Vec::new();
    for _ in 0..50 {
        watchers.push(Events::watch(&rig, &invoice).await);
    }
    let path = format!("{}/stream", link(&invoice));
    let refused = rig.get(&path).await;
    assert_eq!(refused.refusal(), (503, "too_many_streams".into()));
    assert!(refused.header("retry-after").is_some());
    watchers.pop();
    Events::watch(&rig, &invoice).await;
    assert_eq!(rig.get(&format!("{PAY}/x/stream")).await.refusal(), (404, "invoice_not_found".into()));
    let unknown = format!("{PAY}/{}/stream", "B".repeat(21) + "A");
    assert_eq!(rig.get(&unknown).await.refusal(), (404, "invoice_not_found".into()));
}

async fn a_link_is_drawn(test: &TestDb) {
    let rig = Rig::new(test).await;
    rig.set_rate("1000").await;
    let shop = rig.shop().await;
    let invoice = shop.invoice(order()).await;
    let path = format!("{}/qr.svg", link(&invoice));
    let picture = rig.get(&path).await;
    assert_eq!((picture.status.as_u16(), picture.header("content-type")), (200, Some("image/svg+xml")));
    assert_eq!(picture.header("content-security-policy"), Some("default-src 'none'; sandbox"));
    assert_eq!(picture.header("cache-control"), Some("public, max-age=60"));
    assert!(String::from_utf8_lossy(&picture.body).contains("<svg"), "{picture:?}");
    let transaction = format!("{path}?data=eip681");
    assert_eq!(rig.get(&transaction).await.refusal(), (404, "quote_not_found".into()));
    let quote = shop.quote(&invoice).await;
    let link = quote["eip681"].as_str().unwrap();
    assert!(
        link.starts_with("ethereum:0x0000000000000000000000000000000000008803@8845/pay?bytes32=0x"),
        "{link}"
    );
    assert!(link.ends_with("&value=150000000000000000000"), "{link}");
    let other = rig.get(&transaction).await;
    assert_eq!((other.status.as_u16(), other.header("cache-control")), (200, Some("no-store")));
    assert_ne!(other.body, picture.body);
    assert_eq!(rig.get(&format!("{path}?data=x")).await.refusal(), (400, "invalid_parameter".into()));
    assert_eq!(rig.get(&format!("{path}?d=x")).await.refusal(), (400, "unknown_parameter".into()));
    assert_eq!(rig.get(&format!("{PAY}/x/qr.svg")).await.refusal(), (404, "invoice_not_found".into()));
}

async fn every_operation_of_payment_links_answers_as_it_is_described(test: &TestDb) {
    let rig = Rig::new(test).await;
    let shop = rig.shop().await;
    let document = rig.get("/api/v1/openapi.json").await.json();
    let mut walk = Walk::of(document, |tag| tag == "Portal payment");
    let (invoice, void) = (shop.invoice(order()).await, shop.invoice(order()).await);
    shop.void(&void).await;
    let page = link(&invoice);
    let calls = |page: &str| {
        [
            ("getCurrentRate", "GET", RATE.to_owned()),
            ("getPaymentPage", "GET", page.to_owned()),
            ("createQuote", "POST", format!("{page}/quote")),
            ("watchPaymentPage", "GET", format!("{page}/stream")),
            ("getQrCode", "GET", format!("{page}/qr.svg?data=eip681")),
        ]
    };
    // A stream that does not end is looked at and dropped.
    let ask = async |rig: &Rig, operation: &str, method: &str, path: &str| -> Reply {
        if operation != "watchPaymentPage" {
            return rig.ask(method, path, &[], "").await;
        }
        let response = Events::open(rig, path).await;
        if response.status() != 200 {
            return rig.ask(method, path, &[], "").await;
        }
        let (parts, _) = response.into_parts();
        Reply { status: parts.status, headers: parts.headers, body: "event".into() }
    };
    for _ in 0..2 {
        for (operation, method, path) in calls(&page) {
            walk.note(operation, &path, &ask(&rig, operation, method, &path).await);
        }
        rig.set_rate("1000").await;
    }
    for (operation, method, path) in calls(&page) {
        walk.note(operation, &path, &ask(&rig, operation, method, &path).await);
        let long = format!("{}?{}", path.split('?').next().unwrap(), "x".repeat(2048));
        walk.note(operation, &long, &rig.ask(method, &long, &[], "").await);
    }
    for (operation, method, path) in calls(&format!("{PAY}/x")).into_iter().chain(calls(&link(&void))) {
        walk.note(operation, &path, &ask(&rig, operation, method, &path).await);
    }
    for query in ["data=x", "x=1"] {
        walk.note("getQrCode", query, &rig.get(&format!("{page}/qr.svg?{query}")).await);
    }
    let mut watchers = Vec::new();
    for _ in 0..50 {
        watchers.push(Events::watch(&rig, &invoice).await);
    }
    walk.note("watchPaymentPage", "crowded", &rig.get(&format!("{page}/stream")).await);
    drop(watchers);
    let quote = shop.quote(&invoice).await;
    rig.mine_uncredited(quote["deadlineSeconds"].as_u64().unwrap() + 1).await;
    walk.note("createQuote", "behind", &shop.ask_quote(&invoice).await);
    rig.node.cut(true);
    walk.note("createQuote", "cut", &shop.ask_quote(&invoice).await);
    let closed = Rig::with(
        test,
        EdgeConfig { requests_per_minute: 0, developer_key_requests_per_minute: 0, ..EdgeConfig::default() },
    )
    .await;
    rig.db.close().await;
    for (operation, method, path) in calls(&page) {
        walk.note(operation, &path, &ask(&closed, operation, method, &path).await);
        walk.note(operation, &path, &ask(&rig, operation, method, &path).await);
    }
    walk.finish();
}
