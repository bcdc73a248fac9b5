//! The roles as processes of their own, on nodes that behave like Besu: what they ask is what Besu answers.

use std::time::Duration;

use alloy_primitives::{Address, U256, hex};
use serde_json::{Value, json};
use testkit::{
    Besu, BesuSettings, HttpAnswer, HttpClient, Merchant, Mining, NodeProcess, Receiver, RpcClient,
    ServerProcess, Wallet, process::Ready,
};
use tokio::process::Command;

use super::{BOB, PATIENCE, folder, indexed, transfer};
use crate::rig::{BINARY, chainnet, on_demand};

const INTERNAL: &str = "cnk_internal-dev_devnet-placeholder-replace-before-production";
const CAROL: Address = Address::repeat_byte(0xca);
const AMOUNT_IDR: u64 = 10_000;

/// All roles, each in its process, on one Besu and one database.
struct Roles {
    node: NodeProcess,
    besu: Besu,
    api: HttpClient,
    gateway: HttpClient,
    faucet: HttpClient,
    explorer: HttpClient,
    data: tempfile::TempDir,
    _processes: Vec<ServerProcess>,
}

impl Roles {
    async fn start(settings: BesuSettings) -> Self {
        let (node, data, price) = (on_demand().await, folder(), settings.min_gas_price);
        let besu = Besu::start(node.client().address(), settings).await.unwrap();
        let mut processes = Vec::new();
        let mut clients = Vec::new();
        for (role, port, marker) in [
            // The worker listens nowhere; it says which node it reads.
            ("worker", None, "Node"),
            ("api", Some("--api-port"), "REST"),
            ("gateway", Some("--gateway-port"), "Gateway"),
            ("faucet", Some("--faucet-port"), "Faucet"),
            ("explorer", Some("--explorer-port"), "Explorer"),
        ] {
            let mut command = Command::new(BINARY);
            command.arg(role).arg("--data").arg(data.path()).args(["--rpc-url", &besu.url()]);
            command.args(["--metrics-port", "0"]).env("RATE_LIMIT_MAX", "100000");
            command.env("MIN_GAS_PRICE", price.to_string());
            command.args(port.into_iter().flat_map(|port| [port, "0"]));
            let process = ServerProcess::start(command, Ready::Announced(marker)).await;
            let process = process.unwrap_or_else(|error| panic!("{role}: {error}"));
            clients.push(HttpClient::new(process.address()));
            processes.push(process);
        }
        let [_, api, gateway, faucet, explorer] = clients[..] else { unreachable!() };
        Self { node, besu, api, gateway, faucet, explorer, data, _processes: processes }
    }

    /// Asks the gateway.
    async fn ask(&self, method: &str, params: Value) -> HttpAnswer {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.gateway.post_with("/", &[("x-api-key", INTERNAL)], &body).await.unwrap()
    }

    async fn result(&self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params).await.json();
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }
}

/// A transfer in a block, seen by everybody.
async fn read_everywhere(roles: &Roles) {
    let hash = transfer(roles.node.client(), &mut Wallet::dev(0)).await;
    indexed(roles.api, 1).await;
    let found = roles.api.get(&format!("/api/v1/transactions/{hash}")).await.unwrap().json();
    assert_eq!((&found["status"], &found["blockNumber"]), (&json!("success"), &json!(1)), "{found}");
    for path in [
        "/api/v1/chain",
        "/api/v1/blocks/latest?include=transactions",
        "/api/v1/blocks/0",
        "/api/v1/validators",
        "/api/v1/validators/ranking",
        "/api/v1/validators/expansion",
        "/api/v1/fees/burns",
        &format!("/api/v1/accounts/{BOB}"),
        &format!("/api/v1/accounts/{BOB}/transactions"),
    ] {
        let answer = roles.api.get(path).await.unwrap();
        assert_eq!(answer.status, 200, "{path}: {:?}", answer.json());
    }
    let query = json!({ "query": "{ chainStats { blockNumber validatorCount totalStaked } latestBlock { hash transactionCount } }" });
    let told = roles.api.post("/graphql", &query).await.unwrap().json();
    assert_eq!(told["data"]["latestBlock"]["transactionCount"], 1, "{told}");
    let paths =
        ["/", "/blocks", "/block/1", "/validators", "/network", "/burns", "/faucet"].map(str::to_owned);
    for path in paths.into_iter().chain([format!("/tx/{hash}"), format!("/address/{BOB}")]) {
        let page = roles.explorer.wait_for(&path, |answer| answer.status == 200).await.unwrap();
        assert!(page.body.starts_with(b"<!doctype html>"), "{path}");
    }
}

