//! Coming with a developer key, over HTTP.

use std::time::Duration;

use alloy_primitives::Address;
use chainnet_api::EdgeConfig;
use domain::portal::{Actor, AuditAction, AuditId, Scope, Scopes};
use serde_json::json;
use store::{
    portal::{AuditRow, KeyRevocation},
    testing::TestDb,
};

use crate::{
    contract::Walk,
    rig::{Reply, Rig, on_both_engines, peppers},
};

on_both_engines! {
    a_key_is_known_in_three_spellings,
    what_is_no_key_is_refused_without_the_database,
    a_key_ends_with_its_plan,
    who_is_not_known_is_told_how_to_be,
    a_key_that_was_taken_back_is_refused,
    a_key_is_good_for_its_scopes_alone,
    a_key_has_a_limit_of_its_own_wherever_it_is_used,
    every_operation_of_keys_answers_as_it_is_described,
}

const KEY: &str = "/api/v1/platform-dev/v1/key";
const INVOICES: &str = "/api/v1/platform-dev/v1/invoices";
const WALLET: Address = Address::repeat_byte(0x5a);
const DAY: Duration = Duration::from_secs(86_400);

async fn with(rig: &Rig, key: &str) -> Reply {
    rig.get_with(KEY, &[("X-Platform-Dev-Key", key)]).await
}

async fn who_is_not_known_is_told_how_to_be(test: &TestDb) {
    let rig = Rig::new(test).await;
    let reply = rig.get(KEY).await;
    assert_eq!(reply.refusal(), (401, "api_key_missing".into()));
    assert_eq!(reply.header("www-authenticate"), Some("Bearer realm=\"api-key\""));
    assert!(reply.json()["detail"].as_str().unwrap().contains("X-Platform-Dev-Key"), "{reply:?}");
    let reply = with(&rig, "pdk_x").await;
    assert_eq!(reply.refusal(), (401, "api_key_invalid".into()));
    let told = "Bearer realm=\"api-key\", error=\"invalid_token\"";
    assert_eq!(reply.header("www-authenticate"), Some(told));
    let detail = reply.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("X-Platform-Dev-Key"), "{detail}");
    let reply = rig.get("/api/v1/platform-dev/keys").await;
    assert_eq!(reply.refusal(), (401, "session_missing".into()));
    assert_eq!(reply.header("www-authenticate"), Some("Bearer realm=\"wallet-session\""));
    let detail = reply.json()["detail"].as_str().unwrap().to_owned();
    for told in ["POST /api/v1/platform-dev/session/challenge", "Authorization: Bearer"] {
        assert!(detail.contains(told), "{detail}");
    }
    let reply = rig.get_with("/api/v1/platform-dev/keys", &[("authorization", "Bearer pds_x")]).await;
    assert_eq!(reply.refusal(), (401, "session_invalid".into()));
    let told = "Bearer realm=\"wallet-session\", error=\"invalid_token\"";
    assert_eq!(reply.header("www-authenticate"), Some(told));
    assert!(reply.json()["detail"].as_str().unwrap().contains("session/challenge"), "{reply:?}");
}

async fn a_key_is_known_in_three_spellings(test: &TestDb) {
    let rig = Rig::new(test).await;
    let scopes: Scopes = [Scope::InvoicesRead, Scope::InvoicesWrite].into_iter().collect();
    let key = rig.give_key(WALLET, scopes, 30 * DAY).await;
    let text = key.text.expose();
    let as_bearer = format!("Bearer {text}");
    let three = [("X-Platform-Dev-Key", text), ("Authorization", as_bearer.as_str()), ("X-Api-Key", text)];
    for line in three {
        let reply = rig.get_with(KEY, &[line]).await;
        assert_eq!(reply.status, 200, "{line:?}: {reply:?}");
        let body = reply.json();
        assert_eq!(body["wallet"], json!(WALLET.to_string()));
        assert_eq!((&body["id"], &body["plan"]), (&json!(key.id.as_str()), &json!("monthly")));
        assert_eq!(body["scopes"], json!(["invoices:read", "invoices:write"]));
        assert_eq!(reply.header("x-key-expires-at"), body["expiresAt"].as_str());
        assert_eq!(reply.header("cache-control"), Some("no-store"));
        assert!(!String::from_utf8_lossy(&reply.body).contains(text));
    }
    assert_eq!(rig.get_with(KEY, &three).await.status, 200, "the same key three times is one");
    let other = rig.give_key(WALLET, scopes, 30 * DAY).await;
    let two = [three[0], ("x-api-key", other.text.expose())];
    assert_eq!(rig.get_with(KEY, &two).await.refusal(), (400, "api_key_ambiguous".into()));
    assert_eq!(rig.get(KEY).await.refusal(), (401, "api_key_missing".into()));
}

