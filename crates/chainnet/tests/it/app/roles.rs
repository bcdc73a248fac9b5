//! Roles as processes of their own, on either database.

use serde_json::Value;
use std::net::{Ipv4Addr, TcpListener};
use testkit::{AppProcess, Wallet};

use super::{BOB, api, folder, indexed, transfer, worker};
use crate::rig::{BINARY, chainnet, on_demand};

store::engine_tests! {
    async fn api_and_worker_serve_as_processes_of_their_own(test: TestDb) {
        let (node, data) = (on_demand().await, folder());
        let mut wallet = Wallet::dev(0);
        let hash = transfer(node.client(), &mut wallet).await;
        let worker = worker(data.path(), node.client(), test.url());
        let first = api(data.path(), node.client(), test.url()).await;
        let mut second = api(data.path(), node.client(), test.url()).await;
        for app in [&first, &second] {
            indexed(app.api(), 1).await;
            let answer = app.api().get(&format!("/api/v1/transactions/{hash}")).await.unwrap().json();
            assert_eq!(answer["status"], "success", "{answer}");
        }
        transfer(node.client(), &mut wallet).await;
        indexed(second.api(), 2).await;
        let listed = second.api().get(&format!("/api/v1/accounts/{BOB}/transactions")).await.unwrap().json();
        assert_eq!(listed["transactions"].as_array().map(Vec::len), Some(2), "{listed}");
        assert!(second.stop().await.unwrap().success(), "{}", second.server().output());
        drop(worker);
    }
}

#[tokio::test]
async fn a_role_without_a_node_is_refused_and_so_is_mainnet() {
    let data = folder();
    let data = data.path().to_str().unwrap();
    for role in ["api", "worker", "gateway", "faucet"] {
        let error = chainnet([role, "--data", data]).await.failure();
        assert!(error.contains("PLATFORM_RPC_URL"), "{error}");
    }
    let error = chainnet(["up", "--network", "mainnet", "--data", data]).await.failure();
    assert!(error.contains("mainnet") && error.contains("PLATFORM_RPC_URL"), "{error}");
    assert_eq!(std::fs::read_dir(data).unwrap().count(), 0, "nothing was written");
}

#[tokio::test]
async fn up_with_a_node_starts_no_chain_of_its_own() {
    let (node, data) = (on_demand().await, folder());
    let hash = transfer(node.client(), &mut Wallet::dev(0)).await;
    let path = data.path().to_str().unwrap();
    let ports = [
        "--api-port",
        "0",
        "--gateway-port",
        "0",
        "--faucet-port",
        "0",
        "--explorer-port",
        "0",
        "--metrics-port",
        "0",
    ];
    let url = node.client().url();
    let arguments = ["up", "--data", path, "--rpc-url", &url].into_iter().chain(ports);
    let app = AppProcess::start(BINARY, arguments).await.unwrap();
    indexed(app.api(), 1).await;
    assert_eq!(app.api().get(&format!("/api/v1/transactions/{hash}")).await.unwrap().status, 200);
    assert!(app.node().is_none());
    assert!(!data.path().join("chain").exists(), "no chain was made");
}

#[tokio::test]
async fn a_node_of_another_network_is_refused() {
    let (node, data) = (on_demand().await, folder());
    let path = data.path().to_str().unwrap();
    let url = node.client().url();
    let error = chainnet(["api", "--network", "testnet", "--data", path, "--rpc-url", &url]).await.failure();
    assert!(error.contains("8845") && error.contains("8847"), "{error}");
}

#[tokio::test]
async fn a_taken_api_port_is_named_with_the_variable_that_changes_it() {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let data = folder();
    let path = data.path().to_str().unwrap();
    let error = chainnet(["up", "--data", path, "--rpc-port", "0", "--api-port", &port]).await.failure();
    assert!(error.contains(&format!("port {port}")) && error.contains("API_PORT"), "{error}");
}

#[tokio::test]
async fn a_database_that_does_not_answer_is_named_without_its_password() {
    let closed = testkit::process::free_port().unwrap();
    let (node, data) = (on_demand().await, folder());
    let url = format!("postgres://app:hunter2@127.0.0.1:{closed}/chainnet");
    let path = data.path().to_str().unwrap();
    let arguments = ["worker", "--data", path, "--rpc-url", &node.client().url(), "--database-url", &url];
    let error = chainnet(arguments.iter().chain(&["--metrics-port", "0"])).await.failure();
    assert!(error.contains("DATABASE_URL") && error.contains("app:***@127.0.0.1"), "{error}");
    assert!(!error.contains("hunter2"), "{error}");
}

#[tokio::test]
async fn the_rate_limit_is_the_configured_one() {
    let data = folder();
    let app = AppProcess::up(BINARY, data.path(), ["--on-demand", "--rate-limit-max", "3"]).await.unwrap();
    for _ in 0..3 {
        assert_eq!(app.api().get("/api/v1/network").await.unwrap().status, 200);
    }
    let refused = app.api().get("/api/v1/network").await.unwrap();
    assert_eq!(refused.status, 429);
    assert_eq!(refused.json()["code"], Value::from("rate_limited"));
}
