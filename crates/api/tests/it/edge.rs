//! What every answer has in common: limits, CORS, ids, caching, compression, methods.

use std::{io::Read, net::IpAddr, time::Duration};

use chainnet_api::{CorsOrigins, EdgeConfig};
use hyper::header::HeaderValue;
use store::testing::TestDb;

use crate::rig::{Rig, deployment, on_both_engines};

on_both_engines! {
    a_database_that_cannot_be_written_is_told_of,
    the_101st_request_of_a_minute_is_refused_until_the_minute_is_over,
    a_stranger_cannot_pass_for_many_by_forwarding_for_them,
    ipv6_counts_by_its_network_and_mapped_ipv4_as_ipv4,
    every_answer_has_a_request_id,
    other_origins_may_read_answers_and_refusals,
    a_list_of_origins_lets_no_other_read,
    an_answer_that_is_known_is_not_sent_again,
    larger_answers_are_compressed_as_the_client_likes,
    head_is_get_without_the_body,
    wrong_methods_and_unknown_paths_are_told_apart,
    bodies_of_the_wrong_type_or_size_are_refused,
}

const CHAIN: &str = "/api/v1/chain";

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

async fn limited(test: &TestDb, trusted: &[&str]) -> Rig {
    let trusted_proxies = trusted.iter().map(|net| net.parse().unwrap()).collect();
    Rig::with(test, EdgeConfig { trusted_proxies, ..EdgeConfig::default() }).await
}

async fn status_from(rig: &Rig, peer: &str, headers: &[(&str, &str)]) -> u16 {
    rig.ask_from(address(peer), "GET", CHAIN, headers, "").await.status.as_u16()
}

async fn the_101st_request_of_a_minute_is_refused_until_the_minute_is_over(test: &TestDb) {
    let rig = limited(test, &[]).await;
    for used in 1..=100 {
        let reply = rig.get(CHAIN).await;
        assert_eq!(reply.status, 200);
        assert_eq!(reply.header("ratelimit-limit"), Some("100"));
        assert_eq!(reply.header("ratelimit-remaining"), Some((100 - used).to_string().as_str()));
    }
    let refused = rig.get(CHAIN).await;
    assert_eq!(refused.refusal(), (429, "rate_limited".to_owned()));
    assert_eq!(refused.header("ratelimit-remaining"), Some("0"));
    assert_eq!(refused.header("retry-after"), refused.header("ratelimit-reset"));
    assert_eq!(refused.header("access-control-allow-origin"), Some("*"), "a browser must be able to read it");
    assert_eq!(rig.get("/health").await.status, 200, "probes are not limited");
    assert_eq!(rig.get("/health").await.header("ratelimit-limit"), None);
    assert_eq!(rig.graphql("{ chain { blockNumber } }").await.status, 429, "all paths count together");
    rig.clock.advance(Duration::from_secs(61));
    assert_eq!(rig.get(CHAIN).await.status, 200);
}

async fn a_stranger_cannot_pass_for_many_by_forwarding_for_them(test: &TestDb) {
    let rig = limited(test, &["10.0.0.0/8"]).await;
    for number in 0..100 {
        let forwarded = format!("198.51.100.{number}");
        assert_eq!(status_from(&rig, "203.0.113.7", &[("x-forwarded-for", &forwarded)]).await, 200);
    }
    assert_eq!(status_from(&rig, "203.0.113.7", &[("x-forwarded-for", "192.0.2.1")]).await, 429);
    let behind = [("x-forwarded-for", "192.0.2.1, 203.0.113.7")];
    assert_eq!(status_from(&rig, "10.0.0.1", &behind).await, 429, "the proxy names the same client");
    assert_eq!(status_from(&rig, "10.0.0.1", &[("x-forwarded-for", "203.0.113.7, 192.0.2.1")]).await, 200);
}

async fn ipv6_counts_by_its_network_and_mapped_ipv4_as_ipv4(test: &TestDb) {
    let rig = limited(test, &[]).await;
    for number in 0..100 {
        assert_eq!(status_from(&rig, &format!("2001:db8:1:2:{number:x}::1"), &[]).await, 200);
        assert_eq!(status_from(&rig, "::ffff:203.0.113.9", &[]).await, 200);
    }
    assert_eq!(status_from(&rig, "2001:db8:1:2::ffff", &[]).await, 429);
    assert_eq!(status_from(&rig, "2001:db8:1:3::1", &[]).await, 200);
    assert_eq!(status_from(&rig, "203.0.113.9", &[]).await, 429);
}

