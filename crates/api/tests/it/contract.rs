//! The OpenAPI document against the server: every operation is called for its success and for each refusal that it lists,
//! and every real answer is held against its schema.

use std::collections::BTreeSet;

use alloy_primitives::{Address, U256, bytes};
use chainnet_api::{EdgeConfig, clock::Clock};
use serde_json::{Value, json};
use store::testing::TestDb;
use validators::{Applications, application::ApplicationDraft};

use crate::{
    rig::{FRIEND, Reply, Rig, first_validator, on_both_engines},
    schema,
};

on_both_engines! {
    every_operation_answers_as_it_is_described,
}

/// Refusals that cannot be provoked from outside; the edge's own tests have them.
const INNER: [&str; 2] = ["internal_error", "timed_out"];

const CONFIRM: &str = "/api/v1/validators/applications/confirm";

/// Operation, status and code; no code for a success.
pub(crate) type Outcome = (String, u16, Option<String>);

struct Call {
    operation: &'static str,
    method: &'static str,
    path: String,
    body: Option<String>,
    media_type: &'static str,
}

fn get(operation: &'static str, path: impl Into<String>) -> Call {
    Call { operation, method: "GET", path: path.into(), body: None, media_type: "application/json" }
}

fn post(operation: &'static str, path: &str, body: impl Into<String>) -> Call {
    Call { method: "POST", body: Some(body.into()), ..get(operation, path) }
}

fn application(operator: &str) -> String {
    json!({
        "moniker": "Jakarta One", "operatorAddress": operator, "email": "ops@example.org",
        "stakeAmount": "100000", "commission": 5,
    })
    .to_string()
}

