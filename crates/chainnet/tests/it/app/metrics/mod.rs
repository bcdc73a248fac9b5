//! `/metrics` of every role: a text that parses, families and labels that are fixed, and nothing in it that is a secret.

mod boards;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use testkit::{AppProcess, HttpAnswer, HttpClient, Mining, RpcClient, ServerProcess, Wallet, process::Ready};
use tokio::process::Command;

use self::text::Exposition;
use super::{BOB, folder, indexed, role, up};
use crate::rig::{BINARY, chainnet, on_demand};

/// A process in a role, known by its port for operators.
async fn start(arguments: Vec<String>) -> (ServerProcess, HttpClient) {
    let mut command = Command::new(BINARY);
    command.args(arguments);
    let process = ServerProcess::start(command, Ready::Announced("Metrics")).await.unwrap();
    let client = HttpClient::new(process.address());
    (process, client)
}

async fn scrape(operators: HttpClient) -> Exposition {
    let answer = operators.get("/metrics").await.unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.header("content-type"),
        Some("application/openmetrics-text; version=1.0.0; charset=utf-8")
    );
    Exposition::parse(std::str::from_utf8(&answer.body).unwrap())
}

/// Something that the gateway refuses, so that it has refusals to tell of.
async fn call_unknown_method(app: &AppProcess) {
    let gateway = HttpClient::new(app.server().announced("Gateway").unwrap());
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_hunter2", "params": [BOB] });
    let answer = gateway.post_with("/", &[("x-api-key", access::PLACEHOLDERS[0].key)], &call).await.unwrap();
    assert_eq!(answer.json()["error"]["code"], -32601, "{answer:?}");
}

/// Scrapes until the figures are as wanted.
async fn scrape_until(operators: HttpClient, wanted: impl Fn(&Exposition) -> bool) -> Exposition {
    let read = |answer: &HttpAnswer| Exposition::parse(std::str::from_utf8(&answer.body).unwrap());
    let answer = operators.wait_for("/metrics", |answer| wanted(&read(answer))).await.unwrap();
    read(&answer)
}

/// Every family of `up` with the names of its labels: what dashboards and alerts rely on.
#[tokio::test]
async fn up_serves_every_family_and_its_labels_are_these() {
    let data = folder();
    let app = up(data.path()).await;
    let operators = HttpClient::new(app.server().announced("Metrics").unwrap());
    let node = app.node().unwrap();
    super::transfer(&node, &mut Wallet::dev(0)).await;
    indexed(app.api(), 1).await;
    app.api().get("/api/v1/blocks/1").await.unwrap();
    app.api().get("/api/v1/no/such/thing").await.unwrap();
    let explorer = HttpClient::new(app.server().announced("Explorer").unwrap());
    explorer.get("/").await.unwrap();
    call_unknown_method(&app).await;
    // The gateway and the faucet look at the chain in their own time.
    let has_looked = |metrics: &Exposition| {
        metrics.value("gateway_head", &[]) == 1.0 && metrics.value("faucet_balance_coin", &[]) > 1_000.0
    };
    let metrics = scrape_until(operators, has_looked).await;
    let families: BTreeMap<_, _> =
        metrics.families.iter().map(|(name, family)| (name.clone(), family.summary())).collect();
    insta::assert_json_snapshot!(families);
    assert_eq!(metrics.value("chain_head", &[]), 1.0);
    assert_eq!(metrics.value("chain_reachable", &[]), 1.0);
    assert_eq!(metrics.value("index_block", &[]), 1.0);
    assert_eq!(metrics.value("index_halted", &[]), 0.0);
    assert_eq!(metrics.value("devchain_blocks_total", &[]), 1.0);
    assert_eq!(metrics.value("keyring_keys", &[]), 2.0);
    assert!(metrics.value("api_requests_total", &[("route", "blocks"), ("status", "2xx")]) >= 1.0);
    assert!(metrics.value("api_requests_total", &[("route", "other"), ("status", "4xx")]) >= 1.0);
    let pages = |class| metrics.value("explorer_requests_total", &[("route", "home"), ("status", class)]);
    assert!(pages("2xx") + pages("4xx") >= 1.0);
}