async fn what_is_no_key_is_refused_without_the_database(test: &TestDb) {
    let rig = Rig::new(test).await;
    let key = rig.give_key(WALLET, Scopes::ALL, DAY).await;
    let text = key.text.expose();
    let stranger = peppers().mint(&mut rand::rng());
    assert_eq!(with(&rig, stranger.text.expose()).await.refusal(), (401, "api_key_invalid".into()));
    rig.db.close().await;
    let mut typo = text.to_owned();
    let last = if text.ends_with('0') { "1" } else { "0" };
    typo.replace_range(65.., last);
    let gateway = "cnk_internal-dev_0123456789abcdef0123456789abcdef";
    for wrong in [typo.as_str(), gateway, "pdk_", "", &text[..65], &text.to_uppercase()] {
        let reply = with(&rig, wrong).await;
        assert_eq!(reply.refusal(), (401, "api_key_invalid".into()), "{wrong}");
        assert_eq!(reply.header("x-key-expires-at"), None);
    }
    // A well-formed one has to be looked up.
    let unseen = peppers().mint(&mut rand::rng());
    assert_eq!(with(&rig, unseen.text.expose()).await.refusal(), (503, "database_unavailable".into()));
}

async fn a_key_has_a_limit_of_its_own_wherever_it_is_used(test: &TestDb) {
    let config =
        EdgeConfig { requests_per_minute: 2, developer_key_requests_per_minute: 5, ..EdgeConfig::default() };
    let rig = Rig::with(test, config).await;
    let (one, other) =
        (rig.give_key(WALLET, Scopes::ALL, DAY).await, rig.give_key(WALLET, Scopes::ALL, DAY).await);
    let stranger = peppers().mint(&mut rand::rng());
    let forged = stranger.text.expose().replace(stranger.id.as_str(), one.id.as_str());
    let ask = async |from: u8, key: Option<&str>| {
        let headers: Vec<_> = key.map(|key| ("x-platform-dev-key", key)).into_iter().collect();
        let reply = rig.ask_from([203, 0, 113, from].into(), "GET", "/api/v1/chain", &headers, "").await;
        let limit: u32 = reply.header("ratelimit-limit").unwrap().parse().unwrap();
        let remaining: u32 = reply.header("ratelimit-remaining").unwrap().parse().unwrap();
        (reply.status.as_u16(), limit, remaining)
    };
    assert_eq!([ask(1, None).await, ask(1, None).await], [(200, 2, 1), (200, 2, 0)]);
    assert_eq!(ask(1, None).await, (429, 2, 0));
    // The address is used up, the key is not; and it is the same key from elsewhere.
    for (from, left) in [(1, 4), (1, 3), (2, 2), (3, 1), (1, 0)] {
        assert_eq!(ask(from, Some(one.text.expose())).await, (200, 5, left));
    }
    assert_eq!(ask(4, Some(one.text.expose())).await, (429, 5, 0));
    assert_eq!(ask(1, Some(other.text.expose())).await, (200, 5, 4), "another key");
    assert_eq!(ask(4, None).await, (200, 2, 1), "who has no key does not pay for it");
    // What is no good key counts for the address.
    for wrong in [stranger.text.expose(), &forged, "pdk_nonsense"] {
        assert_eq!(ask(1, Some(wrong)).await, (429, 2, 0), "{wrong}");
    }
    rig.clock.advance(Duration::from_secs(60));
    assert_eq!(ask(4, Some(one.text.expose())).await.0, 200);
}

