//! `chainnet node ctl`: asking a running node over its JSON-RPC port.

use anyhow::{Context, bail};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, client::conn::http1};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::{
    cli::{Ctl, CtlAction, VoteChoice},
    config::Config,
    output::say,
    runtime,
};

/// Asks the node and prints its answer.
pub(crate) fn run(config: &Config, ctl: &Ctl) -> anyhow::Result<()> {
    let port = config.node.rpc.port();
    let (method, params) = request(&ctl.action);
    let result = runtime::run_small(ask(port, method, params))?;
    match ctl.action {
        CtlAction::Status => print_status(result),
        CtlAction::Stop { .. } | CtlAction::Start { .. } | CtlAction::Vote { .. } => {
            say("done");
            Ok(())
        }
    }
}

fn request(action: &CtlAction) -> (&'static str, Value) {
    match action {
        CtlAction::Status => ("chainnet_validators", json!([])),
        CtlAction::Stop { validator } => ("chainnet_stopValidator", json!([validator])),
        CtlAction::Start { validator } => ("chainnet_startValidator", json!([validator])),
        CtlAction::Vote { validator, subject, choice } => match choice {
            VoteChoice::Add => ("chainnet_proposeVote", json!([validator, subject, true])),
            VoteChoice::Drop => ("chainnet_proposeVote", json!([validator, subject, false])),
            VoteChoice::Discard => ("chainnet_discardVote", json!([validator, subject])),
        },
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ValidatorLine {
    name: String,
    address: String,
    running: bool,
    in_validator_set: bool,
    votes: Vec<VoteLine>,
}

#[derive(Deserialize)]
struct VoteLine {
    address: String,
    add: bool,
}

fn print_status(result: Value) -> anyhow::Result<()> {
    let lines: Vec<ValidatorLine> =
        serde_json::from_value(result).context("the node's answer is not understood")?;
    for line in lines {
        let state = if line.running { "running" } else { "stopped" };
        let set = if line.in_validator_set { "validator" } else { "standby" };
        say(format!("{:<4} {}  {state}  {set}", line.name, line.address));
        for vote in line.votes {
            say(format!("       votes to {} {}", if vote.add { "add" } else { "drop" }, vote.address));
        }
    }
    Ok(())
}

async fn ask(port: u16, method: &str, params: Value) -> anyhow::Result<Value> {
    let stream = TcpStream::connect(("127.0.0.1", port)).await.with_context(|| {
        format!("no node answers on 127.0.0.1:{port}; start one with `chainnet node`, or give its port with --rpc-port")
    })?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let request = Request::post("/")
        .header("host", format!("127.0.0.1:{port}"))
        .header("content-type", "application/json")
        .body(Full::new(Bytes::from(body)))?;
    let answer = sender.send_request(request).await?.into_body().collect().await?.to_bytes();
    let mut answer: Value = serde_json::from_slice(&answer).context("the node's answer is not JSON")?;
    if let Some(message) = answer.pointer("/error/message").and_then(Value::as_str) {
        bail!("the node refused: {message}");
    }
    Ok(answer.get_mut("result").map(Value::take).unwrap_or_default())
}