/// Calls that succeed: one or more for every operation.
fn successes(tx: &str, token: &str) -> Vec<Call> {
    let validator = first_validator();
    vec![
        get("getHealth", "/health"),
        get("getReadiness", "/ready"),
        get("getChain", "/api/v1/chain"),
        get("listBlocks", "/api/v1/blocks?limit=1"),
        get("getLatestBlock", "/api/v1/blocks/latest"),
        get("getLatestBlock", "/api/v1/blocks/latest?include=transactions"),
        get("getBlock", "/api/v1/blocks/0"),
        get("getBlock", "/api/v1/blocks/1?include=transactions"),
        get("getTransaction", format!("/api/v1/transactions/{tx}")),
        get("getAccount", format!("/api/v1/accounts/{validator}")),
        get("getAccount", format!("/api/v1/accounts/{FRIEND}")),
        get("listAccountTransactions", format!("/api/v1/accounts/{FRIEND}/transactions")),
        get("listValidators", "/api/v1/validators"),
        get("getRanking", "/api/v1/validators/ranking"),
        get("getProgram", "/api/v1/validators/program"),
        get("getExpansion", "/api/v1/validators/expansion"),
        get("getValidator", format!("/api/v1/validators/{validator}")),
        post("createApplication", "/api/v1/validators/applications", application(FRIEND)),
        post("confirmApplicationEmail", CONFIRM, json!({ "token": token }).to_string()),
        get("getNetwork", "/api/v1/network"),
        get("listContracts", "/api/v1/network/contracts"),
        get("listNetworks", "/api/v1/network/all"),
        get("getBurns", "/api/v1/fees/burns"),
        get("getBurns", "/api/v1/fees/burns?interval=day"),
        get("search", "/api/v1/search?q=1"),
        get("getOpenapi", "/api/v1/openapi.json"),
        get("getDocs", "/api/v1/docs"),
        get("getGraphqlSchema", "/api/v1/graphql-schema"),
        get("getGraphql", "/graphql"),
        post("postGraphql", "/graphql", r#"{"query":"{ chainStats { blockNumber } }"}"#),
    ]
}

/// Calls that are refused for what they say.
fn refusals() -> Vec<Call> {
    let nobody = "0x00000000000000000000000000000000000000aa";
    let no_hash = format!("0x{}", "ab".repeat(32));
    let applications = "/api/v1/validators/applications";
    let mut calls = vec![
        get("listBlocks", "/api/v1/blocks?limit=0"),
        get("listBlocks", "/api/v1/blocks?cursor=x"),
        get("listBlocks", "/api/v1/blocks?limit=1&limit=1"),
        get("listBlocks", "/api/v1/blocks?x=1"),
        get("getLatestBlock", "/api/v1/blocks/latest?include=x"),
        get("getLatestBlock", "/api/v1/blocks/latest?x=1"),
        get("getBlock", "/api/v1/blocks/x"),
        get("getBlock", "/api/v1/blocks/0?include=x"),
        get("getBlock", "/api/v1/blocks/0?x=1"),
        get("getBlock", "/api/v1/blocks/99"),
        get("getTransaction", "/api/v1/transactions/x"),
        get("getTransaction", format!("/api/v1/transactions/{no_hash}")),
        get("getAccount", "/api/v1/accounts/x"),
        get("getValidator", "/api/v1/validators/x"),
        get("getValidator", format!("/api/v1/validators/{nobody}")),
        post("createApplication", applications, "{"),
        post("createApplication", applications, application(FRIEND)),
        post("createApplication", applications, format!("\"{}\"", "a".repeat(20_000))),
        Call { media_type: "text/plain", ..post("createApplication", applications, "{}") },
        post("createApplication", applications, "{}"),
        post("createApplication", applications, r#"{"x":1}"#),
        get("getApplication", "/api/v1/validators/applications/x"),
        post("confirmApplicationEmail", CONFIRM, "{"),
        post("confirmApplicationEmail", CONFIRM, r#"{"token":"x"}"#),
        post("confirmApplicationEmail", CONFIRM, format!("\"{}\"", "a".repeat(20_000))),
        Call { media_type: "text/plain", ..post("confirmApplicationEmail", CONFIRM, "{}") },
        post("confirmApplicationEmail", CONFIRM, "{}"),
        post("confirmApplicationEmail", CONFIRM, r#"{"x":1}"#),
        get("getBurns", "/api/v1/fees/burns?interval=x"),
        get("getBurns", "/api/v1/fees/burns?x=1"),
        get("search", "/api/v1/search?q="),
        get("search", "/api/v1/search?x=1"),
        post("postGraphql", "/graphql", "{"),
        post("postGraphql", "/graphql", format!("\"{}\"", "a".repeat(40_000))),
        Call { media_type: "text/plain", ..post("postGraphql", "/graphql", "{}") },
    ];
    for query in ["limit=0", "cursor=x", "limit=1&limit=1", "x=1"] {
        calls.push(get("listAccountTransactions", format!("/api/v1/accounts/{FRIEND}/transactions?{query}")));
    }
    calls.push(get("listAccountTransactions", "/api/v1/accounts/x/transactions"));
    calls
}

/// A document, and what of it was seen to happen.
pub(crate) struct Walk {
    document: Value,
    seen: BTreeSet<Outcome>,
}

/// What the tags of the portal's operations begin with. Its tests walk them, a tag at a time.
pub(crate) const PORTAL: &str = "Portal ";
/// The tags that they walk.
const PORTAL_TAGS: [&str; 8] = [
    "Portal sessions",
    "Portal keys",
    "Portal orders",
    "Portal invoices",
    "Portal payment",
    "Portal dashboard",
    "Portal summary",
    "Portal webhooks",
];

impl Walk {
    pub(crate) fn new(document: Value) -> Self {
        Self { document, seen: BTreeSet::new() }
    }

    /// A walk through the operations whose tag is wanted.
    pub(crate) fn of(mut document: Value, is_wanted: impl Fn(&str) -> bool) -> Self {
        let paths = document["paths"].as_object_mut().unwrap();
        for item in paths.values_mut() {
            let item = item.as_object_mut().unwrap();
            item.retain(|_, operation| is_wanted(operation["tags"][0].as_str().unwrap()));
        }
        Self::new(document)
    }

    /// Takes note of an answer, after holding it against its schema.
    pub(crate) fn note(&mut self, operation: &str, path: &str, reply: &Reply) {
        let outcome = self.check(operation, path, reply);
        self.seen.insert(outcome);
    }

    /// Fails if something is described that was never seen.
    pub(crate) fn finish(&self) {
        let described = described(&self.document);
        let missing: Vec<_> = described.difference(&self.seen).collect();
        assert!(missing.is_empty(), "described but never seen: {missing:#?}");
    }

    async fn call(&mut self, rig: &Rig, call: &Call) -> Reply {
        let headers: &[(&str, &str)] =
            if call.body.is_some() { &[("content-type", call.media_type)] } else { &[] };
        let reply = rig.ask(call.method, &call.path, headers, call.body.clone().unwrap_or_default()).await;
        self.note(call.operation, &call.path, &reply);
        reply
    }

    /// Holds an answer against its schema.
    fn check(&self, operation: &str, path: &str, reply: &Reply) -> Outcome {
        let status = reply.status.as_u16();
        let described = self.operation(operation)["responses"][status.to_string()].clone();
        assert!(described.is_object(), "{path} answered {status}: {reply:?}");
        if reply.body.is_empty() {
            assert!(described["content"].is_null(), "{path} answered nothing with {status}");
            return (operation.to_owned(), status, None);
        }
        let media_type = reply.header("content-type").unwrap().split(';').next().unwrap();
        let body = &described["content"][media_type];
        assert!(body.is_object(), "{path} answered {media_type} with {status}");
        if media_type.ends_with("json") {
            self.validate(&body["schema"], &reply.json(), path);
        }
        let code = reply.header("content-type") == Some("application/problem+json");
        let code = code.then(|| reply.json()["code"].as_str().unwrap().to_owned());
        (operation.to_owned(), status, code)
    }

    fn operation(&self, id: &str) -> &Value {
        let mut operations = operations(&self.document);
        operations
            .find(|operation| operation["operationId"] == id)
            .unwrap_or_else(|| panic!("no operation {id}"))
    }

    fn validate(&self, schema: &Value, instance: &Value, path: &str) {
        let faults = schema::faults(&self.document, schema, instance);
        assert!(faults.is_empty(), "{path}: {faults:#?}\n{instance:#}");
    }
}

fn operations(document: &Value) -> impl Iterator<Item = &Value> {
    document["paths"].as_object().unwrap().values().flat_map(|item| item.as_object().unwrap().values())
}

/// Everything that the document says may happen.
fn described(document: &Value) -> BTreeSet<Outcome> {
    let mut outcomes = BTreeSet::new();
    for operation in operations(document) {
        let id = operation["operationId"].as_str().unwrap();
        for (status, response) in operation["responses"].as_object().unwrap() {
            let status: u16 = status.parse().unwrap();
            let codes = &response["content"]["application/problem+json"]["schema"]["allOf"][1]["properties"]
                ["code"]["enum"];
            match codes.as_array() {
                Some(codes) => {
                    let codes = codes.iter().map(|code| code.as_str().unwrap().to_owned());
                    outcomes.extend(codes.map(|code| (id.to_owned(), status, Some(code))));
                }
                None => {
                    outcomes.insert((id.to_owned(), status, None));
                }
            }
        }
    }
    outcomes.retain(|(_, _, code)| code.as_deref().is_none_or(|code| !INNER.contains(&code)));
    outcomes
}

async fn every_operation_answers_as_it_is_described(test: &TestDb) {
    let rig = Rig::new(test).await;
    let tx = rig.transfer(0, 0, 1).to_string();
    // A call, too: only that has a method.
    let (friend, input) = (FRIEND.parse::<Address>().unwrap(), bytes!("a9059cbb"));
    rig.send(0, 1, friend.into(), U256::ZERO, input);
    let document = rig.get("/api/v1/openapi.json").await.json();
    let mut walk = Walk::of(document, |tag| !tag.starts_with(PORTAL));
    walk.call(&rig, &get("getTransaction", format!("/api/v1/transactions/{tx}"))).await;
    rig.mine().await;
    let token = asked_address(&rig).await;
    let mut location = String::new();
    for call in successes(&tx, &token) {
        let reply = walk.call(&rig, &call).await;
        assert!(reply.status.is_success(), "{}: {reply:?}", call.path);
        location = reply.header("location").map_or(location, str::to_owned);
    }
    walk.call(&rig, &get("getApplication", location.clone())).await;
    for call in refusals() {
        let reply = walk.call(&rig, &call).await;
        assert!(reply.status.is_client_error(), "{}: {reply:?}", call.path);
    }
    for mut call in successes(&tx, &token).into_iter().chain([get("getApplication", location.clone())]) {
        call.path = format!("{}?{}", call.path, "x".repeat(2048));
        let reply = walk.call(&rig, &call).await;
        assert_eq!(reply.status.as_u16(), 414, "{}", call.operation);
    }
    // The same calls when nobody answers behind the API, and when nobody may call. A new block makes kept answers stale.
    rig.mine().await;
    rig.db.close().await;
    for call in successes(&tx, &token).into_iter().chain([get("getApplication", location.clone())]) {
        walk.call(&rig, &call).await;
    }
    rig.node.cut(true);
    for mut call in successes(&tx, &token) {
        // Names that no kept answer has.
        call.path =
            call.path.replace("/blocks/0", "/blocks/00").replace(&tx, &tx.to_uppercase().replace("0X", "0x"));
        walk.call(&rig, &call).await;
    }
    let closed = Rig::with(
        test,
        EdgeConfig { requests_per_minute: 0, developer_key_requests_per_minute: 0, ..EdgeConfig::default() },
    )
    .await;
    for call in successes(&tx, &token).into_iter().chain([get("getApplication", location)]) {
        walk.call(&closed, &call).await;
    }
    walk.finish();
}

/// The token of a link that was sent to an applicant.
async fn asked_address(rig: &Rig) -> String {
    let draft = ApplicationDraft {
        moniker: "Jakarta Two".to_owned(),
        operator_address: "0x00000000000000000000000000000000000000bb".to_owned(),
        email: "two@example.org".to_owned(),
        stake_amount: "100000".to_owned(),
        commission: 5.0,
        website: None,
        region: None,
        message: None,
    };
    let now = u64::try_from(rig.clock.now().as_millisecond()).unwrap();
    Applications::new(rig.db.clone(), true).submit(&draft, None, now).await.unwrap();
    rig.db.take_due_mail(now, now, 1).await.unwrap().remove(0).confirmation.unwrap()
}

#[test]
fn the_committed_documents_are_those_of_the_handlers() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let documents = [
        ("openapi.json", chainnet_api::openapi_document()),
        ("openapi.faucet.json", chainnet_api::faucet_openapi_document()),
        ("schema.graphql", chainnet_api::graphql_schema()),
    ];
    for (name, made) in documents {
        let path = format!("{root}/{name}");
        if std::env::var_os("UPDATE_DOCUMENTS").is_some() {
            std::fs::write(&path, &made).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            committed == made,
            "{name} is out of date: run the test with UPDATE_DOCUMENTS=1 and commit the file"
        );
    }
}

#[test]
fn every_operation_of_the_portal_is_walked() {
    let document: Value = serde_json::from_str(&chainnet_api::openapi_document()).unwrap();
    let tags = operations(&document).map(|operation| operation["tags"][0].as_str().unwrap());
    let portal: BTreeSet<&str> = tags.filter(|tag| tag.starts_with(PORTAL)).collect();
    assert_eq!(portal, BTreeSet::from(PORTAL_TAGS));
}

#[test]
fn every_operation_says_what_it_does_and_shows_an_example() {
    let texts = [chainnet_api::openapi_document(), chainnet_api::faucet_openapi_document()];
    let documents = texts.map(|text| serde_json::from_str::<Value>(&text).unwrap());
    for operation in documents.iter().flat_map(operations) {
        assert!(!operation["summary"].as_str().unwrap().is_empty(), "{operation}");
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            assert!(parameter["description"].is_string(), "{parameter}");
        }
        for (status, response) in operation["responses"].as_object().unwrap() {
            for (media_type, body) in response["content"].as_object().into_iter().flatten() {
                let is_open = body["schema"] == json!({ "type": "object" });
                if media_type == "application/json" && status.starts_with('2') && !is_open {
                    assert!(body["example"].is_object(), "{} {status}", operation["operationId"]);
                }
            }
        }
    }
}