async fn a_key_ends_with_its_plan(test: &TestDb) {
    let rig = Rig::new(test).await;
    let key = rig.give_key(WALLET, Scopes::ALL, DAY).await;
    let good = with(&rig, key.text.expose()).await;
    assert_eq!(good.status, 200);
    rig.clock.advance(DAY);
    let ended = with(&rig, key.text.expose()).await;
    assert_eq!(ended.refusal(), (401, "api_key_expired".into()));
    assert_eq!(ended.header("x-key-expires-at"), good.header("x-key-expires-at"));
    // Only to whoever has the key.
    let other = peppers().mint(&mut rand::rng());
    let forged = other.text.expose().replace(other.id.as_str(), key.id.as_str());
    assert_eq!(with(&rig, &forged).await.refusal(), (401, "api_key_invalid".into()));
}

async fn a_key_that_was_taken_back_is_refused(test: &TestDb) {
    let rig = Rig::new(test).await;
    let key = rig.give_key(WALLET, Scopes::ALL, DAY).await;
    assert_eq!(with(&rig, key.text.expose()).await.status, 200);
    let entry = AuditRow {
        id: AuditId::new(1, 1),
        wallet: Some(WALLET),
        actor: Actor::Wallet,
        action: AuditAction::KeyRevoked,
        target: key.id.to_string(),
        origin: None,
        at: 1,
    };
    let revoked = rig.db.revoke_developer_key(WALLET, &key.id, 1, &entry).await.unwrap();
    assert!(matches!(revoked, KeyRevocation::Revoked(_)));
    // Every process has noticed after a second.
    rig.clock.advance(Duration::from_secs(1));
    let refused = with(&rig, key.text.expose()).await;
    assert_eq!(refused.refusal(), (401, "api_key_revoked".into()));
}

async fn a_key_is_good_for_its_scopes_alone(test: &TestDb) {
    let rig = Rig::new(test).await;
    let reads = rig.give_key(WALLET, [Scope::InvoicesRead].into_iter().collect(), DAY).await;
    let headers = [("X-Platform-Dev-Key", reads.text.expose()), ("content-type", "application/json")];
    let listed = rig.ask("GET", INVOICES, &headers, "").await;
    assert_eq!(listed.status, 200, "{listed:?}");
    let refused = rig.ask("POST", INVOICES, &headers, "{}").await;
    assert_eq!(refused.refusal(), (403, "scope_missing".into()));
    assert_eq!(refused.json()["requiredScope"], "invoices:write");
    assert!(refused.header("x-key-expires-at").is_some());
    assert_eq!(refused.header("x-key-expires-at"), listed.header("x-key-expires-at"));
}

async fn every_operation_of_keys_answers_as_it_is_described(test: &TestDb) {
    let rig = Rig::new(test).await;
    let document = rig.get("/api/v1/openapi.json").await.json();
    let mut walk = Walk::of(document, |tag| tag == "Portal keys");
    let (good, back) =
        (rig.give_key(WALLET, Scopes::ALL, DAY).await, rig.give_key(WALLET, Scopes::ALL, DAY).await);
    let entry = AuditRow {
        id: AuditId::new(1, 1),
        wallet: None,
        actor: Actor::System,
        action: AuditAction::KeyRevoked,
        target: String::new(),
        origin: None,
        at: 1,
    };
    rig.db.revoke_developer_key(WALLET, &back.id, 1, &entry).await.unwrap();
    for key in [good.text.expose(), back.text.expose(), "pdk_"] {
        walk.note("getCurrentKey", KEY, &with(&rig, key).await);
    }
    walk.note("getCurrentKey", KEY, &rig.get(KEY).await);
    let two = [("x-api-key", "a"), ("x-platform-dev-key", "b")];
    walk.note("getCurrentKey", KEY, &rig.get_with(KEY, &two).await);
    walk.note("getCurrentKey", KEY, &rig.get(&format!("{KEY}?{}", "x".repeat(2048))).await);
    rig.clock.advance(DAY);
    walk.note("getCurrentKey", KEY, &with(&rig, good.text.expose()).await);
    rig.db.close().await;
    rig.clock.advance(DAY);
    walk.note("getCurrentKey", KEY, &with(&rig, good.text.expose()).await);
    let closed = Rig::with(
        test,
        EdgeConfig { requests_per_minute: 0, developer_key_requests_per_minute: 0, ..EdgeConfig::default() },
    )
    .await;
    walk.note("getCurrentKey", KEY, &closed.get(KEY).await);
    walk.note("getCurrentKey", KEY, &Rig::without_portal(test).await.get(KEY).await);
    walk.finish();
}
