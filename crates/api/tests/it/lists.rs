//! Lists: pages, cursors, and fees.

use alloy_primitives::{TxKind, U256};
use alloy_sol_types::SolCall;
use chain::{At, ChainClient};
use contracts::{PlatformFees, address::FEES, fees::FeeSource};
use serde_json::{Value, json};
use store::testing::TestDb;

use crate::rig::{FRIEND, Rig, on_both_engines};

on_both_engines! {
    blocks_come_newest_first_each_once_while_new_ones_arrive,
    an_accounts_transactions_come_newest_first_each_once,
    burns_are_what_was_paid_and_equal_the_contract,
    misspelt_and_wrong_parameters_are_refused_not_ignored,
}

/// All items of a list, page by page.
async fn all_pages(rig: &Rig, path: &str, items: &str, limit: usize) -> Vec<Value> {
    let mut all = Vec::new();
    let mut next = format!("{path}?limit={limit}");
    loop {
        let page = rig.get(&next).await.json();
        let found = page[items].as_array().unwrap();
        assert!(found.len() <= limit);
        all.extend(found.iter().cloned());
        match page["nextCursor"].as_str() {
            Some(cursor) => next = format!("{path}?limit={limit}&cursor={cursor}"),
            None => return all,
        }
    }
}

async fn blocks_come_newest_first_each_once_while_new_ones_arrive(test: &TestDb) {
    let rig = Rig::new(test).await;
    for _ in 0..7 {
        rig.mine().await;
    }
    let first = rig.get("/api/v1/blocks?limit=3").await.json();
    rig.mine().await;
    let cursor = first["nextCursor"].as_str().unwrap();
    let second = rig.get(&format!("/api/v1/blocks?limit=3&cursor={cursor}")).await.json();
    let numbers = |page: &Value| -> Vec<u64> {
        page["blocks"].as_array().unwrap().iter().map(|block| block["number"].as_u64().unwrap()).collect()
    };
    assert_eq!((numbers(&first), numbers(&second)), (vec![7, 6, 5], vec![4, 3, 2]));
    let all = all_pages(&rig, "/api/v1/blocks", "blocks", 4).await;
    let numbers: Vec<u64> = all.iter().map(|block| block["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..=8).rev().collect::<Vec<_>>());
    assert_eq!(all[0]["hash"], rig.get("/api/v1/blocks/8").await.json()["hash"]);
}

async fn an_accounts_transactions_come_newest_first_each_once(test: &TestDb) {
    let rig = Rig::new(test).await;
    let mut sent = Vec::new();
    for nonce in 0..5 {
        sent.push(rig.transfer(0, nonce, 1).to_string());
        if nonce % 2 == 1 {
            rig.mine().await;
        }
    }
    rig.mine().await;
    let path = format!("/api/v1/accounts/{FRIEND}/transactions");
    let all = all_pages(&rig, &path, "transactions", 2).await;
    let hashes: Vec<String> = all.iter().map(|tx| tx["hash"].as_str().unwrap().to_owned()).collect();
    sent.reverse();
    assert_eq!(hashes, sent);
    assert!(all.iter().all(|tx| tx["direction"] == "in" && tx["value"] == "1"));
    let full = rig.get(&format!("/api/v1/transactions/{}", hashes[0])).await.json();
    for same in
        ["hash", "status", "blockNumber", "index", "from", "to", "valueWei", "feeWei", "timestamp", "nonce"]
    {
        assert_eq!(all[0][same], full[same], "{same}");
    }
    let nobody =
        rig.get("/api/v1/accounts/0x00000000000000000000000000000000000000aa/transactions").await.json();
    assert_eq!((&nobody["transactions"], &nobody["nextCursor"]), (&json!([]), &Value::Null));
}

async fn burns_are_what_was_paid_and_equal_the_contract(test: &TestDb) {
    let rig = Rig::new(test).await;
    let empty = rig.get("/api/v1/fees/burns").await.json();
    assert_eq!(empty["policy"], json!({ "burnPercent": 30, "holdPercent": 70 }));
    assert_eq!(empty["sources"].as_array().unwrap().len(), 7, "every source, zero included");
    let pay = |nonce, source: FeeSource, wei: u64| {
        let input = PlatformFees::payCall { source: source.id(), r#ref: Default::default() }.abi_encode();
        rig.send(0, nonce, TxKind::Call(FEES), U256::from(wei), input.into())
    };
    pay(0, FeeSource::Bridge, 1_000);
    pay(1, FeeSource::Bridge, 101);
    pay(2, FeeSource::DeveloperPortal, 10);
    rig.mine().await;
    let burns = rig.get("/api/v1/fees/burns?interval=day").await.json();
    assert_eq!(burns["totals"]["collectedWei"], "1111");
    assert_eq!(burns["totals"]["payments"], 3);
    let bridge =
        burns["sources"].as_array().unwrap().iter().find(|source| source["source"] == "bridge").unwrap();
    assert_eq!(
        (&bridge["burnedWei"], &bridge["heldWei"]),
        (&json!("330"), &json!("771")),
        "rounding goes to held"
    );
    let output =
        rig.node.call(FEES, PlatformFees::getTotalsCall {}.abi_encode().into(), At::Head).await.unwrap();
    let counted = PlatformFees::getTotalsCall::abi_decode_returns(&output).unwrap();
    for (name, amount) in
        [("collectedWei", counted.paid), ("burnedWei", counted.burned), ("heldWei", counted.held)]
    {
        assert_eq!(burns["totals"][name], amount.to_string(), "{name}");
    }
    assert_eq!(burns["totals"]["payments"], counted.count);
    assert_eq!(burns["history"].as_array().unwrap().len(), 1);
    assert_eq!(burns["history"][0]["totals"]["collectedWei"], "1111");
    assert_eq!(rig.get("/api/v1/fees/burns").await.json()["history"], Value::Null);
    let graphql =
        rig.graphql("{ burns { totals { collectedWei } sources { source heldWei } } }").await.json();
    assert_eq!(graphql["data"]["burns"]["totals"]["collectedWei"], "1111");
}

async fn misspelt_and_wrong_parameters_are_refused_not_ignored(test: &TestDb) {
    let rig = Rig::new(test).await;
    for (path, code) in [
        ("/api/v1/blocks?limit=0", "invalid_limit"),
        ("/api/v1/blocks?limit=101", "invalid_limit"),
        ("/api/v1/blocks?limit=ten", "invalid_limit"),
        ("/api/v1/blocks?cursor=x", "invalid_cursor"),
        ("/api/v1/blocks?cursor=dDoxOjA", "invalid_cursor"),
        ("/api/v1/blocks?curser=YjoxMDIz", "unknown_parameter"),
        ("/api/v1/blocks?limit=5&limit=6", "invalid_parameter"),
        ("/api/v1/blocks/0?include=everything", "invalid_parameter"),
        ("/api/v1/blocks/latest?includes=transactions", "unknown_parameter"),
        ("/api/v1/fees/burns?interval=week", "invalid_parameter"),
        ("/api/v1/search", "invalid_parameter"),
        ("/api/v1/search?q=%ff", "invalid_parameter"),
    ] {
        assert_eq!(rig.get(path).await.refusal(), (400, code.to_owned()), "{path}");
    }
    let future = "YjoxMDIz";
    assert_eq!(rig.get(&format!("/api/v1/blocks?cursor={future}")).await.json()["blocks"][0]["number"], 0);
    assert_eq!(
        rig.get("/api/v1/chain?_=1").await.status,
        200,
        "a resource without parameters ignores its query"
    );
}
