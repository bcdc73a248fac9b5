//! A network for Besu: written once, checked, and started from by the embedded chain. Every fault is named.

use std::{
    fs,
    net::{Ipv4Addr, TcpListener},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use alloy_primitives::{Bytes, hex};
use alloy_sol_types::SolCall;
use contracts::PlatformValidatorRegistry::getExpansionStatusCall;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::RpcClient;

use crate::rig::{BINARY, Ended, block, chainnet, chainnet_with, node};

/// A folder that `network init` has written, with ports that nobody else has.
struct Folder {
    place: TempDir,
    printed: String,
}

impl Folder {
    async fn new(network: &str, validators: &str) -> Self {
        Self::with(network, validators, &[]).await
    }

    async fn with(network: &str, validators: &str, more: &[&str]) -> Self {
        let place = tempfile::tempdir().unwrap();
        let out = place.path().join("net");
        let arguments = ["network", "init", "--network", network, "--validators", validators, "--out"];
        let arguments = arguments.into_iter().chain([out.to_str().unwrap()]).chain(more.iter().copied());
        let printed = chainnet(arguments).await.success();
        Self { place, printed }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.place.path().join("net").join(file)
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }

    fn json(&self, file: &str) -> Value {
        serde_json::from_str(&self.read(file)).unwrap()
    }

    fn write(&self, file: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(file), text).unwrap();
    }

    /// Checks it without asking for ports: tests run side by side, and on machines with nodes of their own.
    async fn check(&self) -> Ended {
        self.check_with(&["--running"]).await
    }

    async fn check_with(&self, more: &[&str]) -> Ended {
        let folder = self.path("");
        chainnet(["network", "check", folder.to_str().unwrap()].into_iter().chain(more.iter().copied())).await
    }

    /// The line of the check that fails, after something was done to the folder.
    async fn failing(&self) -> Vec<String> {
        let ended = self.check().await;
        let lines: Vec<_> =
            ended.out.lines().filter(|line| line.starts_with("fail")).map(str::to_owned).collect();
        assert!(ended.failure().contains("checks failed"));
        lines
    }

    /// The hash that `init` has printed.
    fn printed_hash(&self) -> &str {
        let line = self.printed.lines().find_map(|line| line.strip_prefix("Genesis")).expect("a hash");
        line.trim()
    }
}

async fn genesis_hash(client: &RpcClient) -> Value {
    block(client, "0x0").await["hash"].clone()
}

/// The phase that the registry starts in.
async fn registry_phase(client: &RpcClient) -> u8 {
    let data = hex::encode_prefixed(getExpansionStatusCall {}.abi_encode());
    let call = json!([{ "to": contracts::address::REGISTRY, "data": data }, "latest"]);
    let answer: Bytes = client.call("eth_call", call).await.unwrap();
    getExpansionStatusCall::abi_decode_returns(&answer).unwrap().phase
}

#[tokio::test]
async fn networks_of_every_phase_pass_their_check_and_start_where_they_say() {
    for (network, validators, phase, more) in [
        ("testnet", "5", 1, &[][..]),
        ("devnet", "11", 2, &[]),
        ("testnet", "21", 3, &["--fork", "london"]),
        ("devnet", "1", 1, &["--supply", "7.5"]),
    ] {
        let folder = Folder::with(network, validators, more).await;
        let checked = folder.check().await.success();
        assert!(checked.lines().all(|line| line.starts_with("ok ")), "{checked}");
        assert!(checked.lines().count() >= 12, "{checked}");

        let genesis = folder.path("genesis.json");
        let node = node(["--network", network, "--on-demand", "--genesis", genesis.to_str().unwrap()]).await;
        assert_eq!(genesis_hash(node.client()).await, json!(folder.printed_hash()));
        assert_eq!(folder.json("network.json")["genesisHash"], json!(folder.printed_hash()));
        let listed: Vec<String> =
            node.client().call("ibft_getValidatorsByBlockNumber", json!(["0x0"])).await.unwrap();
        let manifest = folder.json("network.json");
        let mut ours: Vec<_> = manifest["validators"]
            .as_array()
            .unwrap()
            .iter()
            .map(|v| v["address"].as_str().unwrap())
            .collect();
        ours.sort_unstable();
        assert_eq!(listed, ours);
        assert_eq!(registry_phase(node.client()).await, phase);
    }
}

