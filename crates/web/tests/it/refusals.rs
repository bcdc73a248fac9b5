//! What visitors are told when there is nothing to show, and what still works when the node does not.

use alloy_primitives::B256;
use hyper::StatusCode;

use crate::rig::{FRIEND, Rig, Wishes, first_validator};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn malformed_unknown_and_not_yet_mined_are_told_apart() {
    let rig = Rig::new().await;
    let unknown = B256::repeat_byte(0xab).to_string();
    let long = "9".repeat(4_000);
    for (path, status, words) in [
        ("/block/abc".to_owned(), 400, "This is not a block"),
        (format!("/block/{long}"), 400, "This is not a block"),
        ("/block/7".to_owned(), 404, "This block is not mined yet"),
        (format!("/block/{unknown}"), 404, "No block has this hash"),
        ("/tx/0x12".to_owned(), 400, "This is not a transaction hash"),
        (format!("/tx/{unknown}"), 404, "This transaction is not known"),
        ("/address/0x12".to_owned(), 400, "This is not an address"),
        (format!("/address/{}", FRIEND.replace("F12e4", "f12E4")), 400, "This address has a typing error"),
        ("/nowhere".to_owned(), 404, "<h1>"),
        ("/block/%ff".to_owned(), 404, "<h1>"),
        ("/block/0?from=x".to_owned(), 400, "from"),
    ] {
        let reply = rig.get(&path).await;
        assert_eq!(reply.status.as_u16(), status, "{path}: {}", reply.text);
        assert!(reply.text.contains(words), "{path}: {}", reply.text);
        assert!(reply.text.len() < 10_000, "{path}");
        assert_eq!(reply.header("content-type"), Some("text/html; charset=utf-8"), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_goes_straight_to_the_only_answer() {
    let rig = Rig::new().await;
    let hash = rig.transfer(0, 0, 3);
    rig.mine().await;
    let block_hash = rig.chain.head().block.hash;
    for (text, place) in [
        ("0".to_owned(), "/block/0".to_owned()),
        (format!("%20{hash}%20"), format!("/tx/{hash}")),
        (block_hash.to_string(), "/block/1".to_owned()),
        (FRIEND.to_lowercase(), format!("/address/{FRIEND}")),
        ("validator+2".to_owned(), "/validators/0x".to_owned()),
    ] {
        let reply = rig.get(&format!("/search?q={text}")).await;
        assert_eq!(reply.status, StatusCode::SEE_OTHER, "{text}: {}", reply.text);
        assert!(reply.header("location").unwrap().starts_with(&place), "{text}: {reply:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_lists_several_answers_and_explains_none() {
    let rig = Rig::new().await;
    let several = rig.get("/search?q=validator").await.page();
    assert!(several.contains("Validator 1") && several.contains("Validator 5"), "{several}");
    let both = rig.get(&format!("/search?q={}", first_validator())).await.page();
    assert!(both.contains(">Account</a>") && both.contains(">Validator</a>"), "{both}");
    rig.get("/search").await.page();
    for (text, status, words) in [
        ("kopi", 404, "Nothing was found"),
        ("99", 404, "not mined yet"),
        ("0x1234567890123456789012345678901234567", 400, "This is not an address"),
        (
            "0x12345678901234567890123456789012345678901234567890123456789012345",
            400,
            "not a transaction hash",
        ),
    ] {
        let reply = rig.get(&format!("/search?q={text}")).await;
        assert_eq!(reply.status.as_u16(), status, "{text}");
        assert!(reply.text.contains(words), "{text}: {}", reply.text);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_work_while_no_node_answers() {
    let rig = Rig::new().await;
    let hash = rig.transfer(0, 0, 3);
    rig.mine().await;
    rig.node.cut(true);
    let banner = "No node answers right now.";
    let paths = ["/", "/blocks", "/transactions", "/burns", "/network", "/block/1"];
    for path in paths.into_iter().map(str::to_owned).chain([format!("/address/{FRIEND}")]) {
        let page = rig.get(&path).await.page();
        assert!(page.contains(banner), "{path}: {page}");
    }
    for path in ["/block/1".to_owned(), "/transactions".to_owned(), format!("/address/{FRIEND}")] {
        assert!(rig.get(&path).await.page().contains(&hash.to_string()), "{path}");
    }
    let reply = rig.get(&format!("/tx/{hash}")).await;
    assert_eq!(reply.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(reply.text.contains("No node answers") && reply.text.contains("Try again"), "{}", reply.text);
    rig.node.cut(false);
    assert!(!rig.get("/blocks").await.page().contains(banner));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_speak_the_language_that_is_asked_for() {
    let rig = Rig::new().await;
    let indonesian = ("accept-language", "id-ID,id;q=0.9,en;q=0.8");
    let page = rig.get_with("/blocks", &[indonesian]).await.page();
    assert!(page.contains("<html lang=\"id\"") && page.contains("Pengusul"), "{page}");
    let page = rig.get_with("/blocks", &[indonesian, ("cookie", "a=b; chainnet_lang=en")]).await.page();
    assert!(page.contains("<html lang=\"en\"") && page.contains("Proposer"), "{page}");
    let page = rig.get_with("/blocks", &[("cookie", "chainnet_lang=id; chainnet_theme=dark")]).await.page();
    assert!(page.contains("<html lang=\"id\" data-theme=\"dark\""), "{page}");
    let reply = rig.get_with("/block/x", &[indonesian]).await;
    assert!(reply.text.contains("Ini bukan blok"), "{}", reply.text);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_private_network_asks_strangers_for_a_key() {
    let rig = Rig::with(Wishes { is_private: true, ..Wishes::default() }).await;
    rig.get("/blocks").await.page();
    let stranger = "203.0.113.9".parse().unwrap();
    let reply = rig.ask_from(stranger, "GET", "/blocks", &[], "").await;
    assert_eq!(reply.status, StatusCode::UNAUTHORIZED);
    assert!(reply.text.contains("By invitation"), "{}", reply.text);
    // Health is for everybody; whether a chain whose last block is old is ready is not asked here.
    for path in ["/health", "/ready"] {
        let reply = rig.ask_from(stranger, "GET", path, &[], "").await;
        assert!(reply.status != 401 && reply.text.starts_with('{'), "{path}: {}", reply.text);
    }
    let (good, other) = (rig.key("explorer").await, rig.key("rpc").await);
    for (key, status) in [(good.as_str(), 200), (other.as_str(), 401), ("cnk_no_such_key", 401)] {
        let reply = rig.ask_from(stranger, "GET", "/blocks", &[("x-api-key", key)], "").await;
        assert_eq!(reply.status, status, "{key}");
    }
    let form = ("content-type", "application/x-www-form-urlencoded");
    let refused = rig.ask_from(stranger, "POST", "/enter", &[form], &format!("key={other}")).await;
    assert_eq!((refused.status.as_u16(), refused.header("set-cookie")), (401, None));
    let entered = rig.ask_from(stranger, "POST", "/enter", &[form], &format!("key={good}")).await;
    assert_eq!((entered.status.as_u16(), entered.header("location")), (303, Some("/")));
    let cookie = entered.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap();
    assert_eq!(rig.ask_from(stranger, "GET", "/", &[("cookie", cookie)], "").await.status, 200);
}

/// A wallet holds a URL and sends no header: what the button hands it has the visitor's own key in it, if that is good for it.
#[tokio::test]
async fn a_wallet_on_a_private_network_is_given_an_address_that_works_without_a_header() {
    let rig = Rig::with(Wishes { is_private: true, ..Wishes::default() }).await;
    let (stranger, gateway) = ("203.0.113.9".parse().unwrap(), "http://127.0.0.1:8540");
    let (both, looks) = (rig.key("rpc,explorer").await, rig.key("explorer").await);
    for (key, url) in [(&both, format!("{gateway}/rpc/{both}")), (&looks, gateway.to_owned())] {
        let cookie = format!("chainnet_key={key}");
        for header in [("x-api-key", key.as_str()), ("cookie", cookie.as_str())] {
            let page = rig.ask_from(stranger, "GET", "/network", &[header], "").await.page();
            let (_, data) = page.split_once("id=\"wallet-network\">").unwrap();
            let network: serde_json::Value =
                serde_json::Deserializer::from_str(data).into_iter().next().unwrap().unwrap();
            assert_eq!(network["rpcUrls"], serde_json::json!([url]), "{network}");
        }
    }
}

#[tokio::test]
async fn one_client_does_not_take_all_live_streams() {
    let rig = Rig::new().await;
    let watch = async |peer: &str| {
        let request = hyper::Request::builder().uri("/live").body(String::new()).unwrap();
        rig.explorer.answer(peer.parse().unwrap(), request).await
    };
    let mut open = Vec::new();
    for _ in 0..100 {
        open.push(watch("203.0.113.7").await);
        assert_eq!(open.last().unwrap().status(), 200);
    }
    assert_eq!(watch("203.0.113.7").await.status(), 429);
    assert_eq!(watch("203.0.113.8").await.status(), 200, "others are not concerned");
    drop(open.pop());
    assert_eq!(watch("203.0.113.7").await.status(), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_form_leads_back_to_pages_of_ours_alone() {
    let rig = Rig::new().await;
    for (back, place) in [
        ("/blocks", "/blocks"),
        ("/search?q=a+b&x=%2F", "/search?q=a+b&x=%2F"),
        ("/", "/"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("/\t/evil.example", "/"),
        ("/\n/evil.example", "/"),
        ("/\r\n/evil.example", "/"),
        ("\t//evil.example", "/"),
        (" //evil.example", "/"),
        ("/\u{0}/evil.example", "/"),
        ("/\u{feff}/evil.example", "/"),
        ("/./\t/evil.example", "/"),
        ("/.//evil.example", "/"),
        ("/..//evil.example", "/"),
        ("/%2e//evil.example", "/"),
        ("https://evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("", "/"),
    ] {
        let reply = rig.post("/preferences", &[("lang", "id"), ("back", back)]).await;
        assert_eq!(reply.status, StatusCode::SEE_OTHER, "{back:?}");
        assert_eq!(reply.header("location"), Some(place), "{back:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_payment_link_opens_on_a_private_network_for_whoever_has_it() {
    let rig = Rig::with(Wishes { is_private: true, ..Wishes::default() }).await;
    rig.set_rate("1000").await;
    let merchant = rig.sign_in(1).await;
    merchant.buy_key().await;
    let (_, link) = merchant.invoice("Budi").await;
    let stranger = "203.0.113.9".parse().unwrap();
    let reply = rig.ask_from(stranger, "GET", &link, &[], "").await;
    assert_eq!(reply.status, StatusCode::OK, "{}", reply.text);
    assert!(reply.text.contains("id=\"get-quote\""), "{}", reply.text);
    // Everything that the page loads or sends a form to.
    let mut parts: Vec<String> = Vec::new();
    for attribute in ["src=\"", "<link rel=\"stylesheet\" href=\"", "<link rel=\"icon\" href=\""] {
        parts.extend(
            reply.text.split(attribute).skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()),
        );
    }
    assert!(parts.len() >= 4, "{parts:?}");
    let token = link.rsplit('/').next().unwrap();
    parts.push(format!("/api/v1/platform-dev/pay/{token}"));
    parts.push(format!("/api/v1/platform-dev/pay/{token}/qr.svg"));
    for part in parts {
        let reply = rig.ask_from(stranger, "GET", &part, &[], "").await;
        assert_eq!(reply.status, StatusCode::OK, "{part}");
    }
    let form = ("content-type", "application/x-www-form-urlencoded");
    let quoted = rig.ask_from(stranger, "POST", &link, &[form], "").await;
    assert_eq!(quoted.status, StatusCode::SEE_OTHER, "{}", quoted.text);
    let chosen = format!("lang=id&back={link}");
    let chosen = rig.ask_from(stranger, "POST", "/preferences", &[form], &chosen).await;
    assert_eq!((chosen.status, chosen.header("location")), (StatusCode::SEE_OTHER, Some(link.as_str())));
    for path in ["/", "/blocks", "/developers", "/pay", "/pay/x/y"] {
        let reply = rig.ask_from(stranger, "GET", path, &[], "").await;
        assert_eq!(reply.status, StatusCode::UNAUTHORIZED, "{path}");
        assert!(reply.header("www-authenticate").is_some(), "{path}");
    }
}
