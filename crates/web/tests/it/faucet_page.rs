//! The faucet's page without a script: a claim that is paid, and every way to be refused.

use std::{num::NonZeroU32, time::Duration};

use access::{KeyTerms, Keys};
use alloy_primitives::Address;
use api::clock::Clock;
use store::AllowedWallet;
use tokio::time::{Instant, sleep};

use crate::rig::{Reply, Rig, Wishes};

const PATIENCE: Duration = Duration::from_secs(30);

fn wallet(number: u8) -> Address {
    Address::repeat_byte(number)
}

impl Rig {
    /// A key with these permissions.
    pub(crate) async fn key(&self, permissions: &str) -> String {
        let terms = KeyTerms {
            team: "Partner QA".parse().unwrap(),
            permissions: permissions.parse().unwrap(),
            networks: Vec::new(),
            requests_per_minute: NonZeroU32::new(600).unwrap(),
            expires_at: None,
        };
        let issued = Keys::new(self.db.clone()).issue(&terms, self.clock.now()).await.unwrap();
        self.keyring.refresh().await.unwrap();
        issued.text.expose().to_owned()
    }

    async fn allow(&self, wallet: Address) {
        let team = "Partner QA".parse().unwrap();
        self.db.add_allowed_wallet(&AllowedWallet { wallet, team, note: None, added_at: 0 }).await.unwrap();
    }

    async fn claim(&self, wallet: Address, key: &str) -> Reply {
        let wallet = wallet.to_checksum(None);
        self.post("/faucet", &[("address", &wallet), ("website", ""), ("key", key)]).await
    }

