//! Configuration as an operator meets it: what counts, and what stops the start.

use std::{fs, path::Path};

use serde_json::Value;
use tempfile::TempDir;

use crate::rig::{Ended, chainnet_with};

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

async fn in_folder<const N: usize>(folder: &Path, env: &[(&str, &str)], arguments: [&str; N]) -> Ended {
    chainnet_with(arguments, |command| {
        command.current_dir(folder).envs(env.iter().copied());
    })
    .await
}

#[tokio::test]
async fn the_effective_configuration_is_printed_with_its_sources_and_without_secrets() {
    let folder = folder();
    fs::write(
        folder.path().join("chainnet.toml"),
        "[api]\nport = 4100\ncors_origins = [\"https://a.example\"]\n",
    )
    .unwrap();
    let env = [
        ("API_HOST", "0.0.0.0"),
        ("DATABASE_URL", "postgres://app:hunter2@db.internal/chainnet"),
        ("PLATFORM_RPC_URL", "https://node.example/v3/secret-key,http://10.0.0.5:8545"),
        ("FAUCET_KEY", "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"),
        ("INTERNAL_ALLOWLIST", "10.0.0.0/8"),
        ("REDIS_URL", "redis://:hunter2@redis.internal:6379"),
        ("SMTP_URL", "smtps://mailer:hunter2@mail.example"),
        ("SMTP_FROM", "Validators <program@example.org>"),
    ];
    let printed =
        in_folder(folder.path(), &env, ["config", "--network", "testnet", "--rate-limit-max", "250"])
            .await
            .success();
    for secret in ["hunter2", "secret-key", "ac0974"] {
        assert!(!printed.contains(secret), "{printed}");
    }
    insta::assert_snapshot!("effective_configuration", printed);

    let json = in_folder(folder.path(), &env, ["config", "--json"]).await.success();
    assert!(!json.contains("hunter2"), "{json}");
    let settings: Vec<Value> = serde_json::from_str(&json).unwrap();
    let port = settings.iter().find(|setting| setting["key"] == "api.port").unwrap();
    assert_eq!(
        (port["value"].as_str(), port["source"].as_str()),
        (Some("4100"), Some("chainnet.toml line 2"))
    );
}

#[tokio::test]
async fn the_printed_defaults_are_a_file_that_changes_nothing() {
    let folder = folder();
    let before = in_folder(folder.path(), &[], ["config", "--json"]).await.success();
    let defaults = in_folder(folder.path(), &[], ["config", "--defaults"]).await.success();
    fs::write(folder.path().join("mine.toml"), defaults).unwrap();
    let after =
        in_folder(folder.path(), &[("CHAINNET_CONFIG", "mine.toml")], ["config", "--json"]).await.success();
    let values = |json: &str| -> Vec<Value> {
        let settings: Vec<Value> = serde_json::from_str(json).unwrap();
        settings.into_iter().map(|setting| setting["value"].clone()).collect()
    };
    assert_eq!(values(&before), values(&after));
}

#[tokio::test]
async fn a_bad_configuration_stops_every_command_and_tells_all_problems() {
    let folder = folder();
    fs::write(folder.path().join("chainnet.toml"), "[api]\nprot = 1\n").unwrap();
    let env = [("RATE_LIMIT_MAX", "0"), ("PLATFORM_DEPLOYMENTS", "nowhere")];
    for arguments in [["node", "--network", "moonnet"], ["config", "--api-port", "x"]] {
        let ended = in_folder(folder.path(), &env, arguments).await;
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.starts_with("error: the configuration is refused"), "{}", ended.err);
        for word in
            ["api.prot", "chainnet.toml line 2", "RATE_LIMIT_MAX", "nowhere/devnet.json", arguments[2]]
        {
            assert!(ended.err.contains(word), "{word} is missing from {}", ended.err);
        }
    }
    assert!(!folder.path().join("data").exists(), "nothing was written");
}

#[tokio::test]
async fn a_flag_of_another_command_is_refused() {
    let ended = in_folder(folder().path(), &[], ["genesis", "--api-port", "1"]).await;
    assert_eq!(ended.code, Some(2));
    assert!(ended.err.contains("--api-port"), "{}", ended.err);
}
