//! Calls, estimates and access lists.

use alloy_primitives::{Bytes, U256, hex};
use alloy_sol_types::{Panic, Revert, SolError};
use serde_json::json;

use super::{ANSWER, Failure, HALT, LOG, LOOP, REVERT, Rig};

#[tokio::test]
async fn a_call_returns_its_output() {
    let rig = Rig::start().await;
    let forty_two = format!("0x{:064x}", 42);
    for params in [
        json!([{ "to": ANSWER }, "latest"]),
        json!([{ "to": ANSWER }]),
        json!([{ "to": ANSWER }, "pending"]),
        json!([{ "to": ANSWER, "from": rig.user.address(), "data": "0x" }, "0x0"]),
        json!([{ "data": "0x602a60005260206000f3" }, "latest"]),
    ] {
        assert_eq!(rig.get("eth_call", params.clone()).await, forty_two, "{params}");
    }
}

#[tokio::test]
async fn a_call_can_pretend_another_state() {
    let rig = Rig::start().await;
    let code = json!({ REVERT.to_string(): { "code": "0x602b60005260206000f3" } });
    let answer = rig.get("eth_call", json!([{ "to": REVERT }, "latest", code])).await;
    assert_eq!(answer, format!("0x{:064x}", 43));
}

#[tokio::test]
async fn a_reverted_call_tells_reason_and_data() {
    let rig = Rig::start().await;
    let error = Revert::from("not \"today\"").abi_encode();
    let panic = Panic { code: U256::from(0x11) }.abi_encode();
    for (input, message) in [
        (error, "Execution reverted: not \"today\""),
        (panic, "Execution reverted: panic 0x11: arithmetic underflow or overflow"),
        (vec![1, 2, 3, 4], "Execution reverted"),
        (vec![], "Execution reverted"),
    ] {
        let input = Bytes::from(input);
        let expected = Failure {
            code: -32000,
            message: message.to_owned(),
            data: Some(json!(hex::encode_prefixed(&input))),
        };
        for method in ["eth_call", "eth_estimateGas"] {
            let failure = rig.call(method, json!([{ "to": REVERT, "input": input }, "latest"])).await;
            assert_eq!(
                failure,
                Err(Failure { data: expected.data.clone(), message: message.to_owned(), code: -32000 })
            );
        }
    }
}

#[tokio::test]
async fn a_halted_call_is_an_internal_error_and_the_gas_cap_ends_loops() {
    let rig = Rig::start().await;
    for to in [HALT, LOOP, LOOP] {
        let failure = rig.fail("eth_call", json!([{ "to": to }, "latest"])).await;
        assert_eq!(failure, (-32603, "Internal error".to_owned()));
    }
}

#[tokio::test]
async fn gas_is_estimated_for_the_next_block() {
    let rig = Rig::start().await;
    let user = rig.user.address();
    assert_eq!(
        rig.get("eth_estimateGas", json!([{ "from": user, "to": user, "value": "0x1" }])).await,
        "0x5208"
    );
    let gas =
        rig.get("eth_estimateGas", json!([{ "from": user, "to": LOG, "data": "0x01" }, "pending"])).await;
    let gas = u64::from_str_radix(&gas.as_str().unwrap()[2..], 16).unwrap();
    assert!((21_000..30_000).contains(&gas), "{gas}");
}

#[tokio::test]
async fn an_access_list_is_made() {
    let rig = Rig::start().await;
    let list = rig.get("eth_createAccessList", json!([{ "from": rig.user.address(), "to": ANSWER }])).await;
    assert!(list["accessList"].is_array());
    assert!(list["gasUsed"].is_string());
}