/// What Besu does not take is made into what it takes, and what it says is passed on.
async fn ask_the_gateway(roles: &Roles) {
    roles.gateway.wait_for("/ready", |answer| answer.status == 200).await.unwrap();
    while roles.result("eth_blockNumber", json!([])).await == "0x0" {}
    for tag in ["latest", "safe", "finalized", "pending", "0x1"] {
        let block = roles.result("eth_getBlockByNumber", json!([tag, false])).await;
        assert_eq!(block["number"], "0x1", "{tag}");
        assert_eq!(roles.result("eth_getBalance", json!([BOB, tag])).await, "0x1", "{tag}");
    }
    assert_eq!(roles.result("eth_getBalance", json!([BOB])).await, "0x1");
    assert_eq!(roles.result("eth_call", json!([{ "to": BOB }])).await, "0x");
    let logs = json!([{ "fromBlock": "earliest", "toBlock": "finalized" }]);
    assert_eq!(roles.result("eth_getLogs", logs).await, json!([]));
    roles.result("eth_feeHistory", json!(["0x2", "finalized", [10, 90]])).await;
    assert_eq!(roles.result("eth_maxPriorityFeePerGas", json!([])).await, "0x0");
    let blocked = roles.ask("debug_traceCall", json!([])).await.json();
    assert_eq!(blocked["error"]["code"], -32601);
    let mut wallet = Wallet::dev(3);
    let signed = wallet.sign_dynamic_fee(testkit::Draft::transfer(BOB, U256::from(1)));
    let sent = roles.result("eth_sendRawTransaction", json!([hex::encode_prefixed(&signed.raw)])).await;
    assert_eq!(sent, json!(signed.hash));
    roles.node.client().mine().await.unwrap();
    while roles.result("eth_getTransactionReceipt", json!([signed.hash])).await.is_null() {}
}

