//! Attempts to get a forbidden method past the table: none reaches a node, and each is answered with the right code.

use bytes::Bytes;
use chain::remote::{RemoteClient, RemoteConfig};
use chainnet_gateway::method_entries;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::{collections::BTreeSet, sync::Arc};

use crate::{
    front::{Front, open},
    relay::Relay,
    world::World,
};

/// An attempt and what becomes of it.
#[derive(Deserialize)]
pub(crate) struct Case {
    pub(crate) name: String,
    #[serde(default)]
    body: String,
    #[serde(default)]
    hex: String,
    pub(crate) expect: Expected,
}

/// `"result"`, a code, or one of these for each request of a batch.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(untagged)]
pub(crate) enum Expected {
    Code(i64),
    Word(String),
    Batch(Vec<Expected>),
}

impl Case {
    pub(crate) fn bytes(&self) -> Bytes {
        if self.hex.is_empty() {
            return self.body.clone().into();
        }
        alloy_primitives::hex::decode(&self.hex).unwrap().into()
    }
}

pub(crate) fn cases() -> Vec<Case> {
    include_str!("smuggling.jsonl").lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

/// An answer whose id is not looked at: it may be a number that no program can hold.
#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<ErrorCode>,
}

#[derive(Deserialize)]
struct ErrorCode {
    code: i64,
}

pub(crate) fn outcome(text: &str) -> Expected {
    if text.starts_with('[') {
        let answers: Vec<&RawValue> = serde_json::from_str(text).expect(text);
        return Expected::Batch(answers.iter().map(|answer| outcome(answer.get())).collect());
    }
    match serde_json::from_str(text).expect(text) {
        Answer { result: Some(_), error: None } => Expected::Word("result".to_owned()),
        Answer { result: None, error: Some(error) } => Expected::Code(error.code),
        Answer { .. } => panic!("neither result nor error, or both: {text}"),
    }
}

#[tokio::test]
async fn no_disguise_gets_a_forbidden_method_to_a_node() {
    let world = World::new();
    world.mine().await;
    let (port, _node) = world.port().await;
    let relay = Relay::to(port).await;
    let remote = RemoteClient::connect(&[relay.url()], RemoteConfig::default()).await.unwrap();
    let front = Front::new(open(), Arc::new(remote)).await;
    let cases = cases();
    assert!(cases.len() >= 60, "{}", cases.len());
    let mut connection = front.connect().await;
    for case in &cases {
        let reply = connection.send("POST", "/", &[], case.bytes()).await;
        assert_eq!(outcome(reply.text()), case.expect, "{}: {}", case.name, reply.text());
        let is_malformed = matches!(case.expect, Expected::Code(-32600 | -32700));
        let status = if is_malformed { 400 } else { 200 };
        assert_eq!(reply.status.as_u16(), status, "{}: {}", case.name, reply.text());
    }
    let offered: BTreeSet<_> = method_entries().map(|entry| entry.name).collect();
    let asked = relay.asked();
    assert!(asked.contains_key("eth_getBalance"), "nothing was sent on: {asked:?}");
    let strangers: Vec<_> = asked.keys().filter(|method| !offered.contains(method.as_str())).collect();
    assert!(strangers.is_empty(), "{strangers:?}");
}
