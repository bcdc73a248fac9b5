//! The gateway and the faucet as parts of the product and as processes of their own.

use std::time::Duration;

use alloy_primitives::{Address, U256};
use serde_json::{Value, json};
use testkit::{HttpAnswer, HttpClient, RpcClient, ServerProcess, process::Ready};
use tokio::process::Command;

use super::{folder, role, up};
use crate::rig::{BINARY, chainnet, on_demand};

const INTERNAL: &str = "cnk_internal-dev_devnet-placeholder-replace-before-production";
const PARTNER: &str = "cnk_partner-qa_devnet-placeholder-replace-before-production";
const CAROL: Address = Address::repeat_byte(0xca);

/// A call of a method, with a key or without one.
async fn call(gateway: HttpClient, key: Option<&str>, method: &str) -> HttpAnswer {
    let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": [] });
    let key = key.map(|key| ("x-api-key", key));
    gateway.post_with("/", key.as_slice(), &body).await.unwrap()
}

async fn claim(faucet: HttpClient, key: &str, wallet: Address) -> HttpAnswer {
    let body = json!({ "address": wallet, "website": "" });
    faucet.post_with("/claim", &[("x-api-key", key)], &body).await.unwrap()
}

async fn balance(node: &RpcClient, wallet: Address) -> U256 {
    node.call("eth_getBalance", json!([wallet, "latest"])).await.unwrap()
}

/// The process that a role runs in, on a free port; what stands behind `marker` is its address.
async fn start(arguments: Vec<String>, port: &str, marker: &'static str) -> (ServerProcess, HttpClient) {
    let mut command = Command::new(BINARY);
    command.args(arguments).args([port, "0"]);
    let process = ServerProcess::start(command, Ready::Announced(marker)).await.unwrap();
    let client = HttpClient::new(process.address());
    (process, client)
}

#[tokio::test]
async fn up_has_a_gateway_that_asks_for_a_key_and_forgets_one_that_is_taken_back() {
    let data = folder();
    let app = up(data.path()).await;
    let gateway = HttpClient::new(app.server().announced("Gateway").unwrap());
    let unknown = call(gateway, None, "eth_chainId").await;
    assert_eq!((unknown.status.as_u16(), &unknown.json()["error"]["code"]), (401, &json!(-40100)));
    let known = call(gateway, Some(PARTNER), "eth_chainId").await.json();
    assert_eq!(known, json!({ "jsonrpc": "2.0", "id": 7, "result": "0x228d" }));
    let blocked = call(gateway, Some(PARTNER), "evm_mine").await.json();
    assert_eq!(blocked["error"]["code"], -32601, "{blocked}");

    let path = data.path().to_str().unwrap();
    chainnet(["keys", "revoke", "partner-qa", "--data", path]).await.success();
    let refused = loop {
        let answer = call(gateway, Some(PARTNER), "eth_chainId").await;
        if answer.status != 200 {
            break answer;
        }
    };
    assert_eq!(refused.json()["error"]["data"]["reason"], "api_key_revoked");
    assert_eq!(call(gateway, Some(INTERNAL), "eth_chainId").await.status, 200);
}

#[tokio::test]
async fn up_has_a_faucet_that_pays_whom_the_operator_allows() {
    let data = folder();
    let app = up(data.path()).await;
    let (node, path) = (app.node().unwrap(), data.path().to_str().unwrap());
    let faucet = HttpClient::new(app.server().announced("Faucet").unwrap());
    let refused = claim(faucet, INTERNAL, CAROL).await;
    assert_eq!(refused.json()["code"], "wallet_not_allowlisted");
    chainnet(["allowlist", "add", &CAROL.to_string(), "--team", "shop", "--data", path]).await.success();
    let paid = claim(faucet, INTERNAL, CAROL).await;
    assert_eq!((paid.status.as_u16(), &paid.json()["amount"]), (200, &json!("500")), "{paid:?}");
    node.mine().await.unwrap();
    assert_eq!(balance(&node, CAROL).await, domain::Wei::from_coin(500).0);
}