async fn claim_coin(roles: &Roles) {
    let data = roles.data.path().to_str().unwrap();
    chainnet(["allowlist", "add", &CAROL.to_string(), "--team", "shop", "--data", data]).await.success();
    let body = json!({ "address": CAROL, "website": "" });
    let paid = roles.faucet.post_with("/claim", &[("x-api-key", INTERNAL)], &body).await.unwrap();
    assert_eq!(paid.status, 200, "{:?}", paid.json());
    let path = format!("/claim/{}", paid.json()["txHash"].as_str().unwrap());
    loop {
        roles.node.client().mine().await.unwrap();
        let claim = roles.faucet.get_with(&path, &[("x-api-key", INTERNAL)]).await.unwrap().json();
        if claim["status"] != "pending" {
            assert_eq!(claim["status"], "confirmed", "{claim}");
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn sell_something(roles: &Roles) {
    let receiver = Receiver::start().await.unwrap();
    let node = RpcClient::new(roles.node.client().address());
    let mut merchant = Merchant::sign_in(roles.api, node, Wallet::dev(1)).await.unwrap();
    let key = merchant.buy_key(Mining::OnDemand).await.unwrap();
    merchant.save_webhook(&receiver.url(), Mining::OnDemand).await.unwrap();
    let invoice = merchant.create_invoice("customer", AMOUNT_IDR).await.unwrap();
    let payment = merchant.quote(&invoice).await.unwrap().sign(&mut Wallet::dev(2));
    roles.node.client().send_raw(&payment).await.unwrap();
    roles.node.client().mine().await.unwrap();
    tokio::time::timeout(PATIENCE, receiver.wait_for(2)).await.expect("payment and invoice are told of");
    let path = "/api/v1/platform-dev/v1/dashboard";
    let dashboard = roles.api.get_with(path, &[("x-platform-dev-key", &key)]).await.unwrap().json();
    assert_eq!(dashboard["revenue"]["idr"], AMOUNT_IDR, "{dashboard}");
}

/// An operator's votes, by the methods that Besu has for them.
async fn vote(roles: &Roles) {
    let (data, url) = (roles.data.path().to_str().unwrap(), roles.besu.url());
    let newcomer = CAROL.to_string();
    let run = async |arguments: &[&str]| {
        let places = ["--data", data, "--rpc-url", &url];
        chainnet(["validator"].iter().chain(arguments).chain(&places).copied()).await
    };
    let votes = async || roles.node.client().call::<Value>("ibft_getPendingVotes", json!([])).await.unwrap();
    let said = run(&["vote", &newcomer, "--add"]).await.success();
    assert!(said.contains(&format!("will vote to add {newcomer}")), "{said}");
    assert_eq!(votes().await, json!({ newcomer.to_lowercase(): true }));
    let said = run(&["discard", &newcomer]).await.success();
    assert!(said.contains("votes no longer"), "{said}");
    assert_eq!(votes().await, json!({}));
    let said = run(&["vote", &newcomer, "--drop"]).await.failure();
    assert!(said.contains("is not in the validator set"), "{said}");
}

async fn roles_on(settings: BesuSettings) {
    let roles = Roles::start(settings).await;
    read_everywhere(&roles).await;
    ask_the_gateway(&roles).await;
    claim_coin(&roles).await;
    sell_something(&roles).await;
    vote(&roles).await;
    // Nothing was asked that Besu refuses, but for what a caller asked for by name, and whether it is our own node.
    let expected = ["eth_maxPriorityFeePerGas", "chainnet_validators"];
    let faults = roles.besu.faults();
    let ours: Vec<_> =
        faults.iter().filter(|fault| !expected.iter().any(|method| fault.starts_with(method))).collect();
    assert!(ours.is_empty(), "{ours:?}");
    assert_eq!(roles.besu.turned_away(), 0);
}

#[tokio::test]
async fn where_gas_has_a_price_the_faucet_pays_it_and_the_gateway_asks_for_it() {
    let roles = Roles::start(BesuSettings { min_gas_price: 1_000_000_000, ..BesuSettings::v24_5_4() }).await;
    claim_coin(&roles).await;
    roles.gateway.wait_for("/ready", |answer| answer.status == 200).await.unwrap();
    for method in ["eth_gasPrice", "eth_maxPriorityFeePerGas"] {
        assert_eq!(roles.result(method, json!([])).await, "0x3b9aca00", "{method}");
    }
    let free = Wallet::dev(3).sign_dynamic_fee(testkit::Draft::transfer(BOB, U256::from(1)));
    let refused = roles.ask("eth_sendRawTransaction", json!([hex::encode_prefixed(&free.raw)])).await.json();
    assert_eq!(refused["error"]["code"], -32009, "{refused}");
    assert_eq!(refused["error"]["data"]["reason"], "gas_price_too_low", "{refused}");
    // Nothing that Besu would refuse has reached it.
    let faults = roles.besu.faults();
    assert!(!faults.iter().any(|fault| fault.starts_with("eth_sendRawTransaction")), "{faults:?}");
}

#[tokio::test]
async fn all_roles_work_on_besu_24_5_4() {
    roles_on(BesuSettings::v24_5_4()).await;
}

#[tokio::test]
async fn all_roles_work_on_besu_24_12_2() {
    roles_on(BesuSettings::v24_12_2()).await;
}
