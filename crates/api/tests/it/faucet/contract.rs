//! The faucet's OpenAPI document against the faucet: everything it describes is seen, and nothing else.

use chainnet_api::EdgeConfig;
use domain::{Network, Wei};
use faucet::FaucetSettings;
use serde_json::json;
use store::testing::TestDb;

use super::rig::{FaucetRig, JSON, claim_body, peer, wallet};
use crate::contract::Walk;

const CONTRACT: &str = "0xcA11bde05977b3631167028862bE2a173976CA11";

/// Calls an operation and takes note of what it answers.
struct Caller<'a> {
    rig: &'a FaucetRig,
    walk: &'a mut Walk,
    headers: Vec<(&'a str, &'a str)>,
}

impl Caller<'_> {
    async fn get(&mut self, operation: &str, path: &str) {
        let reply = self.rig.ask(peer(1), "GET", path, &self.headers, "").await;
        self.walk.note(operation, path, &reply);
    }

    async fn post(&mut self, from: u32, body: impl Into<String>) -> String {
        let mut headers = vec![JSON];
        headers.extend(&self.headers);
        let reply = self.rig.ask(peer(from), "POST", "/claim", &headers, body).await;
        self.walk.note("createClaim", "/claim", &reply);
        reply.json()["txHash"].as_str().unwrap_or_default().to_owned()
    }

    /// All operations with something in common: a key, a limit, a database.
    async fn all(&mut self, hash: &str) {
        self.get("getHealth", "/health").await;
        self.get("getReadiness", "/ready").await;
        self.get("getOpenapi", "/openapi.json").await;
        self.get("getClaim", &format!("/claim/{hash}")).await;
        self.get("getStatus", &format!("/status?address={}", wallet(1))).await;
        self.post(1, claim_body(wallet(1))).await;
    }
}

async fn walk_open(walk: &mut Walk) {
    let test = TestDb::sqlite().await;
    let settings = FaucetSettings { daily_cap: Wei::from_coin(2_000), ..FaucetSettings::default() };
    let rig = FaucetRig::with(Network::Testnet, test.db(), settings, EdgeConfig::default()).await;
    let mut caller = Caller { rig: &rig, walk, headers: Vec::new() };
    let hash = caller.post(1, claim_body(wallet(1))).await;
    caller.all(&hash).await;
    for sent in ["{", r#"{"x":1}"#, "{}", r#"{"address":"0x1"}"#] {
        caller.post(3, sent).await;
    }
    caller.post(3, "x".repeat(5_000)).await;
    caller.post(3, json!({ "address": wallet(1), "website": "x" }).to_string()).await;
    caller.post(3, json!({ "address": format!("0x{}", "0".repeat(40)) }).to_string()).await;
    caller.post(3, json!({ "address": CONTRACT }).to_string()).await;
    for number in 2..7 {
        caller.post(1, claim_body(wallet(number))).await;
    }
    caller.post(4, claim_body(wallet(7))).await;
    caller.post(4, claim_body(wallet(8))).await;
    let plain = rig.ask(peer(3), "POST", "/claim", &[("content-type", "text/plain")], "{}").await;
    caller.walk.note("createClaim", "/claim", &plain);
    caller.get("getClaim", "/claim/x").await;
    caller.get("getClaim", &format!("/claim/0x{}", "11".repeat(32))).await;
    for query in ["address=x", "x=1", "address=x&address=x"] {
        caller.get("getStatus", &format!("/status?{query}")).await;
    }
    let long = "x".repeat(2048);
    for (operation, path) in [
        ("getHealth", "/health"),
        ("getReadiness", "/ready"),
        ("getOpenapi", "/openapi.json"),
        ("getStatus", "/status"),
        ("getClaim", "/claim/x"),
    ] {
        caller.get(operation, &format!("{path}?{long}")).await;
    }
    let reply = rig.ask(peer(3), "POST", &format!("/claim?{long}"), &[JSON], "{}").await;
    caller.walk.note("createClaim", "/claim", &reply);
    rig.node.cut(true);
    caller.post(5, claim_body(wallet(9))).await;
    rig.node.cut(false);
    rig.db.close().await;
    caller.all(&hash).await;
    test.finish().await;
}

async fn walk_invited(walk: &mut Walk) {
    let test = TestDb::sqlite().await;
    let rig = FaucetRig::new(Network::Devnet, test.db()).await;
    let (good, other) = (rig.key("faucet").await, rig.key("rpc").await);
    let hash = format!("0x{}", "11".repeat(32));
    for key in [None, Some("cnk_x_y"), Some(&other), Some(&good)] {
        let headers = key.map(|key| ("x-api-key", key)).into_iter().collect();
        Caller { rig: &rig, walk, headers }.all(&hash).await;
    }
    Caller { rig: &rig, walk, headers: Vec::new() }
        .post(1, json!({ "address": wallet(1) }).to_string())
        .await;
    test.finish().await;
}

async fn walk_closed(walk: &mut Walk) {
    let test = TestDb::sqlite().await;
    let config =
        EdgeConfig { requests_per_minute: 0, developer_key_requests_per_minute: 0, ..EdgeConfig::default() };
    let rig = FaucetRig::with(Network::Testnet, test.db(), FaucetSettings::default(), config).await;
    Caller { rig: &rig, walk, headers: Vec::new() }.all("x").await;
    test.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_of_the_faucet_answers_as_it_is_described() {
    let mut walk = Walk::new(serde_json::from_str(&chainnet_api::faucet_openapi_document()).unwrap());
    walk_open(&mut walk).await;
    walk_invited(&mut walk).await;
    walk_closed(&mut walk).await;
    walk.finish();
}
