//! The payment page in each state of its invoice, without a script.

use std::time::Duration;

use alloy_primitives::{Bytes, U256};
use hyper::StatusCode;
use serde_json::Value;

use crate::{
    member::{attribute, inside},
    rig::{Reply, Rig},
};

/// A page that nobody may keep, find or learn the link of from.
#[track_caller]
fn private(reply: Reply) -> String {
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    assert_eq!(reply.header("referrer-policy"), Some("no-referrer"));
    assert_eq!(reply.header("x-robots-tag"), Some("noindex"));
    let page = reply.page();
    assert!(page.contains("<meta name=\"robots\" content=\"noindex\">"), "{page}");
    page
}

/// Pays the quote that a page shows, from the third account.
async fn pay(rig: &Rig, link: &str) -> String {
    let quote = rig.api(&format!("{link}/quote"), Value::Null).await;
    let quote: Value = serde_json::from_str(&quote.text).unwrap();
    let tx = &quote["quote"]["tx"];
    let text = |name: &str| tx[name].as_str().unwrap();
    let value = U256::from_str_radix(text("value").trim_start_matches("0x"), 16).unwrap();
    let to: alloy_primitives::Address = text("to").parse().unwrap();
    let hash = rig.send(2, 0, to.into(), value, text("data").parse::<Bytes>().unwrap());
    rig.mine().await;
    hash.to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_invoice_is_shown_quoted_and_paid() {
    let rig = Rig::new().await;
    rig.set_rate("1000").await;
    let merchant = rig.sign_in(1).await;
    merchant.buy_key().await;
    let (place, link) = merchant.invoice("Budi <b>").await;
    let open = private(rig.get(&link).await);
    assert_eq!((attribute(&open, "data-status"), attribute(&open, "data-quote")), ("open", ""));
    assert!(open.contains("Rp\u{a0}150.000") && open.contains("Rp\u{a0}1.000 per PNC"), "{open}");
    assert!(open.contains("id=\"get-quote\"") && open.contains("id=\"pay\""), "{open}");
    for secret in ["Budi", "Kopi"] {
        assert!(!open.contains(secret), "what the merchant wrote is not for everybody who has the link");
    }
    let quoted = rig.post(&link, &[]).await;
    assert_eq!((quoted.status, quoted.header("location")), (StatusCode::SEE_OTHER, Some("?")));
    let quoted = private(rig.get(&format!("{link}?")).await);
    assert!(quoted.contains("<b id=\"amount-coin\">150 PNC</b>"), "{quoted}");
    assert!(quoted.contains("<svg class=\"qr\"") && !quoted.contains("id=\"get-quote\""), "{quoted}");
    assert!(inside(&quoted, "id=\"eip681\" class=\"button\" href=\"", "\"").starts_with("ethereum:0x0"));
    let left: u64 = attribute(&quoted, "data-left").parse().unwrap();
    assert!((890..=900).contains(&left), "{left}");
    assert!(merchant.get(&place).await.page().contains("150 PNC, ends"));
    let hash = pay(&rig, &link).await;
    let paid = private(rig.get_with(&link, &[("accept-language", "id")]).await);
    assert_eq!(attribute(&paid, "data-status"), "paid");
    let receipt = inside(&paid, "<section id=\"receipt\">", "</section>");
    for shown in [
        "Bukti pembayaran",
        "150 PNC",
        "Rp\u{a0}150.000",
        "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
        "UTC",
    ] {
        assert!(receipt.contains(shown), "{shown}: {receipt}");
    }
    assert!(receipt.contains(&format!("href=\"/tx/{hash}\"")), "{receipt}");
    assert!(!paid.contains("id=\"eip681\"") && !paid.contains("id=\"get-quote\""), "{paid}");
    let after = rig.post(&link, &[]).await;
    assert_eq!(after.header("location"), Some("?"), "the page says why there is no price");
    let dashboard = merchant.get("/developers").await.page();
    assert!(
        dashboard.contains("Rp\u{a0}150.000 in all") && dashboard.contains("class=\"fill\""),
        "{dashboard}"
    );
    let too_late = merchant.post(&place, &[]).await;
    assert_eq!(too_late.status, StatusCode::CONFLICT);
    assert!(too_late.text.contains("cannot be taken back"), "{}", too_late.text);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ends_are_explained() {
    let rig = Rig::new().await;
    rig.set_rate("1000").await;
    let merchant = rig.sign_in(1).await;
    merchant.buy_key().await;
    let (place, link) = merchant.invoice("Budi").await;
    merchant.post(&place, &[]).await;
    let void = private(rig.get(&link).await);
    assert_eq!(attribute(&void, "data-status"), "void");
    assert!(void.contains("There is nothing to pay."), "{void}");
    let (place, link) = merchant.invoice("Budi").await;
    rig.post(&link, &[]).await;
    merchant.post(&place, &[]).await;
    let closing = private(rig.get(&link).await);
    assert_eq!((attribute(&closing, "data-status"), attribute(&closing, "data-closing")), ("open", "true"));
    assert!(
        closing.contains("can still be paid until it ends") && closing.contains("id=\"eip681\""),
        "{closing}"
    );
    assert!(merchant.get(&place).await.page().contains("a customer holds a price"));
    let (_, link) = merchant.invoice("Budi").await;
    let seconds = rig.chain.head().block.header.timestamp.max(rig.clock_seconds()) + 2 * 86_400;
    rig.control.mine(Some(seconds)).await.unwrap();
    rig.settle().await;
    let expired = private(rig.get(&link).await);
    assert_eq!(attribute(&expired, "data-status"), "expired");
    assert!(expired.contains("Ask the merchant for a new one."), "{expired}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_stands_in_the_way_of_a_price_is_told() {
    let rig = Rig::new().await;
    let merchant = rig.sign_in(1).await;
    merchant.buy_key().await;
    let (_, link) = merchant.invoice("Budi").await;
    let reply = rig.post(&link, &[]).await;
    assert_eq!(reply.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(reply.text.contains("no price for the coin"), "{}", reply.text);
    rig.set_rate("1000").await;
    rig.node.cut(true);
    let reply = rig.post(&link, &[]).await;
    assert!(reply.text.contains("No node of the chain answers"), "{}", reply.text);
    private(rig.get(&link).await);
    rig.node.cut(false);
    for _ in 0..12 {
        rig.post(&link, &[]).await;
    }
    assert!(rig.post(&link, &[]).await.text.contains("asked for too often"));
    rig.clock.advance(Duration::from_secs(61));
    assert_eq!(rig.post(&link, &[]).await.status, StatusCode::SEE_OTHER);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_link_is_told_so() {
    let rig = Rig::new().await;
    for token in ["x", "BBBBBBBBBBBBBBBBBBBBBA", "%ff", "MDEyMzQ1Njc4OWFiY2RlZh"] {
        let reply = rig.get(&format!("/pay/{token}")).await;
        assert_eq!(reply.status, StatusCode::NOT_FOUND, "{token}");
        assert_eq!(rig.post(&format!("/pay/{token}"), &[]).await.status, StatusCode::NOT_FOUND, "{token}");
    }
    assert!(rig.get("/pay/x").await.text.contains("This is not a payment link"));
}
