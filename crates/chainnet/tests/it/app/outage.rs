//! A node that goes away and comes back.

use testkit::Wallet;

use super::{BOB, api, folder, indexed, transfer, worker};
use crate::rig::on_demand;

#[tokio::test]
async fn without_a_node_final_data_is_served_and_the_rest_recovers_by_itself() {
    let (mut node, data) = (on_demand().await, folder());
    let mut wallet = Wallet::dev(0);
    let hash = transfer(node.client(), &mut wallet).await;
    let database = format!("sqlite:{}/chainnet.db", data.path().display());
    let _worker = worker(data.path(), node.client(), &database);
    let app = api(data.path(), node.client(), &database).await;
    indexed(app.api(), 1).await;
    let (block, transaction) = ("/api/v1/blocks/1", format!("/api/v1/transactions/{hash}"));
    for path in [block, &transaction] {
        assert_eq!(app.api().get(path).await.unwrap().status, 200, "{path}");
    }
    // Nobody has asked for it before, so it takes a node.
    let account = format!("/api/v1/accounts/{BOB}");

    node.kill9().await.unwrap();
    let gone = app.api().wait_for(&account, |answer| answer.status == 503).await.unwrap();
    assert_eq!(gone.json()["code"], "chain_unavailable");
    assert!(gone.header("retry-after").is_some(), "{gone:?}");
    for path in [block, &transaction, "/api/v1/network", "/api/v1/fees/burns", "/health"] {
        assert_eq!(app.api().get(path).await.unwrap().status, 200, "{path}");
    }
    app.api().wait_for("/ready", |answer| answer.status == 503).await.unwrap();

    node.restart_in_place().await.unwrap();
    app.api().wait_for(&account, |answer| answer.status == 200).await.unwrap();
    transfer(node.client(), &mut wallet).await;
    indexed(app.api(), 2).await;
}
