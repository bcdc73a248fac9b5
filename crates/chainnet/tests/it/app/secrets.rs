//! No secret of a whole run is in the logs of any role, text or JSON, with everything of ours that can be said being said.

use std::path::{Path, PathBuf};

use alloy_primitives::{Address, hex};
use domain::devnet;
use rand::{Rng, SeedableRng, distr::Alphanumeric, rngs::StdRng};
use serde_json::{Value, json};
use store::testing::TestDb;
use testkit::{
    HttpClient, Merchant, Mining, NodeProcess, Receiver, RpcClient, ServerProcess, Wallet,
    process::{Ready, free_port},
};
use tokio::process::Command;

use super::{PATIENCE, folder, indexed, transfer};
use crate::rig::{BINARY, chainnet, on_demand};

/// Everything that our crates have to say.
const FILTER: &str = "info,chainnet=debug,chainnet_access=debug,chainnet_accounts=debug,chainnet_api=debug,\
    chainnet_chain=debug,chainnet_devchain=debug,chainnet_faucet=debug,chainnet_gateway=debug,chainnet_indexer=debug,\
    chainnet_keeper=debug,chainnet_merchant=debug,chainnet_store=debug,chainnet_validators=debug,chainnet_web=debug,\
    chainnet_webhooks=debug";
const CAROL: Address = Address::repeat_byte(0xca);