#[tokio::test]
async fn every_role_has_its_families_and_says_whether_it_is_ready() {
    let (node, data) = (on_demand().await, folder());
    let database = format!("sqlite:{}/chainnet.db", data.path().display());
    super::transfer(node.client(), &mut Wallet::dev(0)).await;
    for (name, port, families) in [
        (
            "worker",
            None,
            &["index_block", "webhooks_attempts", "portal_reconcile_differences", "portal_credited_block"][..],
        ),
        ("api", Some("--api-port"), &["api_requests", "api_request_seconds"][..]),
        ("gateway", Some("--gateway-port"), &["gateway_requests", "gateway_head", "keyring_keys"][..]),
        (
            "faucet",
            Some("--faucet-port"),
            &["faucet_claims", "faucet_balance_coin", "faucet_http_requests"][..],
        ),
        (
            "explorer",
            Some("--explorer-port"),
            &["explorer_requests", "explorer_watchers", "api_requests"][..],
        ),
    ] {
        let mut arguments = role(name, data.path(), node.client(), &database);
        arguments.extend(port.into_iter().flat_map(|port| [port.to_owned(), "0".to_owned()]));
        let (_process, operators) = start(arguments).await;
        let metrics = scrape(operators).await;
        let common = [
            "chain_head",
            "chain_head_age_seconds",
            "chain_node_usable",
            "database_connections",
            "database_errors",
            "process_start_time_seconds",
            "chainnet_build_info",
        ];
        for family in common.iter().chain(families) {
            assert!(metrics.families.contains_key(*family), "{name} has no {family}");
        }
        let labels = [("network", "devnet"), ("role", name), ("version", env!("CARGO_PKG_VERSION"))];
        assert_eq!(metrics.value("chainnet_build_info", &labels), 1.0);
        let health = operators.get("/health").await.unwrap().json();
        assert_eq!((&health["status"], &health["role"]), (&json!("ok"), &json!(name)));
        // The block was made a moment ago, on a chain that makes them when asked.
        let ready = operators.wait_for("/ready", |answer| answer.status == 200).await.unwrap().json();
        assert_eq!(ready["checks"]["database"]["ok"], true, "{ready}");
        assert_eq!(operators.get("/").await.unwrap().status, 404);
        assert_eq!(operators.post("/metrics", &json!({})).await.unwrap().status, 405);
    }
}

#[tokio::test]
async fn a_node_alone_serves_its_chain() {
    let node = on_demand().await;
    let operators = HttpClient::new(announced(node.server(), "Metrics").await);
    super::transfer(node.client(), &mut Wallet::dev(0)).await;
    let metrics = scrape(operators).await;
    assert_eq!(metrics.value("devchain_blocks_total", &[]), 1.0);
    assert_eq!(metrics.value("devchain_transactions_total", &[]), 1.0);
    assert_eq!(metrics.value("devchain_validators_running", &[]), 7.0);
    assert_eq!(metrics.value("chain_head", &[]), 1.0);
    assert!(metrics.families.contains_key("devchain_build_seconds"), "no time to build");
    assert!(!metrics.families.contains_key("database_connections"), "a node has no database");
    assert_eq!(operators.get("/ready").await.unwrap().json()["checks"]["chain"]["ok"], true);
}

/// Waits for a line of the banner that comes after the one that says that the process is up.
async fn announced(server: &ServerProcess, marker: &str) -> std::net::SocketAddr {
    loop {
        if let Some(address) = server.announced(marker) {
            return address;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_taken_port_is_named_with_its_variable() {
    let taken = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let data = folder();
    let arguments =
        ["node", "--data", data.path().to_str().unwrap(), "--rpc-port", "0", "--metrics-port", &port];
    let error = chainnet(arguments).await.failure();
    assert!(error.contains(&format!("port {port}")) && error.contains("METRICS_PORT"), "{error}");
}

/// A day in the life of `up`, and then nothing of anybody's in the metrics.
#[tokio::test]
async fn nothing_of_anybody_becomes_a_label() {
    let data = folder();
    let app = up(data.path()).await;
    let operators = HttpClient::new(app.server().announced("Metrics").unwrap());
    let node = app.node().unwrap();
    let before = scrape(operators).await.series();
    let own = RpcClient::new(node.address());
    let mut merchant = testkit::Merchant::sign_in(app.api(), own, Wallet::dev(1)).await.unwrap();
    let key = merchant.buy_key(Mining::OnDemand).await.unwrap();
    let invoice = merchant.create_invoice("somebody", 10_000).await.unwrap();
    let place = format!("/api/v1/platform-dev/pay/{}", invoice.token);
    app.api().get(&place).await.unwrap();
    for path in ["/api/v1/cnk_secret", "/%2e%2e/x", &format!("/api/v1/accounts/{BOB}"), "/api/v1/blocks/0x1"]
    {
        app.api().get(path).await.unwrap();
    }
    call_unknown_method(&app).await;

    let answer = operators.get("/metrics").await.unwrap();
    let text = String::from_utf8_lossy(&answer.body).to_lowercase();
    let wallet = Wallet::dev(1).address().to_string().to_lowercase();
    for secret in
        [&key, &invoice.token, &wallet, &BOB.to_string(), "cnk_", "hunter2", "0x", "postgres:", "sqlite:"]
    {
        assert!(!text.contains(&secret.to_lowercase()), "{secret} is in the metrics");
    }
    // Whatever was asked, only series of known answers are added: codes of refusals and methods of the table.
    let after = Exposition::parse(std::str::from_utf8(&answer.body).unwrap()).series();
    let added: BTreeSet<_> = after.difference(&before).collect();
    let expected = ["gateway_refusals_total", "gateway_node_", "gateway_socket_endings_total"];
    assert!(added.iter().all(|series| expected.iter().any(|name| series.starts_with(name))), "{added:?}");
}
