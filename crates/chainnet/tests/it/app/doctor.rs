//! `chainnet doctor` on a healthy devnet, and on one with a fault: each is a real one, and only it is named.

use std::{
    collections::BTreeMap,
    fs,
    net::{Ipv4Addr, TcpListener},
    os::unix::fs::PermissionsExt,
    path::Path,
};

use alloy_primitives::{Address, U256};
use chainnet::{
    Finding, Verdict,
    config::{Config, Given},
    examine,
};
use domain::devnet::{DevRole, role_key};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use store::testing::tamper;
use tempfile::TempDir;
use testkit::{
    AppProcess, Besu, BesuSettings, Draft, Merchant, Mining, NodeProcess, Receiver, RpcClient, Wallet,
    process::free_port,
};

use super::{folder, indexed, operator::pay_fee, sixth::mining, up};
use crate::rig::{BINARY, chainnet, chainnet_with};

/// A product, and where it is.
struct Patient {
    data: TempDir,
    app: AppProcess,
    places: BTreeMap<&'static str, String>,
}

impl Patient {
    /// `chainnet up` on a chain that makes blocks when asked, with one block in the index.
    async fn on_demand() -> Self {
        let data = folder();
        let app = up(data.path()).await;
        Self::of(data, app).await
    }

    /// The same with a block every two seconds.
    async fn timed() -> Self {
        let data = folder();
        let app = AppProcess::up(BINARY, data.path(), ["--rate-limit-max", "100000"]).await.unwrap();
        Self::of(data, app).await
    }

    async fn of(data: TempDir, app: AppProcess) -> Self {
        let port = |marker| app.server().announced(marker).unwrap().port().to_string();
        let mut places: BTreeMap<_, _> = [
            ("API_PORT", "REST"),
            ("GATEWAY_PORT", "Gateway"),
            ("FAUCET_PORT", "Faucet"),
            ("EXPLORER_PORT", "Explorer"),
            ("NODE_RPC_PORT", "JSON-RPC"),
            ("METRICS_PORT", "Metrics"),
        ]
        .map(|(variable, marker)| (variable, port(marker)))
        .into();
        places.insert("CHAINNET_DATA", data.path().display().to_string());
        app.node().unwrap().mine().await.unwrap();
        indexed(app.api(), 1).await;
        Self { data, app, places }
    }

    fn node(&self) -> RpcClient {
        self.app.node().unwrap()
    }

    fn database(&self) -> std::path::PathBuf {
        self.data.path().join("chainnet.db")
    }