    /// Mines until the page of a claim says that it was paid.
    async fn until_paid(&self, place: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            self.mine().await;
            let page = self.get(place).await.page();
            if page.contains("Your claim <span class=\"tag good\">✓ paid") {
                return page;
            }
            assert!(Instant::now() < deadline, "{page}");
            sleep(Duration::from_millis(5)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_is_paid_and_shown_and_a_second_one_is_told_when() {
    let rig = Rig::new().await;
    let page = rig.get("/faucet").await.page();
    let trap = page.split("<div class=\"away\" aria-hidden=\"true\">").nth(1).unwrap();
    assert!(trap.contains("name=\"website\"") && trap.contains("tabindex=\"-1\""), "{trap}");
    for text in
        ["Nobody has claimed yet.", "500 PNC", "100\u{202f}000 PNC", "type=\"password\"", "-faucet.js"]
    {
        assert!(page.contains(text), "{text} is not in {page}");
    }

    let key = rig.key("faucet").await;
    rig.allow(wallet(7)).await;
    let reply = rig.claim(wallet(7), &key).await;
    assert_eq!(reply.status, 303, "{}", reply.text);
    let place = reply.header("location").unwrap().to_owned();
    let hash = place.strip_prefix("/faucet?claim=").unwrap().to_owned();
    let page = rig.until_paid(&place).await;
    for text in [&*format!("/tx/{hash}"), &wallet(7).to_checksum(None), "500", "/block/", "Recent payouts"] {
        assert!(page.contains(text), "{text} is not in {page}");
    }
    assert!(!page.contains("Nobody has claimed yet."), "{page}");

    let reply = rig.claim(wallet(7), &key).await;
    assert_eq!(reply.status, 429);
    for text in [
        "This wallet has claimed within the last 24 hours.",
        "data-until=\"",
        "\u{a0}h</time>",
        &wallet(7).to_checksum(None),
    ] {
        assert!(reply.text.contains(text), "{text} is not in {}", reply.text);
    }
    assert!(!reply.text.contains(&key), "a key is never shown");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refusals_are_told_in_words_in_both_languages() {
    let rig = Rig::new().await;
    let (good, other) = (rig.key("faucet").await, rig.key("rpc").await);
    for (key, status, words) in [
        ("", 401, "This network is by invitation. Enter an API key"),
        ("nonsense", 401, "This API key is not accepted"),
        (other.as_str(), 403, "does not have the permission"),
        (good.as_str(), 403, "This wallet is not on the allowlist"),
    ] {
        let reply = rig.claim(wallet(7), key).await;
        assert_eq!(reply.status.as_u16(), status, "{}", reply.text);
        assert!(reply.text.contains(words), "{words} is not in {}", reply.text);
        assert!(reply.text.contains("aria-invalid=\"true\""), "{}", reply.text);
    }
    let reply = rig.claim(wallet(7), &good).await;
    let command = format!("chainnet allowlist add {} --team NAME", wallet(7).to_checksum(None));
    assert!(reply.text.contains(&command), "{}", reply.text);

    for (address, website, status, words) in [
        ("0x12", "", 400, "This is not an address"),
        ("<b>", "", 400, "value=\"&#60;b&#62;\""),
        (
            "0x0707070707070707070707070707070707070707",
            "http://spam.example",
            400,
            "A hidden field was filled",
        ),
        ("0x0000000000000000000000000000000000000001", "", 403, "allowlist"),
    ] {
        let reply = rig.post("/faucet", &[("address", address), ("website", website), ("key", &good)]).await;
        assert_eq!(reply.status.as_u16(), status, "{address}: {}", reply.text);
        assert!(reply.text.contains(words), "{words} is not in {}", reply.text);
    }
    assert!(rig.db.list_recent_payouts(10).await.unwrap().is_empty());

    let headers = [("content-type", "application/x-www-form-urlencoded"), ("accept-language", "id")];
    let reply = rig.ask("POST", "/faucet", &headers, "address=0x12&website=").await;
    assert!(reply.text.contains("Ini bukan alamat"), "{}", reply.text);
    let page = rig.get_with("/faucet", &headers[1..]).await.page();
    assert!(page.contains("Belum ada yang mengklaim.") && page.contains("Kunci API"), "{page}");
    assert_eq!(rig.get("/faucet?claim=x").await.status, 400);
    rig.get(&format!("/faucet?claim={}", alloy_primitives::B256::repeat_byte(1))).await.page();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_key_of_the_door_is_used_where_none_is_typed() {
    let rig = Rig::with(Wishes { is_private: true, ..Wishes::default() }).await;
    let key = rig.key("faucet,explorer").await;
    rig.allow(wallet(8)).await;
    let cookie = format!("chainnet_key={key}");
    let headers = [("content-type", "application/x-www-form-urlencoded"), ("cookie", cookie.as_str())];
    let body = format!("address={}&website=&key=", wallet(8));
    let reply = rig.ask_from([203, 0, 113, 7].into(), "POST", "/faucet", &headers, &body).await;
    assert_eq!(reply.status, 303, "{}", reply.text);
    let reply = rig.ask_from([203, 0, 113, 7].into(), "GET", "/faucet", &[], "").await;
    assert_eq!(reply.status, 401, "the door comes first");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_visitor_is_the_one_who_is_counted() {
    let rig = Rig::new().await;
    let key = rig.key("faucet").await;
    let claim = async |number: u8, from: [u8; 4]| {
        rig.allow(wallet(number)).await;
        let body = format!("address={}&website=&key={key}", wallet(number));
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        rig.ask_from(from.into(), "POST", "/faucet", &headers, &body).await
    };
    for number in 1..4 {
        assert_eq!(claim(number, [203, 0, 113, 7]).await.status, 303);
    }
    let reply = claim(4, [203, 0, 113, 7]).await;
    assert_eq!(reply.status, 429);
    assert!(reply.text.contains("from your network address"), "{}", reply.text);
    assert_eq!(claim(4, [203, 0, 113, 8]).await.status, 303);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_faucet_that_is_elsewhere_is_asked_with_a_request() {
    let rig = Rig::with(Wishes { has_faucet: false, ..Wishes::default() }).await;
    let page = rig.get("/faucet").await.page();
    assert!(
        page.contains("curl -X POST http://127.0.0.1:4001/claim") && page.contains("X-API-Key"),
        "{page}"
    );
    assert!(!page.contains("claim-form"), "{page}");
    assert_eq!(rig.post("/faucet", &[("address", &wallet(1).to_string())]).await.status, 404);
}
