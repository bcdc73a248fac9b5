//! Keys: where they are carried, and every reason to refuse one.

use std::time::Duration;

use domain::{KeyId, Permission, Permissions};
use serde_json::json;

use crate::{
    front::{Front, keyed, request},
    world::World,
};

fn ask() -> String {
    request(1, "eth_chainId", json!([]))
}

fn id_of(key: &str) -> KeyId {
    key.split('_').nth(1).unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_key_is_taken_from_both_headers_and_the_path() {
    let world = World::new();
    let front = Front::new(keyed(), world.in_process()).await;
    let key = front.issue(|_| {}).await;
    let bearer = format!("Bearer {key}");
    let in_path = format!("/rpc/{key}");
    for (path, header) in [
        ("/", Some(("X-API-Key", key.as_str()))),
        ("/", Some(("Authorization", bearer.as_str()))),
        (in_path.as_str(), None),
        (in_path.as_str(), Some(("x-api-key", key.as_str()))),
    ] {
        let reply = front.post_with(path, header.as_slice(), ask()).await;
        assert_eq!(reply.result(), "0x228d", "{path} {header:?}");
        assert_eq!(reply.header("ratelimit-limit"), Some("600"));
    }
}

#[tokio::test]
async fn every_bad_key_is_401() {
    let world = World::new();
    let front = Front::new(keyed(), world.in_process()).await;
    let good = front.issue(|_| {}).await;
    let revoked = front.issue(|_| {}).await;
    let expiry = front.clock.now() + Duration::from_secs(60);
    let expired = front.issue(|terms| terms.expires_at = Some(expiry)).await;
    let elsewhere = front.issue(|terms| terms.networks = vec!["10.0.0.0/8".parse().unwrap()]).await;
    front.keys().revoke(&id_of(&revoked), front.clock.now()).await.unwrap();
    front.keyring.refresh().await.unwrap();
    front.clock.advance(Duration::from_secs(61));
    let wrong = format!("{}x", &good[..good.len() - 1]);
    for (key, reason) in [
        ("nonsense", "api_key_invalid"),
        (wrong.as_str(), "api_key_invalid"),
        (revoked.as_str(), "api_key_revoked"),
        (expired.as_str(), "api_key_expired"),
        (elsewhere.as_str(), "ip_not_allowed"),
    ] {
        let reply = front.post_with("/", &[("x-api-key", key)], ask()).await;
        assert_eq!(reply.refusal(), (401, -40100, reason.to_owned()), "{key}");
        assert!(reply.header("www-authenticate").is_some());
        assert!(!reply.text().contains(key), "a key must not come back");
    }
    let two = front.post_with("/rpc/other", &[("x-api-key", &good)], ask()).await;
    assert_eq!(two.refusal(), (401, -40100, "api_key_ambiguous".to_owned()));
}

#[tokio::test]
async fn who_keeps_trying_keys_is_told_to_wait() {
    let world = World::new();
    let front = Front::new(keyed(), world.in_process()).await;
    let good = front.issue(|_| {}).await;
    let mut connection = front.connect().await;
    for _ in 0..300 {
        let reply = connection.send("POST", "/", &[("x-api-key", "cnk_a_b")], ask()).await;
        assert_eq!(reply.refusal().0, 401);
    }
    // Tries come back with time, five in a second: on a slow machine there are some left.
    let mut last = connection.send("POST", "/", &[], ask()).await.refusal();
    for _ in 0..5_000 {
        if last.0 == 429 {
            break;
        }
        last = connection.send("POST", "/", &[], ask()).await.refusal();
    }
    assert_eq!(last, (429, -32005, "rate_limited".to_owned()));
    let reply = connection.send("POST", "/", &[("x-api-key", &good)], ask()).await;
    assert_eq!(reply.result(), "0x228d", "a good key is not concerned");
}

#[tokio::test]
async fn a_key_without_the_permission_is_403() {
    let world = World::new();
    let front = Front::new(keyed(), world.in_process()).await;
    let key = front.issue(|terms| terms.permissions = Permissions::of([Permission::Explorer])).await;
    let reply = front.post_with("/", &[("x-api-key", &key)], ask()).await;
    assert_eq!(reply.refusal(), (403, -32604, "permission_missing".to_owned()));
    assert_eq!(reply.json()["error"]["data"]["required"], "rpc");
}

#[tokio::test]
async fn a_key_has_its_own_limit_wherever_it_is_used() {
    let world = World::new();
    let front = Front::new(keyed(), world.in_process()).await;
    let small = front.issue(|terms| terms.requests_per_minute = 3.try_into().unwrap()).await;
    let other = front.issue(|_| {}).await;
    for _ in 0..3 {
        assert_eq!(front.post_with("/", &[("x-api-key", &small)], ask()).await.status.as_u16(), 200);
    }
    assert_eq!(front.post_with(&format!("/rpc/{small}"), &[], ask()).await.refusal().0, 429);
    assert_eq!(front.post_with("/", &[("x-api-key", &other)], ask()).await.status.as_u16(), 200);
}

#[tokio::test]
async fn clients_behind_a_trusted_proxy_are_counted_apart_and_nobody_else_says_who_they_are() {
    let config = || chainnet_gateway::GatewayConfig {
        door: chainnet_gateway::Door::Open { requests_per_minute: 2.try_into().unwrap() },
        ..Default::default()
    };
    let world = World::new();
    let spoofing = Front::new(config(), world.in_process()).await;
    let ask_as = async |front: &Front, client: &str| {
        front.post_with("/", &[("x-forwarded-for", client)], ask()).await.status.as_u16()
    };
    let statuses = [
        ask_as(&spoofing, "198.51.100.1").await,
        ask_as(&spoofing, "198.51.100.2").await,
        ask_as(&spoofing, "198.51.100.3").await,
    ];
    assert_eq!(statuses, [200, 200, 429]);
    let proxied = Front::with(config(), world.in_process(), |access| {
        access.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
    })
    .await;
    for client in ["198.51.100.1", "198.51.100.2", "2001:db8::1"] {
        assert_eq!(ask_as(&proxied, client).await, 200);
        assert_eq!(ask_as(&proxied, client).await, 200);
        assert_eq!(ask_as(&proxied, client).await, 429, "{client}");
    }
    assert_eq!(ask_as(&proxied, "2001:db8::2").await, 429, "the same network of 64 bits");
}