    fn config(&self, changed: &[(&'static str, &str)]) -> Config {
        let mut places = self.places.clone();
        places.extend(changed.iter().map(|(name, value)| (*name, (*value).to_owned())));
        load(&places)
    }

    /// What doctor finds with these settings changed, a second after the newest block: a chain that makes blocks when asked
    /// may be ahead of the machine.
    async fn findings(&self, changed: &[(&'static str, &str)]) -> Vec<Finding> {
        let now = time_after_head(&self.node()).await;
        examine(&self.config(changed), || now).await
    }
}

/// A second after the newest block; the machine's time where no node answers.
async fn time_after_head(node: &RpcClient) -> Timestamp {
    let head = node.call::<Value>("eth_getBlockByNumber", json!(["latest", false])).await;
    let Ok(head) = head else { return Timestamp::now() };
    let text = head["timestamp"].as_str().unwrap().trim_start_matches("0x");
    Timestamp::from_second(i64::from_str_radix(text, 16).unwrap() + 1).unwrap()
}

fn load(places: &BTreeMap<&'static str, String>) -> Config {
    let env = places.iter().map(|(name, value)| ((*name).to_owned(), value.into())).collect();
    Config::load(Given { env, ..Given::default() }, Path::new("/nonexistent")).unwrap()
}

/// Only this check is not green, and it says this.
#[track_caller]
fn assert_only(findings: &[Finding], check: &str, words: &[&str]) {
    let troubles: Vec<_> = findings.iter().filter(|finding| finding.verdict != Verdict::Ok).collect();
    let names: Vec<_> = troubles.iter().map(|finding| finding.check).collect();
    assert_eq!(names, [check], "{troubles:#?}");
    assert_says(findings, check, words);
}

/// The check fails, says this, and has an advice.
#[track_caller]
fn assert_says(findings: &[Finding], check: &str, words: &[&str]) {
    let finding = findings.iter().find(|finding| finding.check == check);
    let finding = finding.unwrap_or_else(|| panic!("no check {check} in {findings:#?}"));
    assert_eq!(finding.verdict, Verdict::Fail, "{finding}");
    for word in words {
        assert!(finding.found.contains(word), "{word} is missing from: {finding}");
    }
    assert!(finding.advice.is_some(), "{finding}");
}

#[track_caller]
fn assert_healthy(findings: &[Finding]) {
    let troubles: Vec<_> = findings.iter().filter(|finding| finding.verdict != Verdict::Ok).collect();
    assert!(troubles.is_empty(), "{troubles:#?}");
}

#[tokio::test]
async fn a_healthy_devnet_is_all_green() {
    let patient = Patient::timed().await;
    let findings = examine(&patient.config(&[]), Timestamp::now).await;
    assert_healthy(&findings);
    let checks: Vec<_> = findings.iter().map(|finding| finding.check).collect();
    let expected = [
        "configuration",
        "deployment",
        "ports",
        "disk",
        "keys",
        "chain",
        "blocks",
        "clock",
        "contracts",
        "validators",
        "faucet",
        "keeper",
        "database",
        "index",
        "fees",
        "payments",
        "placeholders",
        "portal",
        "rate",
    ];
    assert_eq!(checks, expected);
}

#[tokio::test]
async fn a_network_without_a_rate_is_told_so() {
    let patient = Patient::on_demand().await;
    tamper(&patient.database(), "DELETE FROM portal_rate").await;
    let findings = patient.findings(&[]).await;
    let rate = findings.iter().find(|finding| finding.check == "rate").expect("a check of the rate");
    assert_eq!(rate.verdict, Verdict::Warn, "{rate}");
    assert!(rate.found.contains("no invoice can be paid"), "{rate}");
    assert!(rate.advice.unwrap().contains("chainnet rate set"), "{rate}");
    // Only the devnet has one from the beginning.
    let data = folder();
    let mut testnet =
        AppProcess::up(BINARY, data.path(), ["--network", "testnet", "--on-demand"]).await.unwrap();
    let said = testnet.server().output();
    assert!(said.contains("there is no rate for the coin") && said.contains("chainnet rate set"), "{said}");
    testnet.stop().await.unwrap();
}

#[tokio::test]
async fn faults_of_the_chain_are_named() {
    let mut patient = Patient::on_demand().await;
    assert_healthy(&patient.findings(&[]).await);

    // A chain of another network.
    let url = patient.node().url();
    let elsewhere = folder();
    let own = elsewhere.path().display().to_string();
    let changed = [
        ("PLATFORM_NETWORK", "testnet"),
        ("PLATFORM_RPC_URL", url.as_str()),
        ("CHAINNET_DATA", own.as_str()),
    ];
    assert_says(&patient.findings(&changed).await, "chain", &["8845", "8847"]);

    // Keys that everybody knows, where they must not be.
    let database = format!("sqlite:{}", patient.database().display());
    let changed = [changed.as_slice(), &[("DATABASE_URL", database.as_str())]].concat();
    assert_says(&patient.findings(&changed).await, "placeholders", &["internal-dev", "testnet"]);

    // A faucet and a keeper without coin.
    let pauper = "0x7a5b3c1d9e8f70615243b4a5968778695a4b3c2d1e0f10213243546576879809";
    assert_only(&patient.findings(&[("FAUCET_KEY", pauper)]).await, "faucet", &["has 0 coin", "0 claims"]);
    assert_only(&patient.findings(&[("KEEPER_KEY", pauper)]).await, "keeper", &["has 0 coin"]);

    // No chain.
    patient.app.kill9().await.unwrap();
    assert_only(&patient.findings(&[]).await, "chain", &["no node answers"]);
}

#[tokio::test]
async fn a_clock_that_is_off_is_told_from_a_chain_that_stands_still() {
    let patient = Patient::timed().await;
    let config = patient.config(&[]);
    let at = |offset: i64| move || Timestamp::now() + SignedDuration::from_secs(offset);
    assert_only(&examine(&config, at(-3_600)).await, "clock", &["behind the newest block"]);
    assert_only(&examine(&config, at(3_600)).await, "clock", &["blocks come", "ahead"]);

    let validators: Vec<Value> = patient.node().call("chainnet_validators", json!([])).await.unwrap();
    for validator in validators {
        patient.node().call::<Value>("chainnet_stopValidator", json!([validator["name"]])).await.unwrap();
    }
    // Two minutes after the last block.
    let findings = examine(&config, at(120)).await;
    assert_says(&findings, "blocks", &["stands still"]);
    let clock = findings.iter().find(|finding| finding.check == "clock").unwrap();
    assert_eq!(clock.verdict, Verdict::Warn, "the clock is not accused: {clock}");
}

#[tokio::test]
async fn a_chain_that_stands_still_is_named_at_once() {
    let patient = Patient::timed().await;
    for name in ["V1", "V2"] {
        patient.node().call::<Value>("chainnet_stopValidator", json!([name])).await.unwrap();
    }
    // As soon as the last block is older than the next one could be.
    let now = time_after_head(&patient.node()).await + SignedDuration::from_secs(9);
    let findings = examine(&patient.config(&[]), || now).await;
    assert_says(&findings, "blocks", &["stands still"]);
}

#[tokio::test]
async fn dead_nodes_are_named_although_another_answers() {
    let patient = Patient::on_demand().await;
    let dead = format!("http://127.0.0.1:{}", free_port().unwrap());
    let nodes = format!("{},{dead}", patient.node().url());
    let findings = patient.findings(&[("PLATFORM_RPC_URL", nodes.as_str())]).await;
    let found = findings.iter().find(|finding| finding.check == "nodes").expect("a check of nodes");
    assert_eq!(found.verdict, Verdict::Warn, "{found}");
    assert!(found.found.contains(&dead) && found.found.contains("does not answer"), "{found}");
    // All of them.
    let findings = patient.findings(&[("PLATFORM_RPC_URL", dead.as_str())]).await;
    assert_says(&findings, "chain", &["no node answers", &dead]);
}

#[tokio::test]
async fn transactions_that_do_not_move_are_named() {
    let patient = Patient::on_demand().await;
    let node = patient.node();
    // Of the faucet's key, with nonces 0 and 1 missing.
    let mut faucet = Wallet::from_key(role_key(DevRole::Faucet)).unwrap();
    faucet.set_nonce(2);
    let stuck = faucet.sign_legacy(Draft::transfer(Address::repeat_byte(1), U256::ONE));
    node.send_raw(&stuck.raw).await.unwrap();
    let besu = Besu::start(node.address(), BesuSettings::v24_12_2()).await.unwrap();
    let (url, now) = (besu.url(), time_after_head(&node).await);
    let config = patient.config(&[("PLATFORM_RPC_URL", url.as_str())]);
    let findings = mining(&node, examine(&config, || now)).await;
    assert_says(&findings, "faucet", &["do not move", "nonce 0"]);
}

#[tokio::test]
async fn contracts_that_are_missing_or_of_other_code_are_named() {
    let genesis: Value = serde_json::from_str(&chainnet(["genesis"]).await.success()).unwrap();
    let folder = folder();
    for (name, address, code, words) in [
        ("missing", contracts::address::MULTICALL3, None, ["no code", "Multicall3"]),
        ("changed", contracts::address::FEES, Some("00"), ["other code", "PlatformFees"]),
    ] {
        let mut genesis = genesis.clone();
        let alloc = genesis["alloc"].as_object_mut().unwrap();
        let wanted = hex::encode(address);
        let place = alloc.keys().find(|key| key.trim_start_matches("0x").eq_ignore_ascii_case(&wanted));
        let account = alloc.get_mut(&place.unwrap().clone()).unwrap();
        match code {
            None => drop(account.as_object_mut().unwrap().remove("code")),
            Some(more) => account["code"] = format!("{}{more}", account["code"].as_str().unwrap()).into(),
        }
        let file = folder.path().join(format!("{name}.json"));
        fs::write(&file, genesis.to_string()).unwrap();
        let node = NodeProcess::start(BINARY, ["--on-demand", "--genesis", file.to_str().unwrap()]).await;
        let node = node.unwrap_or_else(|error| panic!("{error}"));
        node.client().mine().await.unwrap();
        let places = [
            ("CHAINNET_DATA", folder.path().display().to_string()),
            ("PLATFORM_RPC_URL", node.client().url()),
        ];
        let findings = examine(&load(&places.into()), Timestamp::now).await;
        assert_says(&findings, "contracts", &words);
    }
}

#[tokio::test]
async fn faults_of_the_database_are_named() {
    let mut patient = Patient::on_demand().await;
    pay_fee(&patient.node()).await;
    indexed(patient.app.api(), 2).await;
    let closed = free_port().unwrap();
    let url = format!("postgres://app:hunter2@127.0.0.1:{closed}/chainnet");
    let findings = patient.findings(&[("DATABASE_URL", url.as_str())]).await;
    assert_only(&findings, "database", &["app:***@127.0.0.1"]);
    assert!(!format!("{findings:?}").contains("hunter2"));

    // Edited behind our back; the worker would write over it.
    assert!(patient.app.stop().await.unwrap().success());
    let node = NodeProcess::start_in(BINARY, ["--on-demand"], patient.data).await.unwrap();
    let data = node.data().to_path_buf();
    let file = data.join("chainnet.db");
    let url = node.client().url();
    let places = [("CHAINNET_DATA", data.display().to_string()), ("PLATFORM_RPC_URL", url)];
    let places: BTreeMap<_, _> = places.into_iter().chain(free_ports()).collect();
    let findings = async || {
        let now = time_after_head(node.client()).await;
        examine(&load(&places), || now).await
    };
    assert_healthy(&findings().await);
    for (edit, undo, check, words) in [
        (
            "UPDATE fee_sums SET burned = '7' || burned WHERE span = 0",
            "UPDATE fee_sums SET burned = SUBSTR(burned, 2) WHERE span = 0",
            "fees",
            ["the index has 1 payments", "the contract 1 payments"],
        ),
        (
            "UPDATE index_cursor SET chain_id = 8847",
            "UPDATE index_cursor SET chain_id = 8845",
            "index",
            ["another chain", "8847"],
        ),
        (
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
             VALUES (99999, 'later', TRUE, X'01', 0)",
            "DELETE FROM _sqlx_migrations WHERE version = 99999",
            "database",
            ["newer version", "99999"],
        ),
    ] {
        tamper(&file, edit).await;
        let found = findings().await;
        assert_says(&found, check, &words);
        tamper(&file, undo).await;
    }
}

/// Ports that nobody looks at.
fn free_ports() -> impl Iterator<Item = (&'static str, String)> {
    let ports = ["API_PORT", "GATEWAY_PORT", "FAUCET_PORT", "EXPLORER_PORT", "METRICS_PORT"];
    ports.into_iter().map(|port| (port, "0".to_owned()))
}

#[tokio::test]
async fn faults_of_the_machine_are_named() {
    let patient = Patient::on_demand().await;
    // Somebody else has the port of the API, and says nothing.
    let foreign = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = foreign.local_addr().unwrap().port().to_string();
    assert_only(
        &patient.findings(&[("API_PORT", port.as_str())]).await,
        "ports",
        &["API_PORT", port.as_str()],
    );

    let closed = format!("redis://:hunter2@127.0.0.1:{}", free_port().unwrap());
    let findings = patient.findings(&[("REDIS_URL", closed.as_str())]).await;
    assert_only(&findings, "redis", &["does not answer"]);
    assert!(!format!("{findings:?}").contains("hunter2"), "{findings:?}");

    let key = patient.data.path().join("keys/pepper");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    assert_only(&patient.findings(&[]).await, "keys", &["keys/pepper", "644"]);
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    assert_healthy(&patient.findings(&[]).await);
}

#[tokio::test]
async fn a_webhook_key_that_opens_nothing_is_named() {
    let patient = Patient::on_demand().await;
    let receiver = Receiver::start().await.unwrap();
    let mut merchant = Merchant::sign_in(patient.app.api(), patient.node(), Wallet::dev(1)).await.unwrap();
    merchant.buy_key(Mining::OnDemand).await.unwrap();
    merchant.save_webhook(&receiver.url(), Mining::OnDemand).await.unwrap();
    assert_healthy(&patient.findings(&[]).await);
    let other = "0x7a5b3c1d9e8f70615243b4a5968778695a4b3c2d1e0f10213243546576879809";
    assert_only(&patient.findings(&[("WEBHOOK_KEY", other)]).await, "portal", &["another WEBHOOK_KEY"]);
}

#[tokio::test]
async fn a_damaged_deployment_record_is_refused_before_any_check() {
    let folder = folder();
    let record = include_str!("../../../../../deployments/devnet.json");
    for (damaged, word) in
        [(record[..100].to_owned(), "devnet.json"), (record.replace("8845", "1"), "chainId")]
    {
        fs::write(folder.path().join("devnet.json"), damaged).unwrap();
        let ended = chainnet_with(["doctor"], |command| {
            command.env("PLATFORM_DEPLOYMENTS", folder.path()).env("CHAINNET_DATA", folder.path());
        })
        .await;
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.contains(word), "{}", ended.err);
    }
}