#[tokio::test]
async fn mainnet_has_its_coin_in_the_treasury_and_no_faucet() {
    let folder = Folder::with("mainnet", "5", &["--supply", "1000"]).await;
    folder.check().await.success();
    assert!(!folder.path("keys/faucet").exists() && !folder.path("env/faucet.env").exists());
    assert!(!folder.path("systemd/chainnet-faucet.service").exists());
    let treasury = &folder.json("genesis.json")["alloc"]["0x0000000000000000000000000000000000008804"];
    assert_eq!(treasury["balance"], json!("0x3635c9adc5dea00000"));
}

#[tokio::test]
async fn the_service_finds_the_nodes_in_the_record() {
    let folder = Folder::new("testnet", "2").await;
    let shown = chainnet_with(["config", "--json"], |command| {
        command.env("PLATFORM_NETWORK", "testnet").env("PLATFORM_DEPLOYMENTS", folder.path("deployments"));
    })
    .await
    .success();
    for address in ["127.0.0.1:8565", "127.0.0.1:8567"] {
        assert!(shown.contains(address), "{address}: {shown}");
    }
}

#[tokio::test]
async fn nothing_is_ever_written_over() {
    let folder = Folder::new("testnet", "1").await;
    let (key, out) = (folder.read("nodes/v1/key"), folder.path(""));
    let error = chainnet(["network", "init", "--out", out.to_str().unwrap()]).await.failure();
    assert!(error.contains("is not empty"), "{error}");
    assert_eq!(folder.read("nodes/v1/key"), key);
    for (arguments, word) in
        [(["--validators", "22"], "1..=21"), (["--validators", "0"], "1..=21"), (["--supply", "x"], "supply")]
    {
        let refused = chainnet(["network", "init", "--out", "nowhere"].into_iter().chain(arguments)).await;
        assert_eq!(refused.code, Some(2));
        assert!(refused.err.contains(word), "{}", refused.err);
    }
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[tokio::test]
async fn a_folder_that_lacks_a_file_is_not_accepted() {
    let folder = Folder::new("testnet", "2").await;
    // Nothing that runs needs these keys, and the units of roles are a convenience.
    let optional = ["keys/operator", "keys/treasury", "keys/admin", "systemd/chainnet"];
    for file in files(&folder.path("")) {
        let name = file.strip_prefix(folder.path("")).unwrap().to_str().unwrap().to_owned();
        let aside = folder.place.path().join("aside");
        fs::rename(&file, &aside).unwrap();
        let ended = folder.check().await;
        if optional.iter().any(|start| name.starts_with(start)) {
            ended.success();
        } else {
            assert!(ended.out.contains(&name), "{name}: {}", ended.out);
            ended.failure();
        }
        fs::rename(&aside, &file).unwrap();
    }
    folder.check().await.success();
}

#[tokio::test]
async fn secrets_are_private_and_scripts_run() {
    let folder = Folder::new("testnet", "2").await;
    for file in files(&folder.path("")) {
        let name = file.strip_prefix(folder.path("")).unwrap().to_str().unwrap().to_owned();
        let secret = name.starts_with("keys/") || name.starts_with("env/") || name.ends_with("/key");
        let expected = if secret {
            0o600
        } else if name == "start.sh" {
            0o755
        } else {
            0o644
        };
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, expected, "{name}");
    }
    let secret = folder.read("nodes/v1/key");
    assert!(
        !folder.printed.contains(secret.trim())
            && !folder.printed.contains(secret.trim().trim_start_matches("0x"))
    );
}

type Fault = (&'static str, &'static str, fn(&Folder));

