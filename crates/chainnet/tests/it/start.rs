//! Starting and stopping: every reason not to start is told in one line that says what to do.

use std::{
    fs,
    net::{Ipv4Addr, TcpListener},
    os::unix::fs::PermissionsExt,
    path::Path,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::RpcClient;

use crate::rig::{assert_calm, block, chainnet, node, on_demand};

fn directory() -> TempDir {
    tempfile::tempdir().expect("a directory")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

/// Tries to start a node on a directory and answers why it does not.
async fn refused(data: &Path, more: &[&str]) -> String {
    let arguments = ["node", "--data", text(data), "--rpc-port", "0", "--metrics-port", "0"];
    chainnet(arguments.iter().chain(more)).await.failure()
}

#[tokio::test]
async fn help_lists_every_command() {
    let help = chainnet(["--help"]).await.success();
    for word in ["up", "node", "chain", "genesis", "--network", "CHAINNET_DATA"] {
        assert!(help.contains(word), "{word} is missing from:\n{help}");
    }
    for command in [["node", "ctl"], ["chain", "export"], ["chain", "import"]] {
        chainnet(command.into_iter().chain(["--help"])).await.success();
    }
}

#[tokio::test]
async fn a_port_in_use_is_named_with_the_variable_that_changes_it() {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let data = directory();
    let error = chainnet(["node", "--data", text(data.path()), "--rpc-port", &port, "--metrics-port", "0"])
        .await
        .failure();
    assert!(error.contains(&format!("port {port}")) && error.contains("NODE_RPC_PORT"), "{error}");
}

#[tokio::test]
async fn a_directory_in_use_is_refused() {
    let node = on_demand().await;
    let error = refused(node.data(), &[]).await;
    assert!(
        error.contains("is in use by another chainnet process") && error.contains("CHAINNET_DATA"),
        "{error}"
    );
    let data = text(node.data());
    let error = chainnet(["--data", data, "chain", "export", "--to", "-"]).await.failure();
    assert!(error.contains("is in use by another chainnet process"), "{error}");
    assert_eq!(node.client().block_number().await.unwrap(), 0, "the first one goes on");
}

#[tokio::test]
async fn a_directory_of_somebody_else_is_refused_and_left_alone() {
    let data = directory();
    let photo = data.path().join("chain/holiday.jpg");
    fs::create_dir(data.path().join("chain")).unwrap();
    fs::write(&photo, "a photo").unwrap();
    let error = refused(data.path(), &[]).await;
    assert!(error.contains("holiday.jpg") && error.contains("--data"), "{error}");
    assert_eq!(fs::read_dir(data.path().join("chain")).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(photo).unwrap(), "a photo");
}

#[tokio::test]
async fn a_directory_that_cannot_be_made_is_named() {
    let data = directory();
    fs::write(data.path().join("file"), "").unwrap();
    let error = refused(&data.path().join("file/below"), &[]).await;
    assert!(error.contains("file/below"), "{error}");
}

#[tokio::test]
async fn a_directory_of_another_genesis_is_refused() {
    let mut node = on_demand().await;
    node.client().mine().await.unwrap();
    assert!(node.stop().await.unwrap().success());
    let london = directory();
    let file = london.path().join("genesis.json");
    fs::write(&file, chainnet(["genesis", "--fork", "london"]).await.success()).unwrap();
    let error = refused(node.data(), &["--genesis", text(&file)]).await;
    assert!(error.contains("holds a chain with genesis 0x") && error.contains("--data"), "{error}");
    let error = refused(node.data(), &["--network", "testnet"]).await;
    assert!(error.contains("holds a chain with genesis 0x"), "{error}");
    node.restart().await.unwrap();
    assert_eq!(node.client().block_number().await.unwrap(), 1);
}

#[tokio::test]
async fn networks_that_cannot_be_run_are_refused() {
    let data = directory();
    let unknown = chainnet(["node", "--network", "moonnet", "--data", text(data.path())]).await;
    assert_eq!(unknown.code, Some(2));
    assert!(
        unknown.err.contains("moonnet") && unknown.err.contains("devnet, testnet, mainnet"),
        "{}",
        unknown.err
    );
    let error = refused(data.path(), &["--network", "mainnet"]).await;
    assert!(error.contains("PLATFORM_RPC_URL"), "{error}");
    assert_eq!(fs::read_dir(data.path()).unwrap().count(), 0, "nothing was written");
}

/// The devnet's genesis with one value changed.
async fn genesis_with(pointer: &str, value: Value) -> String {
    let mut genesis: Value = serde_json::from_str(&chainnet(["genesis"]).await.success()).unwrap();
    *genesis.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = value;
    genesis.to_string()
}

#[tokio::test]
async fn unusable_genesis_files_are_refused_with_the_reason() {
    let place = directory();
    let file = place.path().join("genesis.json");
    let data = place.path().join("data");
    let arguments = ["--genesis", text(&file)];
    let start = || refused(&data, &arguments);
    assert!(start().await.contains("genesis.json"), "a missing file");
    for (contents, reason) in [
        ("".to_owned(), "not valid JSON"),
        ("{".to_owned(), "not valid JSON"),
        ("[]".to_owned(), "genesis"),
        ("{}".to_owned(), "missing"),
        (genesis_with("/config/chainId", json!("many")).await, "chainid"),
        (genesis_with("/config/ibft2/blockperiodseconds", json!(0)).await, "blockperiodseconds"),
        (genesis_with("/config/londonBlock", json!(100)).await, "londonblock"),
        (genesis_with("/gasLimit", json!("0xfffffffffffffffffffff")).await, "gaslimit"),
        (genesis_with("/extraData", json!("0x00")).await, "extra data"),
        (genesis_with("/timestamp", json!(-5)).await, "malformed"),
        (genesis_with("/alloc", json!({ "0x12": { "balance": "1" } })).await, "malformed"),
    ] {
        fs::write(&file, &contents).unwrap();
        let error = start().await;
        assert!(
            error.contains("genesis.json") && error.contains(reason),
            "{reason} is missing from: {error}"
        );
    }
    fs::write(&file, b"\xff\xfe\x00").unwrap();
    assert!(start().await.contains("genesis.json"), "no text");
    assert!(!data.join("chain").exists(), "nothing was written");
}

async fn genesis_hash(client: &RpcClient) -> Value {
    block(client, "0x0").await["hash"].clone()
}

#[tokio::test]
async fn the_printed_genesis_is_the_networks_own_and_always_the_same() {
    let printed = chainnet(["genesis", "--network", "devnet"]).await.success();
    assert_eq!(printed, chainnet(["genesis"]).await.success());
    let place = directory();
    let file = place.path().join("genesis.json");
    fs::write(&file, printed).unwrap();
    let own = on_demand().await;
    let from_file = node(["--on-demand", "--genesis", text(&file)]).await;
    assert_eq!(genesis_hash(own.client()).await, genesis_hash(from_file.client()).await);
}

#[tokio::test]
async fn a_node_ends_soon_after_sigterm_and_goes_on_after_a_restart() {
    let mut node = node([]).await;
    let stream = tokio::net::TcpStream::connect(node.client().address()).await.unwrap();
    let (mut socket, _) = tokio_tungstenite::client_async(node.client().ws_url(), stream).await.unwrap();
    let subscribe = json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_subscribe", "params": ["newHeads"] });
    futures_util::SinkExt::send(&mut socket, subscribe.to_string().into()).await.unwrap();
    while node.client().block_number().await.unwrap() < 2 {
        futures_util::StreamExt::next(&mut socket).await.unwrap().unwrap();
    }
    let head = block(node.client(), "latest").await;
    let asked = Instant::now();
    let status = node.stop().await.unwrap();
    assert!(status.success(), "{status}: {}", node.server().output());
    assert!(asked.elapsed() < Duration::from_secs(10), "took {:?}", asked.elapsed());
    assert_calm(&node);
    node.restart().await.unwrap();
    let number = head["number"].as_str().unwrap();
    assert_eq!(block(node.client(), number).await["hash"], head["hash"]);
    let before = node.client().block_number().await.unwrap();
    while node.client().block_number().await.unwrap() == before {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn the_testnet_has_keys_of_its_own_that_only_the_owner_reads() {
    let mut node = node(["--network", "testnet"]).await;
    let chain: String = node.client().call("eth_chainId", json!([])).await.unwrap();
    assert_eq!(chain, "0x228f");
    let before = genesis_hash(node.client()).await;
    let keys: Vec<_> = fs::read_dir(node.data().join("keys")).unwrap().map(|entry| entry.unwrap()).collect();
    assert_eq!(keys.len(), 15, "seven validators, faucet, keeper, admin, five owners");
    for key in &keys {
        assert_eq!(key.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{:?}", key.path());
    }
    let head = node.client().block_number().await.unwrap();
    while node.client().block_number().await.unwrap() == head {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(node.stop().await.unwrap().success());
    node.restart().await.unwrap();
    assert_eq!(genesis_hash(node.client()).await, before);
    let printed = chainnet(["genesis", "--network", "testnet", "--data", text(node.data())]).await.success();
    for key in keys {
        let secret = fs::read_to_string(key.path()).unwrap();
        assert!(!printed.contains(secret.trim().trim_start_matches("0x")), "a private key was printed");
    }
}
