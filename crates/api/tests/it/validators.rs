//! Validators, the program, and applications.

use serde_json::{Value, json};
use store::testing::TestDb;

use crate::rig::{Rig, first_validator, on_both_engines};

on_both_engines! {
    validators_are_listed_ranked_and_told_in_full,
    a_stopped_validator_loses_uptime_and_shows_its_missed_turns,
    the_program_and_its_expansion_are_told,
    an_application_is_received_once_and_followed_without_its_email,
    every_fault_of_an_application_is_named,
    static_segments_win_over_addresses,
}

const OPERATOR: &str = "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65";

fn application() -> Value {
    json!({
        "moniker": "Jakarta One",
        "operatorAddress": OPERATOR,
        "email": "ops@example.org",
        "stakeAmount": "100000",
        "commission": 5,
        "region": "ID-JK",
    })
}

async fn validators_are_listed_ranked_and_told_in_full(test: &TestDb) {
    let rig = Rig::new(test).await;
    for _ in 0..5 {
        rig.mine().await;
    }
    let list = rig.get("/api/v1/validators").await.json();
    assert_eq!((&list["count"], &list["active"], &list["asOfBlock"]), (&json!(5), &json!(5), &json!(5)));
    let first = &list["validators"][0];
    assert_eq!(
        (&first["stake"], &first["commission"], &first["status"]),
        (&json!("100000"), &json!(5.0), &json!("ACTIVE"))
    );
    assert_eq!((&first["uptime24h"], &first["proposedBlocks"]), (&json!(100.0), &json!(1)));
    let ranking = rig.get("/api/v1/validators/ranking").await.json();
    let ranks: Vec<u64> =
        ranking["ranking"].as_array().unwrap().iter().map(|entry| entry["rank"].as_u64().unwrap()).collect();
    assert_eq!(ranks, [1, 2, 3, 4, 5]);
    assert_eq!(ranking["method"]["weights"]["uptime"], 45);
    let address = first["address"].as_str().unwrap();
    let detail = rig.get(&format!("/api/v1/validators/{address}")).await.json();
    for (name, value) in first.as_object().unwrap() {
        assert_eq!(&detail[name], value, "{name}");
    }
    assert_eq!(detail["recentTurns"][0]["outcome"], "kept");
    assert_eq!(detail["ranking"]["address"], first["address"]);
}

async fn a_stopped_validator_loses_uptime_and_shows_its_missed_turns(test: &TestDb) {
    let rig = Rig::new(test).await;
    rig.control.stop_validator("V1").await.unwrap();
    for _ in 0..10 {
        rig.mine().await;
    }
    let path = format!("/api/v1/validators/{}", first_validator());
    let detail = rig.get(&path).await.json();
    assert!(detail["missedTurns"].as_u64().unwrap() >= 1, "{detail}");
    assert_eq!(detail["uptime24h"], 0.0);
    assert_eq!(detail["recentTurns"][0]["outcome"], "missed");
    rig.control.start_validator("V1").await.unwrap();
    for _ in 0..10 {
        rig.mine().await;
    }
    let detail = rig.get(&path).await.json();
    assert!(detail["uptime24h"].as_f64().unwrap() > 0.0, "{detail}");
}

async fn the_program_and_its_expansion_are_told(test: &TestDb) {
    let rig = Rig::new(test).await;
    let program = rig.get("/api/v1/validators/program").await.json();
    assert_eq!((&program["minStake"], &program["maxCommission"]), (&json!("100000"), &json!(20.0)));
    assert_eq!(program["hardware"], json!({ "cpu": 4, "ramGb": 16, "ssdGb": 500, "mbps": 100 }));
    assert_eq!(program["phases"][0]["status"], "Aktif");
    let expansion = rig.get("/api/v1/validators/expansion").await.json();
    for (name, value) in [("phase", 1), ("current", 5), ("max", 5), ("target", 21), ("openSlots", 0)] {
        assert_eq!(expansion[name], value, "{name}");
    }
    assert_eq!(expansion["communityOpen"], expansion["communityRegistrationOpen"]);
    assert_eq!(expansion["votes"], json!([]));
}

async fn an_application_is_received_once_and_followed_without_its_email(test: &TestDb) {
    let rig = Rig::new(test).await;
    let created = rig.post("/api/v1/validators/applications", application().to_string()).await;
    assert_eq!(created.status, 201, "{created:?}");
    let location = created.header("location").unwrap().to_owned();
    let view = created.json();
    assert_eq!((&view["state"], &view["operatorAddress"]), (&json!("submitted"), &json!(OPERATOR)));
    let followed = rig.get(&location).await;
    assert_eq!(followed.header("cache-control"), Some("no-store"));
    assert_eq!(followed.json(), view);
    assert!(!String::from_utf8_lossy(&followed.body).contains("ops@example.org"));
    let again = rig.post("/api/v1/validators/applications", application().to_string()).await;
    assert_eq!(again.refusal(), (409, "application_exists".to_owned()));
}

async fn every_fault_of_an_application_is_named(test: &TestDb) {
    let rig = Rig::new(test).await;
    let post = |body: Value| rig.post("/api/v1/validators/applications", body.to_string());
    let mut unknown = application();
    unknown["stakeAmout"] = json!("100000");
    let reply = post(unknown).await;
    assert_eq!(reply.refusal(), (422, "unknown_field".to_owned()));
    assert_eq!(reply.json()["errors"][0]["field"], "stakeAmout");
    let reply = post(json!({ "moniker": 7, "commission": "5" })).await;
    assert_eq!(reply.refusal(), (422, "validation_failed".to_owned()));
    let codes: Vec<(Value, Value)> = reply.json()["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| (error["field"].clone(), error["code"].clone()))
        .collect();
    assert!(codes.contains(&(json!("moniker"), json!("wrong_type"))), "{codes:?}");
    assert!(codes.contains(&(json!("email"), json!("required"))), "{codes:?}");
    let mut low = application();
    low["stakeAmount"] = json!("99999.9");
    low["commission"] = json!(21);
    let reply = post(low).await;
    assert_eq!(reply.refusal(), (422, "validation_failed".to_owned()));
    assert_eq!(reply.json()["errors"].as_array().unwrap().len(), 2);
    for body in ["", "{", "[]", "7", "null"] {
        let reply = rig.post("/api/v1/validators/applications", body).await;
        assert_eq!(reply.refusal(), (400, "invalid_json".to_owned()), "{body}");
    }
}

async fn static_segments_win_over_addresses(test: &TestDb) {
    let rig = Rig::new(test).await;
    for path in ["ranking", "program", "expansion"] {
        assert_eq!(rig.get(&format!("/api/v1/validators/{path}")).await.status, 200, "{path}");
    }
    assert_eq!(rig.get("/api/v1/validators/rankings").await.refusal(), (400, "invalid_address".to_owned()));
    let nobody = "/api/v1/validators/0x00000000000000000000000000000000000000aa";
    assert_eq!(rig.get(nobody).await.refusal(), (404, "validator_not_found".to_owned()));
    assert_eq!(
        rig.get("/api/v1/validators/applications").await.refusal(),
        (405, "method_not_allowed".to_owned())
    );
    for id in ["x", "app_0192f00d0192f00d0192f00d0192f00d"] {
        let refusal = rig.get(&format!("/api/v1/validators/applications/{id}")).await.refusal();
        assert_eq!(refusal, (404, "application_not_found".to_owned()));
    }
}