/// Each fault, the check that must name it, and a word that must be in the line.
const FAULTS: &[Fault] = &[
    ("validators", "does not decode", |folder| {
        let mut genesis = folder.json("genesis.json");
        genesis["extraData"] = json!("0xf8");
        folder.write("genesis.json", genesis.to_string());
    }),
    ("validators", "without a node here", |folder| {
        let mut genesis = folder.json("genesis.json");
        let extra = genesis["extraData"].as_str().unwrap().to_owned();
        let address =
            folder.json("network.json")["validators"][0]["address"].as_str().unwrap()[2..].to_owned();
        genesis["extraData"] = json!(extra.replace(&address, &"7".repeat(40)));
        folder.write("genesis.json", genesis.to_string());
    }),
    ("chain id", "chain 8847", |folder| {
        let mut genesis = folder.json("genesis.json");
        genesis["config"]["chainId"] = json!(8845);
        folder.write("genesis.json", genesis.to_string());
    }),
    ("genesis", "is recorded", |folder| {
        let mut genesis = folder.json("genesis.json");
        genesis["gasLimit"] = json!("0x1");
        folder.write("genesis.json", genesis.to_string());
    }),
    ("contracts", "PlatformFees has code", |folder| {
        let mut genesis = folder.json("genesis.json");
        let code = &mut genesis["alloc"]["0x0000000000000000000000000000000000008802"]["code"];
        let mut changed = code.as_str().unwrap().to_owned();
        let last = if changed.pop() == Some('0') { '1' } else { '0' };
        changed.push(last);
        *code = json!(changed);
        folder.write("genesis.json", genesis.to_string());
    }),
    ("contracts", "Multicall3 has no code", |folder| {
        let mut genesis = folder.json("genesis.json");
        genesis["alloc"].as_object_mut().unwrap().remove("0xca11bde05977b3631167028862be2a173976ca11");
        folder.write("genesis.json", genesis.to_string());
    }),
    ("state", "0x1111111111111111111111111111111111111111", |folder| {
        let mut genesis = folder.json("genesis.json");
        genesis["alloc"]["0x1111111111111111111111111111111111111111"] = json!({ "balance": "0x1" });
        folder.write("genesis.json", genesis.to_string());
    }),
    ("keys", "nodes/v1/key is the key of", |folder| {
        let (first, second) = (folder.read("nodes/v1/key"), folder.read("nodes/v2/key"));
        folder.write("nodes/v1/key", second);
        folder.write("nodes/v2/key", first);
    }),
    ("keys", "keys/admin is not a private key", |folder| folder.write("keys/admin", "0x12")),
    ("permissions", "nodes/v2/key has mode 0644", |folder| {
        fs::set_permissions(folder.path("nodes/v2/key"), fs::Permissions::from_mode(0o644)).unwrap();
    }),
    ("permissions", "env/faucet.env has mode 0640", |folder| {
        fs::set_permissions(folder.path("env/faucet.env"), fs::Permissions::from_mode(0o640)).unwrap();
    }),
    ("configuration", "rpc-http-port is 8545, not 8567", |folder| {
        let config = folder.read("nodes/v2/config.toml").replace("rpc-http-port=8567", "rpc-http-port=8545");
        folder.write("nodes/v2/config.toml", config);
    }),
    ("configuration", "min-gas-price is missing", |folder| {
        folder.write(
            "nodes/v1/config.toml",
            folder.read("nodes/v1/config.toml").replace("min-gas-price=1000000000", ""),
        );
    }),
    ("configuration", "tx-pool-no-local-priority is missing", |folder| {
        folder.write(
            "nodes/v1/config.toml",
            folder.read("nodes/v1/config.toml").replace("tx-pool-no-local-priority=true", ""),
        );
    }),
    ("settings", "env/chainnet.env: MIN_GAS_PRICE", |folder| {
        folder.write(
            "env/chainnet.env",
            folder.read("env/chainnet.env").replace("MIN_GAS_PRICE=1000000000", "MIN_GAS_PRICE=0"),
        );
    }),
    ("configuration", "127.0.0.1 and ::1 alone", |folder| {
        let config = folder.read("nodes/v2/config.toml");
        folder.write(
            "nodes/v2/config.toml",
            config.replace("p2p-interface=\"127.0.0.1\"", "p2p-interface=\"127.0.0.2\""),
        );
    }),
    ("configuration", "answered with 403", |folder| {
        let config = folder.read("nodes/v1/config.toml");
        folder.write("nodes/v1/config.toml", config.replace("\"127.0.0.1\"]", "\"::1\"]"));
    }),
    ("configuration", "nodes/v1/config.toml", |folder| folder.write("nodes/v1/config.toml", "port = ")),
    ("static nodes", "lacks enode://", |folder| folder.write("nodes/v1/static-nodes.json", "[]")),
    ("static nodes", "no node of this network", |folder| {
        let peers = folder.read("nodes/v2/static-nodes.json").replace("127.0.0.1:30303", "127.0.0.1:30399");
        folder.write("nodes/v2/static-nodes.json", peers);
    }),
    ("deployment", "rpcUrl", |folder| {
        let mut record = folder.json("deployments/testnet.json");
        record["rpcUrl"] = Value::Null;
        folder.write("deployments/testnet.json", record.to_string());
    }),
    ("deployment", "contracts.Treasury", |folder| {
        let mut record = folder.json("deployments/testnet.json");
        record["contracts"]["Treasury"] = json!("0x12");
        folder.write("deployments/testnet.json", record.to_string());
    }),
    ("deployment", "no code at", |folder| {
        let mut record = folder.json("deployments/testnet.json");
        record["contracts"]["Treasury"] = json!("0x0000000000000000000000000000000000008805");
        folder.write("deployments/testnet.json", record.to_string());
    }),
    ("settings", "env/worker.env: KEEPER_KEY", |folder| {
        folder.write("env/worker.env", format!("KEEPER_KEY=0x{}\n", "1".repeat(64)));
    }),
    ("folder", "network.json", |folder| folder.write("network.json", "{}")),
    ("ports", "port 8565 is rpc-http-port of v1 and rpc-http-port of v2", |folder| {
        let mut manifest = folder.json("network.json");
        manifest["validators"][1]["rpcPort"] = json!(8565);
        folder.write("network.json", manifest.to_string());
    }),
];

