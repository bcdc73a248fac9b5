//! What every answer of the faucet has in common with those of the API.

use chainnet_api::EdgeConfig;
use domain::Network;
use faucet::FaucetSettings;
use store::testing::TestDb;

use super::rig::{FaucetRig, JSON, claim_body, peer, wallet};

#[tokio::test(flavor = "multi_thread")]
async fn answers_carry_ids_cors_and_limits() {
    let test = TestDb::sqlite().await;
    let rig = FaucetRig::new(Network::Testnet, test.db()).await;
    let headers = [JSON, ("x-request-id", "my-claim"), ("origin", "https://page.example")];
    let reply = rig.ask(peer(1), "POST", "/claim", &headers, claim_body(wallet(1))).await;
    assert_eq!(reply.status.as_u16(), 200, "{reply:?}");
    assert_eq!(reply.header("x-request-id"), Some("my-claim"));
    assert_eq!(reply.header("access-control-allow-origin"), Some("*"));
    assert_eq!(
        (reply.header("ratelimit-limit"), reply.header("ratelimit-remaining")),
        (Some("20"), Some("19"))
    );

    let preflight = [("origin", "https://page.example"), ("access-control-request-method", "POST")];
    let reply = rig.ask(peer(1), "OPTIONS", "/claim", &preflight, "").await;
    assert_eq!(reply.status.as_u16(), 204);
    let allowed = reply.header("access-control-allow-headers").unwrap().to_lowercase();
    assert!(allowed.contains("content-type") && allowed.contains("x-api-key"), "{allowed}");
    let options = rig.ask(peer(1), "OPTIONS", "/claim", &[], "").await;
    assert_eq!((options.status.as_u16(), options.header("allow")), (204, Some("POST, OPTIONS")));

    let path = format!("/status?address={}", wallet(1));
    let (head, get) = (rig.ask(peer(1), "HEAD", &path, &[], "").await, rig.get(&path).await);
    assert_eq!((head.status, head.body.len()), (get.status, 0));
    assert_eq!(head.header("content-length"), Some(get.body.len().to_string().as_str()));
    assert_eq!(rig.get("/api/v1/docs").await.status.as_u16(), 200);
    test.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_can_claim_in_the_name_of_another_address() {
    let test = TestDb::sqlite().await;
    let config =
        EdgeConfig { trusted_proxies: vec!["10.9.0.0/16".parse().unwrap()], ..EdgeConfig::default() };
    let rig = FaucetRig::with(Network::Testnet, test.db(), FaucetSettings::default(), config).await;
    let claim = async |from: &str, forwarded: &str, number: u64| {
        let headers = [JSON, ("x-forwarded-for", forwarded)];
        rig.ask(from.parse().unwrap(), "POST", "/claim", &headers, claim_body(wallet(number)))
            .await
            .status
            .as_u16()
    };
    for number in 0..3 {
        assert_eq!(claim("203.0.113.7", &format!("198.51.100.{number}"), number).await, 200);
    }
    assert_eq!(claim("203.0.113.7", "198.51.100.9", 3).await, 429, "a stranger is who it is");
    assert_eq!(claim("10.9.0.1", "198.51.100.9", 4).await, 200, "a proxy that is trusted is believed");
    assert_eq!(claim("10.9.0.1", "1.1.1.1, 203.0.113.7", 5).await, 429);
    test.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_faucet_that_cannot_write_claims_down_is_not_ready() {
    let test = TestDb::sqlite().await;
    let rig = FaucetRig::new(Network::Testnet, test.db()).await;
    test.refuse_writes().await;
    let reply = rig.ask(peer(1), "GET", "/ready", &[], "").await;
    assert_eq!(reply.status.as_u16(), 503, "{reply:?}");
    assert_eq!(reply.json()["database"], serde_json::json!(false));
}
