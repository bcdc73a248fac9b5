//! What every door tells browsers: a table of surfaces and headers.

use serde_json::{Value, json};
use testkit::{HttpAnswer, HttpClient};

use super::{folder, up};

const KEY: (&str, &str) = ("x-api-key", "cnk_internal-dev_devnet-placeholder-replace-before-production");

/// What an answer is, which says what it must tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A page that people look at.
    Page,
    /// Anything that a browser can be sent to.
    Data,
    /// An answer to a JSON-RPC request, which it cannot.
    Rpc,
}

#[track_caller]
fn check(surface: &str, kind: Kind, answer: &HttpAnswer) {
    let header = |name: &str| answer.header(name).unwrap_or_default();
    assert_eq!(header("x-content-type-options"), "nosniff", "{surface}");
    for banner in ["server", "x-powered-by", "via"] {
        assert_eq!(answer.header(banner), None, "{surface} tells what it runs on");
    }
    assert!(answer.body.is_empty() || !header("content-type").is_empty(), "{surface}");
    // Everybody's pages may read what needs no cookie, and nothing else.
    assert!(
        header("access-control-allow-origin") != "*" || header("access-control-allow-credentials") != "true",
        "{surface}"
    );
    if kind == Kind::Rpc {
        return;
    }
    let policy = header("content-security-policy");
    for part in ["default-src 'none'", "frame-ancestors 'none'"] {
        assert!(policy.contains(part), "{surface}: {policy:?}");
    }
    assert!(
        !policy.contains("unsafe") && !policy.contains('*') && !policy.contains("http"),
        "{surface}: {policy}"
    );
    if kind == Kind::Page {
        assert!(header("content-type").starts_with("text/html"), "{surface}");
        assert!(policy.contains("base-uri 'none'") && policy.contains("form-action"), "{surface}: {policy}");
    }
}

#[track_caller]
fn keeps_addresses(surface: &str, answer: &HttpAnswer) {
    let referrer = answer.header("referrer-policy").unwrap_or_default();
    assert!(["no-referrer", "same-origin"].contains(&referrer), "{surface}: {referrer:?}");
}

#[tokio::test]
async fn every_surface_tells_browsers_what_they_may_do() {
    let data = folder();
    let app = up(data.path()).await;
    let at = |marker| HttpClient::new(app.server().announced(marker).unwrap());
    let (explorer, gateway, faucet) = (at("Explorer"), at("Gateway"), at("Faucet"));

    let reads = [
        ("API", app.api(), Kind::Data, "/health"),
        ("API", app.api(), Kind::Data, "/ready"),
        ("API", app.api(), Kind::Data, "/api/v1/chain"),
        ("API", app.api(), Kind::Data, "/api/v1/blocks/0"),
        ("API", app.api(), Kind::Data, "/api/v1/blocks/nonsense"),
        ("API", app.api(), Kind::Data, "/api/v1/openapi.json"),
        ("API", app.api(), Kind::Data, "/api/v1/graphql-schema"),
        ("API", app.api(), Kind::Data, "/api/v1/docs/style.css"),
        ("API", app.api(), Kind::Data, "/nowhere"),
        ("API", app.api(), Kind::Data, "/api/v1/platform-dev/v1/dashboard"),
        ("API", app.api(), Kind::Page, "/api/v1/docs"),
        ("API", app.api(), Kind::Page, "/graphql"),
        ("faucet", faucet, Kind::Data, "/health"),
        ("faucet", faucet, Kind::Data, "/status"),
        ("faucet", faucet, Kind::Data, "/nowhere"),
        ("explorer", explorer, Kind::Page, "/"),
        ("explorer", explorer, Kind::Page, "/blocks"),
        ("explorer", explorer, Kind::Page, "/block/0"),
        ("explorer", explorer, Kind::Page, "/validators"),
        ("explorer", explorer, Kind::Page, "/apply"),
        ("explorer", explorer, Kind::Page, "/faucet"),
        ("explorer", explorer, Kind::Page, "/developers"),
        ("explorer", explorer, Kind::Page, "/pay/nothing"),
        ("explorer", explorer, Kind::Page, "/nowhere"),
        ("explorer", explorer, Kind::Data, "/api/v1/chain"),
        ("explorer", explorer, Kind::Data, "/health"),
        ("explorer", explorer, Kind::Page, "/api/v1/docs"),
        ("explorer", explorer, Kind::Page, "/graphql"),
    ];
    for (name, surface, kind, path) in reads {
        let answer = surface.get(path).await.unwrap();
        let place = format!("{name} {path} ({})", answer.status);
        check(&place, kind, &answer);
        keeps_addresses(&place, &answer);
    }
    for (path, kind) in
        [("/", Kind::Data), ("/health", Kind::Data), ("/ready", Kind::Data), ("/nowhere", Kind::Data)]
    {
        check(&format!("gateway {path}"), kind, &gateway.get(path).await.unwrap());
    }

    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_chainId", "params": [] });
    type Write<'a> = (&'a str, HttpClient, Kind, &'a str, &'a [(&'a str, &'a str)], Value);
    let writes: [Write<'_>; 6] = [
        ("gateway", gateway, Kind::Rpc, "/", &[KEY], call.clone()),
        ("gateway without a key", gateway, Kind::Rpc, "/", &[], call),
        ("gateway, nonsense", gateway, Kind::Rpc, "/", &[KEY], json!(7)),
        ("GraphQL", app.api(), Kind::Data, "/graphql", &[], json!({ "query": "{ chain { chainId } }" })),
        ("faucet", faucet, Kind::Data, "/claim", &[KEY], json!({ "address": "x" })),
        ("portal", app.api(), Kind::Data, "/api/v1/platform-dev/keys", &[], json!({})),
    ];
    for (surface, client, kind, path, headers, body) in writes {
        let answer = client.post_with(path, headers, &body).await.unwrap();
        check(&format!("{surface} ({})", answer.status), kind, &answer);
    }
}