#[tokio::test]
async fn nodes_and_service_have_one_price_of_gas() {
    for (network, more, price) in
        [("testnet", &[][..], 1_000_000_000), ("devnet", &[], 0), ("mainnet", &["--min-gas-price", "7"], 7)]
    {
        let folder = Folder::with(network, "1", more).await;
        let node: toml::Table = folder.read("nodes/v1/config.toml").parse().unwrap();
        assert_eq!(node["min-gas-price"].as_integer(), Some(price));
        // Without it Besu takes cheaper transactions from whoever it is told them by: the service.
        let is_strict = node.get("tx-pool-no-local-priority").and_then(toml::Value::as_bool);
        assert_eq!(is_strict, (price > 0).then_some(true));
        assert!(folder.read("env/chainnet.env").lines().any(|line| line == format!("MIN_GAS_PRICE={price}")));
        assert_eq!(folder.json("network.json")["minGasPrice"], price);
        let checked = folder.check().await.success();
        assert!(checked.lines().all(|line| line.starts_with("ok ")), "{checked}");
    }
}

#[tokio::test]
async fn every_fault_is_named() {
    let folder = Folder::new("testnet", "2").await;
    let backup: Vec<_> = files(&folder.path(""))
        .into_iter()
        .map(|file| {
            let (bytes, permissions) = (fs::read(&file).unwrap(), fs::metadata(&file).unwrap().permissions());
            (file, bytes, permissions)
        })
        .collect();
    for (check, word, fault) in FAULTS {
        fault(&folder);
        let failing = folder.failing().await;
        let named =
            failing.iter().any(|line| line[5..].trim_start().starts_with(check) && line.contains(word));
        assert!(named, "{check}: {word} is missing from:\n{}", failing.join("\n"));
        for (file, bytes, permissions) in &backup {
            fs::write(file, bytes).unwrap();
            fs::set_permissions(file, permissions.clone()).unwrap();
        }
        folder.check().await.success();
    }
}

#[tokio::test]
async fn nodes_get_addresses_that_besu_starts_at_and_answers_on() {
    let out = tempfile::tempdir().unwrap();
    let out = out.path().join("net");
    for (host, told) in [("127.0.0.2", "--port-offset"), ("0.0.0.0", "no address")] {
        let refused = chainnet(["network", "init", "--out", out.to_str().unwrap(), "--hosts", host]).await;
        assert!(refused.failure().contains(told), "{host}");
        assert!(!out.exists(), "{host}");
    }
    for host in ["::1", "fd00::7"] {
        let folder = Folder::with("testnet", "2", &["--hosts", host]).await;
        let config: toml::Table = folder.read("nodes/v2/config.toml").parse().unwrap();
        let allowed = config["host-allowlist"].as_array().unwrap();
        assert!(allowed.iter().any(|entry| entry.as_str() == Some(&format!("[{host}]"))), "{allowed:?}");
        folder.check().await.success();
    }
}

