//! Every code, and the order in which they are found.

use std::time::Duration;

use chainnet_api::EdgeConfig;
use domain::{Network, Wei};
use faucet::FaucetSettings;
use serde_json::json;
use store::engine_tests;

use super::rig::{FaucetRig, JSON, claim_body, peer, wallet};

/// The zero address, the faucet's own, and a contract of the genesis.
const ZERO: &str = "0x0000000000000000000000000000000000000000";
const OWN: &str = "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720";
const CONTRACT: &str = "0xcA11bde05977b3631167028862bE2a173976CA11";
/// An address whose checksum is wrong in one letter.
const MISSPELT: &str = "0xcA11bde05977b3631167028862bE2a173976cA11";

engine_tests! {
    async fn bodies_are_refused_for_what_is_wrong_with_them(test: TestDb) {
        let rig = FaucetRig::new(Network::Testnet, test.db()).await;
        let good = wallet(1).to_checksum(None);
        for (sent, status, code) in [
            ("{".to_owned(), 400, "invalid_json"),
            ("[]".to_owned(), 400, "invalid_json"),
            (format!(r#"{{"address":"{good}","address":"{ZERO}"}}"#), 400, "invalid_json"),
            (json!({ "address": "0x1" }).to_string(), 400, "invalid_address"),
            (json!({ "address": MISSPELT }).to_string(), 400, "invalid_address"),
            (json!({}).to_string(), 422, "validation_failed"),
            (json!({ "address": 1 }).to_string(), 422, "validation_failed"),
            (json!({ "address": good, "amount": "1000000" }).to_string(), 422, "unknown_field"),
            (json!({ "address": good, "website": " " }).to_string(), 400, "honeypot_filled"),
            (json!({ "address": good, "website": 0 }).to_string(), 400, "honeypot_filled"),
            (json!({ "address": ZERO }).to_string(), 422, "address_reserved"),
            (json!({ "address": OWN }).to_string(), 422, "address_reserved"),
            (json!({ "address": CONTRACT }).to_string(), 422, "address_is_contract"),
            (format!("\"{}\"", "a".repeat(5_000)), 413, "body_too_large"),
        ] {
            let reply = rig.post(peer(1), sent.clone()).await;
            assert_eq!(reply.refusal(), (status, code.to_owned()), "{sent}");
        }
        let plain = rig.ask(peer(1), "POST", "/claim", &[("content-type", "text/plain")], claim_body(wallet(1))).await;
        assert_eq!(plain.refusal(), (415, "unsupported_media_type".to_owned()));
        let unnamed = rig.ask(peer(1), "POST", "/claim", &[], claim_body(wallet(1))).await;
        assert_eq!(unnamed.refusal(), (415, "unsupported_media_type".to_owned()));
        assert_eq!(test.list_open_claims(10).await.unwrap(), [], "nothing was reserved");
    }

    async fn twenty_requests_in_a_minute_whatever_became_of_them(test: TestDb) {
        let rig = FaucetRig::new(Network::Testnet, test.db()).await;
        for left in (0..20).rev() {
            let reply = match left % 3 {
                0 => rig.post(peer(1), "{").await,
                1 => rig.post(peer(1), "x".repeat(5_000)).await,
                _ => rig.ask(peer(1), "POST", "/claim", &[], "").await,
            };
            assert!(matches!(reply.status.as_u16(), 400 | 413 | 415), "{reply:?}");
            assert_eq!(reply.header("ratelimit-limit"), Some("20"));
            assert_eq!(reply.header("ratelimit-remaining"), Some(left.to_string().as_str()));
            // Looking costs nothing of it.
            rig.get("/health").await;
            rig.get(&format!("/status?address={}", wallet(1))).await;
        }
        let refused = rig.claim(peer(1), wallet(1)).await;
        assert_eq!(refused.refusal(), (429, "rate_limited".to_owned()));
        let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=60).contains(&wait), "{wait}");
        assert!(refused.json()["nextClaimAt"].is_string());
        // The size is looked at first, the rest only within the limit.
        assert_eq!(rig.post(peer(1), "x".repeat(5_000)).await.refusal(), (413, "body_too_large".to_owned()));
        assert_eq!(rig.post(peer(1), "{").await.refusal(), (429, "rate_limited".to_owned()));
        assert_eq!(rig.claim(peer(2), wallet(1)).await.status.as_u16(), 200, "others are not concerned");
        rig.clock.advance(Duration::from_secs(61));
        assert_eq!(rig.claim(peer(1), wallet(2)).await.status.as_u16(), 200);
    }

    async fn on_the_private_network_each_check_comes_in_its_turn(test: TestDb) {
        let rig = FaucetRig::new(Network::Devnet, test.db()).await;
        let (good, other) = (rig.key("faucet").await, rig.key("rpc,explorer").await);
        let post = async |key: Option<&str>, sent: serde_json::Value| {
            let mut headers = vec![JSON];
            headers.extend(key.map(|key| ("x-api-key", key)));
            rig.ask(peer(1), "POST", "/claim", &headers, sent.to_string()).await.refusal()
        };
        let (bad, wallet) = (json!({ "address": "0x1" }), wallet(1));
        assert_eq!(post(None, bad).await, (400, "invalid_address".to_owned()));
        assert_eq!(post(None, json!({ "address": wallet })).await, (400, "honeypot_missing".to_owned()));
        let filled = json!({ "address": wallet, "website": "x" });
        assert_eq!(post(None, filled).await, (400, "honeypot_filled".to_owned()));
        let right = || json!({ "address": wallet, "website": "" });
        assert_eq!(post(None, right()).await, (401, "api_key_missing".to_owned()));
        assert_eq!(post(Some("cnk_x_y"), right()).await, (401, "api_key_invalid".to_owned()));
        assert_eq!(post(Some(&other), right()).await, (403, "permission_missing".to_owned()));
        assert_eq!(post(Some(&good), right()).await, (403, "wallet_not_allowlisted".to_owned()));
        for path in [format!("/claim/0x{}", "11".repeat(32)), format!("/status?address={wallet}")] {
            assert_eq!(rig.get(&path).await.refusal(), (401, "api_key_missing".to_owned()), "{path}");
            let denied = rig.ask(peer(1), "GET", &path, &[("x-api-key", &other)], "").await;
            assert_eq!(denied.refusal(), (403, "permission_missing".to_owned()), "{path}");
        }
        assert_eq!(rig.get("/health").await.status.as_u16(), 200);
        assert_eq!(test.list_open_claims(10).await.unwrap(), [], "nothing was reserved");
    }

    async fn an_empty_faucet_says_so(test: TestDb) {
        let settings = FaucetSettings { daily_cap: Wei::from_coin(500), ..FaucetSettings::default() };
        let rig = FaucetRig::with(Network::Testnet, test.db(), settings, EdgeConfig::default()).await;
        let health = rig.get("/health").await.json();
        assert_eq!((&health["status"], &health["faucet"]["funds"]), (&json!("ok"), &json!("ok")));
        assert_eq!(rig.claim(peer(1), wallet(1)).await.status.as_u16(), 200);
        let capped = rig.claim(peer(2), wallet(2)).await;
        assert_eq!(capped.refusal(), (503, "faucet_empty".to_owned()));
        assert!(capped.json()["nextClaimAt"].is_string());
        assert_eq!(rig.get("/health").await.json()["faucet"]["funds"], "empty");
    }

    async fn a_faucet_without_coin_says_so(test: TestDb) {
        // It keeps more for gas than it has.
        let settings = FaucetSettings { gas_reserve: Wei::from_coin(10_000_000), ..FaucetSettings::default() };
        let rig = FaucetRig::with(Network::Testnet, test.db(), settings, EdgeConfig::default()).await;
        let empty = rig.claim(peer(1), wallet(1)).await;
        assert_eq!(empty.refusal(), (503, "faucet_empty".to_owned()));
        assert_eq!(empty.header("retry-after"), Some("60"));
        let health = rig.get("/health").await.json();
        assert_eq!((&health["faucet"]["funds"], &health["faucet"]["claimsLeft"]), (&json!("empty"), &json!(0)));
    }

    async fn what_does_not_answer_behind_the_faucet_is_named(test: TestDb) {
        let rig = FaucetRig::new(Network::Testnet, test.db()).await;
        rig.node.cut(true);
        let cut = rig.claim(peer(1), wallet(1)).await;
        assert_eq!(cut.refusal(), (503, "chain_unavailable".to_owned()));
        assert!(cut.header("retry-after").is_some());
        assert_eq!(rig.get("/health").await.json()["faucet"]["funds"], "unknown");
        rig.node.cut(false);
        assert_eq!(rig.claim(peer(1), wallet(1)).await.status.as_u16(), 200, "nothing was charged");
        rig.db.close().await;
        assert_eq!(rig.claim(peer(1), wallet(2)).await.refusal(), (503, "database_unavailable".to_owned()));
        assert_eq!(rig.get("/health").await.json()["faucet"]["openClaims"], json!(null));
    }

    async fn what_is_not_there_is_not_found(test: TestDb) {
        let rig = FaucetRig::new(Network::Testnet, test.db()).await;
        let none = format!("/claim/0x{}", "11".repeat(32));
        for (path, status, code) in [
            (none.as_str(), 404, "claim_not_found"),
            ("/claim/0x1", 400, "invalid_hash"),
            ("/status", 400, "invalid_address"),
            ("/status?address=0x1", 400, "invalid_address"),
            ("/status?adress=0x1", 400, "unknown_parameter"),
            ("/api/v1/chain", 404, "not_found"),
            ("/claim", 405, "method_not_allowed"),
        ] {
            assert_eq!(rig.get(path).await.refusal(), (status, code.to_owned()), "{path}");
        }
    }
}
