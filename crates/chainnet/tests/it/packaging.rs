//! What the product is packaged with names commands and settings that exist.

use std::{collections::BTreeSet, fs, path::PathBuf};

use chainnet::{cli::Cli, config::SETTINGS};
use clap::CommandFactory;
use tokio::process::Command;

use crate::rig::on_demand;

/// Variables of the packaging itself.
const OWN: [&str; 1] = ["HEALTH_PORT"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

#[track_caller]
fn assert_role(file: &str, role: &str) {
    let known = Cli::command().get_subcommands().any(|command| command.get_name() == role);
    assert!(known, "{file}: there is no `chainnet {role}`");
}

#[track_caller]
fn assert_setting(file: &str, name: &str) {
    let known = SETTINGS.iter().any(|setting| setting.env == name) || OWN.contains(&name);
    assert!(known, "{file}: there is no setting {name}");
}

/// The units of deploy/systemd by name, without the node's.
fn role_units() -> Vec<(String, String)> {
    let entries = fs::read_dir(root().join("deploy/systemd")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names
        .filter(|name| name.starts_with("chainnet") && name.ends_with(".service"))
        .map(|name| (name.clone(), read(&format!("deploy/systemd/{name}"))))
        .collect()
}

/// Values of a key in a unit.
fn values<'a>(unit: &'a str, key: &str) -> Vec<&'a str> {
    unit.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix('=')).collect()
}

#[test]
fn units_run_roles_with_settings_that_exist() {
    let units = role_units();
    let mut roles = BTreeSet::new();
    for (name, unit) in &units {
        let [start] = values(unit, "ExecStart")[..] else { panic!("{name}: one command") };
        let role = start.strip_prefix("/usr/local/bin/chainnet ").expect("the binary");
        assert_role(name, role);
        roles.insert(role);
        for setting in values(unit, "Environment") {
            assert_setting(name, setting.split_once('=').expect("NAME=VALUE").0);
        }
    }
    assert_eq!(roles, BTreeSet::from(["api", "explorer", "faucet", "gateway", "up", "worker"]));
}

#[test]
fn units_of_one_machine_do_not_share_a_metrics_port() {
    let units = role_units();
    let roles = units.iter().filter(|(name, _)| name != "chainnet.service");
    let ports: Vec<_> = roles
        .flat_map(|(_, unit)| values(unit, "Environment"))
        .filter_map(|setting| setting.strip_prefix("METRICS_PORT="))
        .collect();
    assert_eq!(ports.len(), 5);
    assert_eq!(ports.iter().collect::<BTreeSet<_>>().len(), 5, "{ports:?}");
}

#[test]
fn units_are_hardened() {
    for (name, unit) in role_units() {
        for line in [
            "DynamicUser=yes",
            "NoNewPrivileges=yes",
            "ProtectSystem=strict",
            "ProtectHome=yes",
            "StateDirectory=chainnet",
            "Restart=on-failure",
            "LimitNOFILE=65536",
            "CapabilityBoundingSet=",
        ] {
            assert!(unit.lines().any(|other| other == line), "{name} lacks {line}");
        }
    }
}

#[test]
fn the_image_has_settings_that_exist_and_no_root() {
    let dockerfile = read("Dockerfile");
    let (_, image) = dockerfile.rsplit_once("\nFROM ").expect("two stages");
    let env = image.split_once("ENV ").expect("settings").1.split_once("\nVOLUME").expect("a volume").0;
    for setting in env.split_whitespace().filter(|word| *word != "\\") {
        assert_setting("Dockerfile", setting.split_once('=').expect("NAME=VALUE").0);
    }
    assert!(image.contains("\nUSER chainnet\n") && image.contains("\nENTRYPOINT [\"chainnet\"]\n"));
    assert_role("Dockerfile", "up");
    assert!(image.contains("\nCMD [\"up\"]"));
    let toolchain = read("rust-toolchain.toml");
    let version = toolchain.split('"').nth(1).expect("a version");
    assert!(dockerfile.contains(&format!("FROM rust:{version}-")), "the image is built with Rust {version}");
}

#[tokio::test]
async fn the_images_health_check_tells_a_healthy_role_from_a_dead_one() {
    let dockerfile = read("Dockerfile");
    let (_, check) = dockerfile.split_once("HEALTHCHECK").expect("a health check");
    let check = check.lines().find_map(|line| line.trim().strip_prefix("CMD ")).expect("a command");
    let check: Vec<String> = serde_json::from_str(check).unwrap();
    let healthy = async |port: u16| {
        let mut command = Command::new(&check[0]);
        command.args(&check[1..]).env("HEALTH_PORT", port.to_string()).stderr(std::process::Stdio::null());
        command.status().await.unwrap().success()
    };
    let data = tempfile::tempdir().unwrap();
    let app = testkit::AppProcess::up(crate::rig::BINARY, data.path(), ["--on-demand"]).await.unwrap();
    assert!(healthy(app.api().address().port()).await);
    for door in ["Gateway", "Faucet", "Explorer"] {
        let address = app.server().announced(door).unwrap_or_else(|| panic!("no {door}"));
        assert!(healthy(address.port()).await, "{door}");
    }
    // A server that answers something else, and one that does not answer.
    let node = on_demand().await;
    assert!(!healthy(node.server().address().port()).await);
    let gone = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    assert!(!healthy(gone.port()).await);
}

#[test]
fn the_compose_file_runs_roles_with_settings_that_exist() {
    let file = "deploy/compose.yaml";
    let compose = read(file);
    let mut roles = BTreeSet::new();
    let mut service = "";
    for line in compose.lines() {
        if let Some(name) = line.strip_prefix("  ").and_then(|rest| rest.strip_suffix(':')) {
            service = if name.starts_with(' ') { service } else { name };
        }
        if let Some(command) = line.trim().strip_prefix("command: [\"").filter(|_| service != "redis") {
            let role = command.split('"').next().unwrap();
            assert_role(file, role);
            assert_eq!(role, service, "a service is named after its role");
            roles.insert(role.to_owned());
        }
        // Variables are the only keys in capitals.
        let name = line.trim().split(':').next().unwrap_or_default();
        let is_variable =
            !name.is_empty() && name.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_');
        if is_variable && !name.starts_with("POSTGRES_") {
            assert_setting(file, name);
        }
    }
    assert_eq!(roles.len(), 5, "{roles:?}");
    let images = compose.lines().filter_map(|line| line.trim().strip_prefix("image: "));
    for image in images {
        let tag = image.split_once(':').expect("a tag").1;
        assert!(
            tag.starts_with(|first: char| first.is_ascii_digit()) && tag.contains('.'),
            "{image} is not pinned"
        );
    }
}

#[test]
fn the_example_of_settings_has_every_variable_of_the_compose_file() {
    let (compose, example) = (read("deploy/compose.yaml"), read("deploy/compose.env.example"));
    let wanted: BTreeSet<_> =
        compose.split("${").skip(1).map(|rest| rest.split([':', '}']).next().unwrap()).collect();
    let given: BTreeSet<_> = example
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, _)| name.trim_start_matches('#'))
        .filter(|name| name.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_'))
        .collect();
    assert_eq!(wanted, given);
}
