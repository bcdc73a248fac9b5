//! Claims that are paid, and how often.

use std::{net::IpAddr, time::Duration};

use domain::{Network, Wei};
use jiff::Timestamp;
use serde_json::{Value, json};
use store::engine_tests;

use super::rig::{DAY, FaucetRig, JSON, claim_body, peer, wallet};

fn time(value: &Value) -> Timestamp {
    value.as_str().unwrap().parse().unwrap()
}

engine_tests! {
    async fn a_claim_is_paid_and_can_be_followed(test: TestDb) {
        let rig = FaucetRig::new(Network::Testnet, test.db()).await;
        let before = chainnet_api::clock::Clock::now(&*rig.clock);
        let status = rig.get(&format!("/status?address={}", wallet(1))).await.json();
        assert_eq!((&status["eligible"], &status["nextClaimAt"], &status["lastClaim"]), (&json!(true), &Value::Null, &Value::Null));
        assert_eq!((&status["amount"], &status["allowlisted"]), (&json!("500"), &Value::Null));

        let reply = rig.post(peer(1), json!({ "address": wallet(1).to_string().to_lowercase() }).to_string()).await;
        assert_eq!(reply.status.as_u16(), 200, "{reply:?}");
        assert_eq!(reply.header("cache-control"), Some("no-store"));
        let claim = reply.json();
        assert_eq!(claim["address"], wallet(1).to_checksum(None));
        assert_eq!((&claim["amount"], &claim["status"]), (&json!("500"), &json!("pending")));
        assert!(time(&claim["nextClaimAt"]) >= before + DAY);

        rig.pooled(1).await;
        rig.mine().await;
        let confirmed = rig.until(&claim["txHash"], "confirmed").await;
        assert_eq!(confirmed["blockNumber"], 1);
        assert_eq!(rig.coin(wallet(1)), Wei::from_coin(500));
        let status = rig.get(&format!("/status?address={}", wallet(1))).await.json();
        assert_eq!((&status["eligible"], &status["lastClaim"]), (&json!(false), &confirmed));

        let again = rig.claim(peer(2), wallet(1)).await;
        assert_eq!(again.refusal(), (429, "wallet_cooldown".to_owned()));
        assert_eq!(again.json()["nextClaimAt"], claim["nextClaimAt"]);
        let wait: u64 = again.header("retry-after").unwrap().parse().unwrap();
        assert!((86_000..=86_400).contains(&wait), "{wait}");

        rig.clock.advance(DAY);
        let next = rig.claim(peer(2), wallet(1)).await;
        assert_eq!(next.status.as_u16(), 200, "{next:?}");
    }

    async fn two_hundred_claims_of_one_wallet_are_paid_once(test: TestDb) {
        let rig = std::sync::Arc::new(FaucetRig::new(Network::Testnet, test.db()).await);
        let claims: Vec<_> = (0..200)
            .map(|number| {
                let rig = rig.clone();
                tokio::spawn(async move { rig.claim(peer(number), wallet(1)).await })
            })
            .collect();
        let mut paid = 0;
        for claim in claims {
            let reply = claim.await.unwrap();
            match reply.status.as_u16() {
                200 => paid += 1,
                _ => assert_eq!(reply.refusal(), (429, "wallet_cooldown".to_owned())),
            }
        }
        assert_eq!(paid, 1);
        rig.pooled(1).await;
        rig.mine().await;
        rig.mine().await;
        assert_eq!(rig.coin(wallet(1)), Wei::from_coin(500));
    }

    async fn ten_wallets_of_one_address_get_three_claims(test: TestDb) {
        let rig = FaucetRig::new(Network::Testnet, test.db()).await;
        for prefix in ["203.0.113.7", "2001:db8:1:2"] {
            let first = if prefix.contains(':') { 100 } else { 0 };
            let mut paid = 0;
            for number in 0..10 {
                let from = if prefix.contains(':') { format!("{prefix}::{number}") } else { prefix.to_owned() };
                let reply = rig.claim(from.parse::<IpAddr>().unwrap(), wallet(first + number)).await;
                match reply.status.as_u16() {
                    200 => paid += 1,
                    _ => {
                        assert_eq!(reply.refusal(), (429, "ip_limit".to_owned()));
                        assert!(reply.json()["nextClaimAt"].is_string() && reply.header("retry-after").is_some());
                    }
                }
            }
            assert_eq!(paid, 3, "{prefix}");
        }
        rig.pooled(6).await;
        rig.mine().await;
        let paid = (0..10).chain(100..110).filter(|number| rig.coin(wallet(*number)) == Wei::from_coin(500));
        assert_eq!(paid.count(), 6);
    }

    async fn on_the_private_network_a_key_and_the_allowlist_open_the_faucet(test: TestDb) {
        let rig = FaucetRig::new(Network::Devnet, test.db()).await;
        let key = rig.key("faucet").await;
        rig.allow(wallet(1)).await;
        let bearer = format!("Bearer {key}");
        let reply = rig.ask(peer(1), "POST", "/claim", &[JSON, ("x-api-key", &key)], claim_body(wallet(1))).await;
        assert_eq!(reply.status.as_u16(), 200, "{reply:?}");
        let path = format!("/claim/{}", reply.json()["txHash"].as_str().unwrap());
        let followed = rig.ask(peer(1), "GET", &path, &[("authorization", &bearer)], "").await;
        assert_eq!(followed.json()["address"], wallet(1).to_checksum(None));
        for (number, allowlisted) in [(1, true), (2, false)] {
            let path = format!("/status?address={}", wallet(number));
            let status = rig.ask(peer(1), "GET", &path, &[("x-api-key", &key)], "").await.json();
            assert_eq!((&status["allowlisted"], &status["eligible"]), (&json!(allowlisted), &json!(false)));
        }
        rig.pooled(1).await;
        rig.mine().await;
        assert_eq!(rig.coin(wallet(1)), Wei::from_coin(500));
    }

    async fn falling_for_the_honeypot_costs_no_claim(test: TestDb) {
        let rig = FaucetRig::new(Network::Testnet, test.db()).await;
        for _ in 0..5 {
            let filled = json!({ "address": wallet(1), "website": "https://spam.example" }).to_string();
            assert_eq!(rig.post(peer(1), filled).await.refusal(), (400, "honeypot_filled".to_owned()));
        }
        let reply = rig.claim(peer(1), wallet(1)).await;
        assert_eq!(reply.status.as_u16(), 200, "{reply:?}");
    }

    async fn a_claimant_that_hangs_up_is_paid_once(test: TestDb) {
        let rig = FaucetRig::new(Network::Testnet, test.db()).await;
        // Long enough to reserve, too short to be answered, or not: it is all the same.
        let _ = tokio::time::timeout(Duration::from_millis(3), rig.claim(peer(1), wallet(1))).await;
        let again = rig.claim(peer(1), wallet(1)).await;
        assert!(matches!(again.status.as_u16(), 200 | 429), "{again:?}");
        rig.pooled(1).await;
        rig.mine().await;
        rig.mine().await;
        assert_eq!(rig.coin(wallet(1)), Wei::from_coin(500));
    }
}
