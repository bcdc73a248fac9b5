//! `LOG_FORMAT=json`: every line is one object, and says for which request it is where there is one.

use serde_json::Value;
use testkit::{HttpClient, ServerProcess, process::Ready};
use tokio::process::Command;

use super::{BOB, folder, role};
use crate::rig::{BINARY, on_demand};

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
    let lines: Vec<&str> = output.lines().filter(|line| line.starts_with('{')).collect();
    let others: Vec<&str> = output.lines().filter(|line| !line.starts_with('{')).collect();
    assert!(
        others.iter().all(|line| line.is_empty() || line.starts_with("  ") || line.starts_with("chainnet ")),
        "{others:?}"
    );
    assert!(lines.len() >= 3, "{output}");
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