async fn every_answer_has_a_request_id(test: &TestDb) {
    let rig = Rig::new(test).await;
    let made = rig.get(CHAIN).await;
    assert!(!made.header("x-request-id").unwrap().is_empty());
    let refused = rig.get_with("/api/v1/blocks/x", &[("x-request-id", "order-7")]).await;
    assert_eq!(refused.header("x-request-id"), Some("order-7"));
    assert_eq!(refused.json()["requestId"], "order-7");
    assert_eq!(refused.json()["type"], "/api/v1/docs#invalid_block_number");
}

async fn other_origins_may_read_answers_and_refusals(test: &TestDb) {
    let rig = Rig::new(test).await;
    for path in [CHAIN, "/nowhere", "/api/v1/blocks/x", "/health"] {
        let reply = rig.get_with(path, &[("origin", "https://dapp.example")]).await;
        assert_eq!(reply.header("access-control-allow-origin"), Some("*"), "{path}");
        let exposed = reply.header("access-control-expose-headers").unwrap();
        for name in [
            "RateLimit-Limit",
            "RateLimit-Remaining",
            "RateLimit-Reset",
            "Retry-After",
            "ETag",
            "X-Request-Id",
            "X-Key-Expires-At",
            "Idempotent-Replayed",
        ] {
            assert!(exposed.contains(name), "{name}");
        }
    }
    let preflight = [("origin", "https://dapp.example"), ("access-control-request-method", "POST")];
    let reply = rig.ask("OPTIONS", "/graphql", &preflight, "").await;
    assert_eq!(reply.status, 204);
    assert_eq!(reply.header("access-control-allow-methods"), Some("GET, HEAD, POST, DELETE, OPTIONS"));
    let allowed = reply.header("access-control-allow-headers").unwrap();
    for name in ["Authorization", "Content-Type", "Idempotency-Key", "X-API-Key", "X-Platform-Dev-Key"] {
        assert!(allowed.contains(name), "{name}");
    }
    assert_eq!(reply.header("access-control-allow-credentials"), None, "not for every page there is");
}

async fn a_list_of_origins_lets_no_other_read(test: &TestDb) {
    let cors = CorsOrigins::List(vec![HeaderValue::from_static("https://explorer.example")]);
    let rig = Rig::with(test, EdgeConfig { cors, ..EdgeConfig::default() }).await;
    for path in [CHAIN, "/nowhere"] {
        let known = rig.get_with(path, &[("origin", "https://explorer.example")]).await;
        assert_eq!(known.header("access-control-allow-origin"), Some("https://explorer.example"));
        assert_eq!(known.header("access-control-allow-credentials"), Some("true"));
        assert_eq!(known.header("vary"), Some("Accept-Encoding, Origin"));
        let other = rig.get_with(path, &[("origin", "https://evil.example")]).await;
        assert_eq!(other.header("access-control-allow-origin"), None);
        assert_eq!(other.header("access-control-allow-credentials"), None);
    }
}

async fn an_answer_that_is_known_is_not_sent_again(test: &TestDb) {
    let rig = Rig::new(test).await;
    for path in [CHAIN, "/api/v1/blocks/0", "/api/v1/validators", "/api/v1/network", "/api/v1/openapi.json"] {
        let first = rig.get(path).await;
        let etag = first.header("etag").unwrap().to_owned();
        assert!(etag.starts_with('"') && etag.ends_with('"'), "a strong one: {etag}");
        let known = rig.get_with(path, &[("if-none-match", &etag)]).await;
        assert_eq!((known.status.as_u16(), known.body.len()), (304, 0), "{path}");
        assert_eq!(known.header("etag"), Some(etag.as_str()));
        assert_eq!(known.header("cache-control"), first.header("cache-control"));
        let listed = format!("\"other\", W/{etag}");
        assert_eq!(rig.get_with(path, &[("if-none-match", &listed)]).await.status, 304);
        assert_eq!(rig.get_with(path, &[("if-none-match", "\"other\"")]).await.status, 200);
    }
    let before = rig.get(CHAIN).await.header("etag").unwrap().to_owned();
    rig.mine().await;
    assert_eq!(rig.get_with(CHAIN, &[("if-none-match", &before)]).await.status, 200, "another head");
}