store::engine_tests! {
    async fn gateway_and_faucet_serve_as_processes_of_their_own(test: TestDb) {
        let (node, data) = (on_demand().await, folder());
        node.client().mine().await.unwrap();
        let arguments = |name| role(name, data.path(), node.client(), test.url());
        let (mut first, gateway) = start(arguments("gateway"), "--gateway-port", "Gateway").await;
        let (_second, other) = start(arguments("gateway"), "--gateway-port", "Gateway").await;
        let (_faucet, faucet) = start(arguments("faucet"), "--faucet-port", "Faucet").await;
        for gateway in [gateway, other] {
            gateway.wait_for("/ready", |answer| answer.status == 200).await.unwrap();
            let head = call(gateway, Some(INTERNAL), "eth_blockNumber").await.json();
            assert_eq!(head["result"], "0x1", "{head}");
        }
        let path = data.path().to_str().unwrap();
        let wallet = CAROL.to_string();
        let partner = ["partner", "add", "--team", "shop", "--wallet", &wallet, "--permissions", "rpc,faucet"];
        let places = ["--data", path, "--database-url", test.url()];
        let output = chainnet(partner.into_iter().chain(places)).await.success();
        let key = output.split_whitespace().find(|word| word.starts_with("cnk_")).unwrap().to_owned();
        let paid = loop {
            // Until the faucet has heard of the key; it takes 20 tries in a minute.
            let answer = claim(faucet, &key, CAROL).await;
            if answer.status != 401 {
                break answer.json();
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        };
        assert_eq!(paid["status"], Value::from("pending"), "{paid}");
        let mut balance_then = U256::ZERO;
        while balance_then.is_zero() {
            node.client().mine().await.unwrap();
            balance_then = balance(node.client(), CAROL).await;
        }
        assert_eq!(balance_then, domain::Wei::from_coin(500).0);
        assert!(first.stop().await.unwrap().success(), "{}", first.output());
    }
}

#[tokio::test]
async fn mainnet_has_no_faucet_and_another_network_needs_a_key_to_pay_with() {
    let data = folder();
    let path = data.path().to_str().unwrap();
    for (network, word) in [("mainnet", "mainnet has no faucet"), ("testnet", "FAUCET_KEY")] {
        // A node that does not answer is no reason not to start.
        let arguments = ["faucet", "--network", network, "--data", path, "--rpc-url", "http://127.0.0.1:1"];
        let error = chainnet(arguments).await.failure();
        assert!(error.contains(word), "{error}");
    }
}

/// A wallet sends no header: on this machine it is shown to the node's own port, which needs no key.
#[tokio::test]
async fn a_wallet_on_this_machine_is_given_an_address_that_works_without_a_key() {
    let data = folder();
    let app = testkit::AppProcess::up(BINARY, data.path(), ["--on-demand"]).await.unwrap();
    let network = app.api().get("/api/v1/network").await.unwrap().json();
    let url = network["wallet"]["rpcUrls"][0].as_str().unwrap();
    let wallet = HttpClient::new(url.trim_start_matches("http://").trim_end_matches('/').parse().unwrap());
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_chainId", "params": [] });
    let answer = wallet.post("/", &request).await.unwrap();
    assert_eq!(
        (answer.status.as_u16(), &answer.json()["result"]),
        (200, &json!("0x228d")),
        "{url}: {answer:?}"
    );
}

/// Pages of any origin may use a public network's gateway, whatever may read the API.
#[tokio::test]
async fn any_page_may_use_the_gateway_of_a_public_network() {
    let data = folder();
    let arguments = ["--network", "testnet", "--cors-origins", "https://pages.example", "--on-demand"];
    let app = testkit::AppProcess::up(BINARY, data.path(), arguments).await.unwrap();
    let gateway = HttpClient::new(app.server().announced("Gateway").unwrap());
    let origin = ("origin", "https://anybody.example");
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_chainId", "params": [] });
    let answer = gateway.post_with("/", &[origin], &request).await.unwrap();
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"), "{answer:?}");
    let refused = app.api().get_with("/api/v1/network", &[origin]).await.unwrap();
    assert_eq!(refused.header("access-control-allow-origin"), None, "the API has its own setting");
}