/// What nobody may read in a log: what it is, and how it is written.
#[derive(Default)]
struct Secrets(Vec<(&'static str, String)>);

impl Secrets {
    fn add(&mut self, what: &'static str, secret: impl Into<String>) -> String {
        let secret = secret.into();
        self.0.push((what, secret.clone()));
        secret
    }

    /// Fails if a secret, or the digits of a hexadecimal one, stands in a log.
    fn check(&self, place: &Path, log: &str) {
        let lower = log.to_lowercase();
        for (what, secret) in &self.0 {
            let digits = secret.strip_prefix("0x").unwrap_or(secret).to_lowercase();
            let line = lower.lines().find(|line| line.contains(&digits));
            assert!(line.is_none(), "{what} is in {}: {}", place.display(), line.unwrap_or_default());
        }
    }
}

/// The roles' environment, full of secrets, and where their logs go.
struct Stage {
    node: NodeProcess,
    data: tempfile::TempDir,
    format: &'static str,
    variables: Vec<(&'static str, String)>,
    logs: Vec<PathBuf>,
    processes: Vec<ServerProcess>,
}

impl Stage {
    async fn new(format: &'static str, database: &str, secrets: &mut Secrets) -> Self {
        let (node, data) = (on_demand().await, folder());
        let mut random = StdRng::seed_from_u64(7);
        let mut word =
            || -> String { (&mut random).sample_iter(Alphanumeric).take(20).map(char::from).collect() };
        let closed = free_port().unwrap();
        let database_password = secrets.add("the database's password", word());
        let redis = secrets.add("the password of Redis", word());
        let smtp = secrets.add("the password of the mail server", word());
        let rpc = secrets.add("the password of the node", word());
        let key = |byte: u8| hex::encode_prefixed([byte; 32]);
        let database =
            database.replace("postgres://postgres@", &format!("postgres://postgres:{database_password}@"));
        let variables = vec![
            ("DATABASE_URL", database),
            // Nobody is there: trying again and again is when a careless log tells.
            ("REDIS_URL", format!("redis://user:{redis}@127.0.0.1:{closed}/0")),
            ("SMTP_URL", format!("smtp://user:{smtp}@127.0.0.1:{closed}")),
            ("SMTP_FROM", "chainnet <noreply@example.org>".to_owned()),
            ("PLATFORM_RPC_URL", format!("http://user:{rpc}@{}", node.client().address())),
            // Without Redis every process keeps to a share of it.
            ("RATE_LIMIT_MAX", "100000".to_owned()),
            ("PORTAL_PEPPER", secrets.add("the pepper", key(0xb1))),
            ("WEBHOOK_KEY", secrets.add("the key of webhook secrets", key(0xb2))),
            ("FAUCET_KEY", secrets.add("the faucet's key", devnet::ACCOUNTS[9].key.to_string())),
            ("KEEPER_KEY", secrets.add("the keeper's key", devnet::ACCOUNTS[1].key.to_string())),
            ("REGISTRY_KEY", secrets.add("the registry's key", devnet::ACCOUNTS[0].key.to_string())),
        ];
        Self { node, data, format, variables, logs: Vec::new(), processes: Vec::new() }
    }

    /// Starts a role whose log goes to a file of its own.
    async fn role(&mut self, role: &str, port: Option<&str>, marker: &'static str) -> HttpClient {
        let log = self.data.path().join(format!("{role}.log"));
        let mut command = Command::new("sh");
        // The log is far longer than what the process's keeper remembers.
        command
            .args(["-c", r#"exec "$0" "$@" 2>>"$ROLE_LOG""#, BINARY, role, "--data"])
            .arg(self.data.path());
        command.args(["--metrics-port", "0", "--log-format", self.format, "--log-filter", FILTER]);
        command.args(port.into_iter().flat_map(|port| [port, "0"]));
        command.envs(self.variables.iter().map(|(name, value)| (*name, value))).env("ROLE_LOG", &log);
        let process = ServerProcess::start(command, Ready::Announced(marker)).await;
        let process = process.unwrap_or_else(|error| panic!("{role}: {error}"));
        let client = HttpClient::new(process.address());
        self.logs.push(log);
        self.processes.push(process);
        client
    }

    /// Runs an operator's command on the same database.
    async fn operator(&self, arguments: &[&str]) -> String {
        let (_, database) = &self.variables[0];
        let places = ["--data", self.data.path().to_str().unwrap(), "--database-url", database];
        chainnet(arguments.iter().copied().chain(places)).await.success()
    }
}

/// Knocks at the gateway with a key in every place where one can stand, also where it should not.
async fn use_gateway_key(gateway: HttpClient, key: &str) {
    gateway.wait_for("/ready", |answer| answer.status == 200).await.unwrap();
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_blockNumber", "params": [] });
    // The gateway hears of a new key in a moment.
    while gateway.post_with("/", &[("x-api-key", key)], &call).await.unwrap().status != 200 {}
    let bearer = format!("Bearer {key}");
    for (path, headers) in [
        (format!("/rpc/{key}"), vec![]),
        (format!("/rpc/{key}/more"), vec![]),
        (format!("/{key}"), vec![]),
        ("/".to_owned(), vec![("authorization", bearer.as_str())]),
        ("/".to_owned(), vec![("authorization", key)]),
        (format!("/?key={key}"), vec![]),
    ] {
        gateway.post_with(&path, &headers, &call).await.unwrap();
        gateway.get_with(&path, &headers).await.unwrap();
    }
    let nonsense = json!({ "jsonrpc": "2.0", "id": key, "method": key, "params": [key] });
    gateway.post_with("/", &[("x-api-key", key)], &nonsense).await.unwrap();
}

/// A merchant's story, with a receiver that fails at first.
async fn sell(stage: &Stage, api: HttpClient, explorer: HttpClient, secrets: &mut Secrets) {
    let receiver = Receiver::start().await.unwrap();
    receiver.answer(hyper::StatusCode::INTERNAL_SERVER_ERROR);
    let node = RpcClient::new(stage.node.client().address());
    let mut merchant = Merchant::sign_in(api, node, Wallet::dev(2)).await.unwrap();
    let token = secrets.add("the session's token", merchant.session_token());
    let key = secrets.add("the developer's key", merchant.buy_key(Mining::OnDemand).await.unwrap());
    let hook = merchant.save_webhook(&receiver.url(), Mining::OnDemand).await.unwrap();
    secrets.add("the webhook's secret", hook);
    let invoice = merchant.create_invoice("customer", 10_000).await.unwrap();
    let pay = secrets.add("the payment link's token", invoice.token.clone());
    let payment = merchant.quote(&invoice).await.unwrap().sign(&mut Wallet::dev(3));
    stage.node.client().send_raw(&payment).await.unwrap();
    stage.node.client().mine().await.unwrap();
    tokio::time::timeout(PATIENCE, receiver.wait_for(2)).await.expect("events are sent");

    let base = "/api/v1/platform-dev";
    let cookie = format!("chainnet_session={token}; pds={token}");
    for path in [
        format!("{base}/pay/{pay}"),
        format!("{base}/pay/{pay}x"),
        format!("{base}/pay/{pay}/nothing"),
        format!("{base}/v1/invoices?cursor={key}"),
        format!("{base}/v1/{key}"),
        format!("/api/v1/blocks/{key}"),
        format!("/pay/{pay}"),
        format!("/pay/{pay}x"),
        format!("/developers?token={token}"),
        format!("/search?q={key}"),
    ] {
        let headers = [
            ("x-platform-dev-key", key.as_str()),
            ("cookie", &cookie),
            ("authorization", &format!("Bearer {token}")),
        ];
        for surface in [api, explorer] {
            surface.get_with(&path, &headers).await.unwrap();
            surface.get_with(&path, &headers[..1]).await.unwrap();
            surface.post_with(&path, &headers, &json!({ "secret": key, "token": token })).await.unwrap();
        }
    }
}

async fn run(format: &'static str, test: &TestDb) {
    let mut secrets = Secrets::default();
    let mut stage = Stage::new(format, test.url(), &mut secrets).await;
    transfer(stage.node.client(), &mut Wallet::dev(4)).await;
    stage.role("worker", None, "Node").await;
    let api = stage.role("api", Some("--api-port"), "REST").await;
    let gateway = stage.role("gateway", Some("--gateway-port"), "Gateway").await;
    let faucet = stage.role("faucet", Some("--faucet-port"), "Faucet").await;
    let explorer = stage.role("explorer", Some("--explorer-port"), "Explorer").await;
    indexed(api, 1).await;

    let issued =
        stage.operator(&["keys", "issue", "--team", "a", "--permissions", "rpc,faucet", "--json"]).await;
    let issued: Value = serde_json::from_str(&issued).unwrap();
    let key = secrets.add("the gateway's key", issued["key"].as_str().unwrap());
    use_gateway_key(gateway, &key).await;
    stage.operator(&["allowlist", "add", &CAROL.to_string(), "--team", "a"]).await;
    let body = json!({ "address": CAROL, "website": "" });
    while faucet.post_with("/claim", &[("x-api-key", &key)], &body).await.unwrap().status == 401 {}
    stage.node.client().mine().await.unwrap();
    sell(&stage, api, explorer, &mut secrets).await;

    for process in &mut stage.processes {
        assert!(process.stop().await.unwrap().success(), "{}", process.output());
    }
    for log in &stage.logs {
        let text = std::fs::read_to_string(log).unwrap();
        assert!(text.lines().count() >= 2, "{} says nothing:\n{text}", log.display());
        if format == "json" {
            text.lines().for_each(|line| assert!(serde_json::from_str::<Value>(line).is_ok(), "{line}"));
        }
        secrets.check(log, &text);
    }
    for process in &stage.processes {
        // What is printed for people tells no more; the devnet's well-known accounts are not printed without a chain inside.
        secrets.check(Path::new("standard output"), &process.output());
    }
}

store::engine_tests! {
    async fn no_secret_is_in_a_text_log(test: TestDb) {
        run("text", test).await;
    }

    async fn no_secret_is_in_a_json_log(test: TestDb) {
        run("json", test).await;
    }
}