async fn larger_answers_are_compressed_as_the_client_likes(test: &TestDb) {
    let rig = Rig::new(test).await;
    let plain = rig.get("/api/v1/openapi.json").await;
    assert_eq!(plain.header("content-encoding"), None);
    let gzip = rig.get_with("/api/v1/openapi.json", &[("accept-encoding", "gzip")]).await;
    assert_eq!(gzip.header("content-encoding"), Some("gzip"));
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(&gzip.body[..]).read_to_end(&mut unpacked).unwrap();
    assert_eq!(unpacked, plain.body);
    let brotli = rig.get_with("/api/v1/openapi.json", &[("accept-encoding", "gzip, br")]).await;
    assert_eq!(brotli.header("content-encoding"), Some("br"));
    let mut unpacked = Vec::new();
    brotli::Decompressor::new(&brotli.body[..], 4096).read_to_end(&mut unpacked).unwrap();
    assert_eq!(unpacked, plain.body);
    let etags = [&plain, &gzip, &brotli].map(|reply| reply.header("etag").unwrap().to_owned());
    assert!(etags[0] != etags[1] && etags[1] != etags[2], "bytes that differ have tags that differ");
    let small = rig.get_with("/api/v1/network/all", &[("accept-encoding", "br")]).await;
    assert_eq!(small.header("content-encoding"), None);
}

async fn head_is_get_without_the_body(test: &TestDb) {
    let rig = Rig::new(test).await;
    for path in [CHAIN, "/api/v1/blocks/0", "/health", "/nowhere", "/api/v1/docs"] {
        let head = rig.ask("HEAD", path, &[], "").await;
        let get = rig.get(path).await;
        assert_eq!((head.status, head.body.len()), (get.status, 0), "{path}");
        assert_eq!(head.header("content-type"), get.header("content-type"), "{path}");
        let length: usize = head.header("content-length").unwrap().parse().unwrap();
        if path != "/health" && path != "/nowhere" {
            assert_eq!(length, get.body.len(), "{path}");
        }
    }
}

async fn wrong_methods_and_unknown_paths_are_told_apart(test: &TestDb) {
    let rig = Rig::new(test).await;
    let wrong = rig.ask("DELETE", CHAIN, &[], "").await;
    assert_eq!(wrong.refusal(), (405, "method_not_allowed".to_owned()));
    let allow = wrong.header("allow").unwrap();
    assert!(allow.contains("GET") && allow.contains("HEAD") && allow.contains("OPTIONS"), "{allow}");
    let options = rig.ask("OPTIONS", CHAIN, &[], "").await;
    assert_eq!((options.status.as_u16(), options.header("allow")), (204, Some(allow)));
    let pages = rig.get("/").await;
    let explorer = deployment().urls.explorer.as_str().to_owned();
    assert_eq!((pages.status.as_u16(), pages.header("location")), (307, Some(explorer.as_str())));
    for path in ["/api/v1", "/api/v1/", "/api/v1/chain/", "/api/v2/chain", "/api/v1/blocks/1/x", "/%ff"] {
        assert_eq!(rig.get(path).await.refusal(), (404, "not_found".to_owned()), "{path}");
    }
    let long = format!("/api/v1/search?q={}", "a".repeat(2100));
    assert_eq!(rig.get(&long).await.refusal(), (414, "uri_too_long".to_owned()));
}

async fn bodies_of_the_wrong_type_or_size_are_refused(test: &TestDb) {
    let rig = Rig::new(test).await;
    let path = "/api/v1/validators/applications";
    for headers in [&[][..], &[("content-type", "text/plain")], &[("content-type", "application/jsonp")]] {
        assert_eq!(
            rig.ask("POST", path, headers, "{}").await.refusal(),
            (415, "unsupported_media_type".to_owned())
        );
    }
    let charset = [("content-type", "Application/JSON; charset=utf-8")];
    assert_eq!(rig.ask("POST", path, &charset, "{}").await.status, 422);
    let large = format!("{{\"moniker\":\"{}\"}}", "a".repeat(17 * 1024));
    assert_eq!(rig.post(path, large).await.refusal(), (413, "body_too_large".to_owned()));
}

async fn a_database_that_cannot_be_written_is_told_of(test: &TestDb) {
    // Two processes: what is found is kept for some seconds.
    let (well, ill) = (Rig::new(test).await, Rig::new(test).await);
    let database = |reply: &crate::rig::Reply| reply.json()["checks"]["database"].clone();
    let reply = well.get("/ready").await;
    assert_eq!(database(&reply), serde_json::json!({ "ok": true, "isWritable": true }));
    if ill.db.engine() == store::Engine::Sqlite {
        ill.db.refuse_writes().await;
        let reply = ill.get("/ready").await;
        assert_eq!(reply.status, 503);
        assert_eq!(database(&reply), serde_json::json!({ "ok": false, "isWritable": false }));
    }
}
