//! The table of methods, and groups that are off.

use std::collections::BTreeSet;

use serde_json::json;

use super::Rig;
use crate::rpc::{ApiGroups, Group, RpcConfig, method_entries};

#[test]
fn names_are_unique_and_carry_their_groups_prefix() {
    let mut names = BTreeSet::new();
    for entry in method_entries() {
        assert!(names.insert(entry.name), "{} is there twice", entry.name);
        assert_eq!(entry.name.split_once('_').unwrap().0, entry.group.name());
        assert!(!entry.summary.is_empty());
    }
}

#[test]
fn groups_are_read_by_their_names_in_any_case() {
    for group in Group::ALL {
        assert_eq!(group.name().to_uppercase().parse(), Ok(group));
    }
    assert!("miner".parse::<Group>().is_err());
}

#[tokio::test]
async fn methods_of_a_group_that_is_off_are_not_enabled_and_unknown_ones_not_found() {
    let config = RpcConfig { groups: ApiGroups::public(), ..RpcConfig::default() };
    let rig = Rig::start_with(config).await;
    for entry in method_entries() {
        if !ApiGroups::public().contains(entry.group) {
            let failure = rig.fail(entry.name, json!([])).await;
            assert_eq!(failure, (-32604, "Method not enabled".to_owned()), "{}", entry.name);
        }
    }
    assert_eq!(rig.fail("eth_nothing", json!([])).await, (-32601, "Method not found".to_owned()));
    assert_eq!(
        rig.get("rpc_modules", json!([])).await,
        json!({ "eth": "1.0", "net": "1.0", "rpc": "1.0", "web3": "1.0" })
    );
}

#[tokio::test]
async fn no_method_minds_wrong_parameters() {
    let rig = Rig::start().await;
    let odd = [
        json!([]),
        json!({}),
        json!("x"),
        json!([null]),
        json!(["x", "x", "x", "x"]),
        json!([{}, {}, {}, {}]),
        json!([[], [], []]),
        json!([1, 2, 3, 4, 5]),
        json!(["0x", "0x", true]),
        json!(["latest", true, -1]),
    ];
    for entry in method_entries() {
        for params in &odd {
            if let Err(failure) = rig.call(entry.name, params.clone()).await {
                assert_ne!(failure.code, -32603, "{} {params}", entry.name);
            }
        }
    }
}
