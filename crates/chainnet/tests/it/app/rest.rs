//! The API of a fresh `chainnet up`.

use domain::devnet::{self, DevRole};
use serde_json::json;
use testkit::Wallet;

use super::{BOB, folder, indexed, transfer, up};

#[tokio::test]
async fn every_path_of_the_specification_answers_on_a_fresh_start() {
    let data = folder();
    let mut app = up(data.path()).await;
    let (api, node) = (app.api(), app.node().expect("a chain inside"));
    let hash = transfer(&node, &mut Wallet::dev(0)).await;
    indexed(api, 1).await;
    api.wait_for("/api/v1/validators", |answer| answer.status == 200).await.unwrap();
    let key = devnet::role_key(DevRole::Validator(0));
    let validator = Wallet::from_key(key).unwrap().address();
    for path in [
        "/health",
        "/api/v1/chain",
        "/api/v1/blocks/latest",
        "/api/v1/blocks/0",
        &format!("/api/v1/transactions/{hash}"),
        &format!("/api/v1/accounts/{BOB}"),
        "/api/v1/validators",
        "/api/v1/validators/ranking",
        "/api/v1/validators/program",
        "/api/v1/validators/expansion",
        &format!("/api/v1/validators/{validator}"),
        "/api/v1/network",
        "/api/v1/network/contracts",
        "/api/v1/network/all",
        "/api/v1/fees/burns",
        "/api/v1/openapi.json",
        "/api/v1/graphql-schema",
        "/api/v1/blocks",
        &format!("/api/v1/accounts/{BOB}/transactions"),
        "/api/v1/search?q=1",
        "/api/v1/docs",
    ] {
        let answer = api.get(path).await.unwrap();
        assert_eq!(answer.status, 200, "{path}: {}", String::from_utf8_lossy(&answer.body));
    }
    let query = json!({ "query": "{ chain { blockNumber chainId } validators { address moniker } }" });
    let answer = api.post("/graphql", &query).await.unwrap().json();
    assert_eq!(answer["data"]["chain"]["chainId"], 8845, "{answer}");
    assert_eq!(answer["data"]["validators"].as_array().map(Vec::len), Some(5), "{answer}");
    assert_eq!(api.get("/api/v1/chain").await.unwrap().json()["blockNumber"], 1);
    let status = app.stop().await.unwrap();
    assert!(status.success(), "{}", app.server().output());
    assert!(!app.server().output().contains("panicked"), "{}", app.server().output());
}

#[tokio::test]
async fn a_restart_goes_on_with_the_index_it_has() {
    let data = folder();
    let mut app = up(data.path()).await;
    let mut wallet = Wallet::dev(0);
    for _ in 0..3 {
        transfer(&app.node().unwrap(), &mut wallet).await;
    }
    indexed(app.api(), 3).await;
    app.kill9().await.unwrap();
    app.restart().await.unwrap();
    transfer(&app.node().unwrap(), &mut wallet).await;
    indexed(app.api(), 4).await;
    let listed = app.api().get(&format!("/api/v1/accounts/{BOB}/transactions")).await.unwrap().json();
    let numbers: Vec<_> =
        listed["transactions"].as_array().unwrap().iter().map(|t| &t["blockNumber"]).collect();
    assert_eq!(numbers, [4, 3, 2, 1]);
}
