//! `LOG_FORMAT=json`: every line is one object, and says for which request it is where there is one.

use serde_json::Value;
use testkit::{HttpClient, ServerProcess, process::Ready};
use tokio::process::Command;

use super::{BOB, folder, role};
use crate::rig::{BINARY, chainnet, on_demand};

#[tokio::test]
async fn every_line_is_an_object_and_a_failed_request_is_found_by_its_id() {
    let (mut node, data) = (on_demand().await, folder());
    let database = format!("sqlite:{}/chainnet.db", data.path().display());
    let mut command = Command::new(BINARY);
    let own = ["--api-port", "0", "--log-format", "json"];
    command.args(role("api", data.path(), node.client(), &database)).args(own);
    let mut process = ServerProcess::start(command, Ready::Announced("REST")).await.unwrap();
    let api = HttpClient::new(process.address());
    node.kill9().await.unwrap();
    let path = format!("/api/v1/accounts/{BOB}");
    let answer = api.wait_for(&path, |answer| answer.status == 503).await.unwrap();
    let made = answer.header("x-request-id").unwrap().to_owned();
    let own = api.get_with(&path, &[("x-request-id", "from-the-caller-7")]).await.unwrap();
    assert_eq!(own.header("x-request-id"), Some("from-the-caller-7"));
    let unreadable = api.get_with(&path, &[("x-request-id", "{\"a\":\n1}")]).await;
    assert!(unreadable.is_err() || unreadable.unwrap().header("x-request-id").unwrap() != "{\"a\":\n1}");
    assert!(process.stop().await.unwrap().success(), "{}", process.output());

    let output = process.output();
    // The banner is for people, and goes to standard output.
    let all: Vec<&str> = output.lines().map(str::trim).collect();
    let (lines, others): (Vec<&str>, Vec<&str>) = all.iter().partition(|line| line.starts_with('{'));
    let is_log =
        |line: &&str| [" WARN ", " ERROR ", " INFO ", "panicked"].iter().any(|word| line.contains(word));
    assert!(!others.iter().any(is_log), "{others:?}");
    assert!(lines.len() >= 2, "{output}");
    let mut found = Vec::new();
    for line in &lines {
        let entry: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        for member in ["timestamp", "level", "fields", "target"] {
            assert!(!entry[member].is_null(), "no {member}: {line}");
        }
        if entry["fields"]["message"] == "a request could not be served" {
            let id = entry["fields"]["request.id"].as_str().unwrap_or_else(|| panic!("no id: {line}"));
            found.push(id.to_owned());
        }
    }
    assert!(found.contains(&made) && found.contains(&"from-the-caller-7".to_owned()), "{found:?}\n{output}");
}

#[tokio::test]
async fn why_a_process_does_not_start_is_an_object_too() {
    let taken = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).unwrap();
    let (data, port) = (folder(), taken.local_addr().unwrap().port().to_string());
    let arguments =
        ["node", "--data", data.path().to_str().unwrap(), "--metrics-port", &port, "--log-format", "json"];
    let ended = chainnet(arguments).await;
    assert_eq!(ended.code, Some(1));
    let lines: Vec<Value> = ended.err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = lines.last().unwrap();
    assert_eq!(last["level"], "ERROR");
    assert!(last["fields"]["message"].as_str().unwrap().contains("METRICS_PORT"), "{last}");
}