#[tokio::test]
async fn a_second_network_has_its_own_ports_in_every_file() {
    let folder = Folder::with("testnet", "2", &["--port-offset", "100"]).await;
    folder.check().await.success();
    let second = folder.read("nodes/v2/config.toml");
    for line in ["rpc-http-port=8667", "rpc-ws-port=8668", "p2p-port=30404", "metrics-port=9646"] {
        assert!(second.contains(line), "{line} is missing from\n{second}");
    }
    assert!(second.contains("@127.0.0.1:30403\""), "the bootnode's port: {second}");
    assert!(folder.read("nodes/v1/static-nodes.json").contains("127.0.0.1:30404"));
    let record = folder.json("deployments/testnet.json");
    assert_eq!(
        record["rpcUrl"],
        "http://127.0.0.1:8665|ws://127.0.0.1:8666,http://127.0.0.1:8667|ws://127.0.0.1:8668"
    );
    assert!(folder.read("compose.yaml").contains("name: chainnet-testnet-100"));
}

#[tokio::test]
async fn a_port_that_somebody_has_on_another_address_is_taken_for_besu() {
    let folder = Folder::new("testnet", "1").await;
    let taken = TcpListener::bind((Ipv4Addr::new(127, 0, 0, 3), 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    let mut manifest = folder.json("network.json");
    manifest["validators"][0]["metricsPort"] = json!(port);
    folder.write("network.json", manifest.to_string());
    let ended = folder.check_with(&[]).await;
    assert!(ended.out.contains(&format!("port {port} (metrics-port of v1) is taken")), "{}", ended.out);
    ended.failure();
}

#[tokio::test]
async fn a_port_that_somebody_has_is_named() {
    let folder = Folder::new("testnet", "1").await;
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    let mut manifest = folder.json("network.json");
    manifest["validators"][0]["metricsPort"] = json!(port);
    folder.write("network.json", manifest.to_string());
    let ended = folder.check_with(&["--json"]).await;
    let findings: Vec<Value> = serde_json::from_str(&ended.out).unwrap();
    let ports = findings.iter().find(|finding| finding["check"] == "ports").unwrap();
    assert_eq!(ports["verdict"], "fail");
    let found = ports["found"].as_str().unwrap();
    assert!(found.contains(&format!("port {port} (metrics-port of v1) is taken")), "{found}");
    ended.failure();
}

/// A stand-in for Besu: the embedded chain, started with what a node's configuration says.
const STAND_IN: &str = r#"#!/usr/bin/env bash
config="${1#--config-file=}"
port="$(sed -n 's/^rpc-http-port=//p' "$config")"
exec "$CHAINNET" node --network testnet --on-demand --rpc-port "$port" --genesis genesis.json --data "$(dirname "$config")/data"
"#;

#[tokio::test]
async fn the_script_starts_the_nodes_and_stops_them() {
    let folder = Folder::new("testnet", "1").await;
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let config = folder.read("nodes/v1/config.toml");
    let port = format!("rpc-http-port={}", free.port());
    folder.write("nodes/v1/config.toml", config.replace("rpc-http-port=8565", &port));
    let besu = folder.place.path().join("besu");
    fs::write(&besu, STAND_IN).unwrap();
    fs::set_permissions(&besu, fs::Permissions::from_mode(0o755)).unwrap();

    let mut command = tokio::process::Command::new(folder.path("start.sh"));
    command
        .env("BESU", &besu)
        .env("CHAINNET", BINARY)
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true);
    let mut script = command.spawn().unwrap();
    let mut lines =
        tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(script.stdout.take().unwrap()));
    let mut seen = String::new();
    while let Some(line) = lines.next_line().await.unwrap() {
        seen.push_str(&line);
        if line.contains("all nodes answer") {
            break;
        }
    }
    assert!(seen.contains("v1"), "{seen}");
    let client = RpcClient::new(free);
    assert_eq!(genesis_hash(&client).await, json!(folder.printed_hash()));
    let pid = script.id().unwrap().to_string();
    assert!(tokio::process::Command::new("kill").arg(&pid).status().await.unwrap().success());
    assert!(script.wait().await.unwrap().success());
    assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("stopped"));
    TcpListener::bind(free).expect("the node has given its port back");
}

#[tokio::test]
async fn the_script_says_what_is_missing() {
    let folder = Folder::new("testnet", "1").await;
    let run = async |arguments: &[&str], besu: &str| {
        let mut command = tokio::process::Command::new(folder.path("start.sh"));
        let output = command.args(arguments).env("BESU", besu).output().await.unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(run(&[], "/no/such/besu").await.contains("install Besu 24.x"));
    assert!(run(&["v9"], "true").await.contains("there is no node v9"));
    assert!(run(&[], "false").await.contains("v1 did not start"));
}
