//! `chainnet registry` on a running chain.

use ::contracts::{
    PlatformValidatorRegistry as Registry, SafeL2,
    address::{REGISTRY, TREASURY},
};
use alloy_primitives::{Address, B256, U256, keccak256};
use alloy_signer::SignerSync;
use alloy_signer_local::PrivateKeySigner;
use alloy_sol_types::SolCall;
use domain::devnet::{self, DevRole, role_key};
use serde_json::{Value, json};
use testkit::{Besu, BesuSettings, Draft, RpcClient, Wallet};

use super::{
    keeper::pooled,
    sixth::{mining, registry},
};
use crate::rig::{chainnet, on_demand};

fn admin() -> B256 {
    devnet::ACCOUNTS[0].key
}

fn keeper() -> B256 {
    role_key(DevRole::Keeper)
}

/// The operator of the first genesis validator.
fn first() -> String {
    let key = role_key(DevRole::Validator(0));
    Wallet::from_key(key).expect("a key").address().to_string()
}

async fn json_of(node: &RpcClient, key: B256, words: &[&str]) -> Value {
    let words: Vec<&str> = words.iter().copied().chain(["--json"]).collect();
    serde_json::from_str(&registry(node, key, &words).await.success()).expect("JSON")
}

fn change<'a>(answer: &'a Value, field: &str) -> Option<(&'a str, &'a str)> {
    let changes = answer["changes"].as_array().expect("changes");
    let change = changes.iter().find(|change| change["field"] == field)?;
    Some((change["before"].as_str()?, change["after"].as_str()?))
}

#[tokio::test]
async fn a_dry_run_foretells_what_then_happens() {
    let node = on_demand().await;
    let node = node.client();
    let operator = first();
    let cases: [(B256, &[&str]); 8] = [
        (admin(), &["expand", "2"]),
        (admin(), &["open-registration", "false"]),
        (admin(), &["set-max", "7"]),
        (admin(), &["approve", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"]),
        (admin(), &["distribute", &operator, "12.5"]),
        (keeper(), &["slash", &operator, "downtime"]),
        (keeper(), &["withdraw-penalties"]),
        (admin(), &["remove", &operator, "it was slashed"]),
    ];
    for (key, words) in cases {
        let head = node.block_number().await.expect("a height");
        let told = json_of(node, key, &[words, &["--dry-run"][..]].concat()).await;
        assert_eq!((&told["sent"], &told["to"]), (&json!(false), &json!(REGISTRY.to_string())), "{told}");
        let done = json_of(node, key, words).await;
        assert!(done["block"].as_u64() > Some(head), "{done}");
        let fields = |answer: &Value| {
            let changes = answer["changes"].as_array().expect("changes").clone();
            // Times are of the block, which is a little later than the dry run's.
            let lasting =
                |change: &Value| !["jailedUntil", "withdrawableAt"].iter().any(|f| change["field"] == *f);
            changes.into_iter().filter(lasting).collect::<Vec<_>>()
        };
        assert_eq!(fields(&told), fields(&done), "{words:?}");
        assert!(!fields(&done).is_empty(), "{words:?}");
    }
    let status: Value = json_of(node, admin(), &["status"]).await;
    assert_eq!(
        (&status["phase"], &status["max"], &status["communityOpen"]),
        (&json!(2), &json!("7"), &json!(false))
    );
    let shown = registry(node, admin(), &["show", &operator]).await.success();
    assert!(shown.contains("REMOVED") && shown.contains("12.5") && shown.contains("99000"), "{shown}");
}

#[tokio::test]
async fn an_operator_registers_names_its_node_earns_and_leaves() {
    let node = on_demand().await;
    let node = node.client();
    let bob = devnet::ACCOUNTS[3];
    let closed = registry(node, bob.key, &["register", "Bob"]).await.failure();
    assert!(closed.contains("ValidatorRegistryNotApproved"), "{closed}");
    registry(node, admin(), &["set-max", "6"]).await.success();
    registry(node, admin(), &["approve", &bob.address.to_string()]).await.success();
    let joined = json_of(node, bob.key, &["register", "Bob", "--website", "https://bob.example"]).await;
    assert_eq!(change(&joined, "stake"), Some(("0", "100000")));
    assert_eq!(change(&joined, "status"), Some(("NONE", "ACTIVE")));
    let consensus = Address::repeat_byte(0x66).to_string();
    registry(node, bob.key, &["set-consensus-address", &consensus]).await.success();
    registry(node, admin(), &["distribute", &bob.address.to_string(), "1.5"]).await.success();
    let paid = json_of(node, bob.key, &["claim"]).await;
    assert_eq!(change(&paid, "rewards"), Some(("1.5", "0")));
    registry(node, bob.key, &["exit"]).await.success();
    let locked = registry(node, bob.key, &["withdraw"]).await.failure();
    assert!(locked.contains("locked until") && locked.contains("ValidatorRegistryStakeLocked"), "{locked}");
    node.call::<Value>("evm_increaseTime", json!([7 * 24 * 3600])).await.expect("time passes");
    node.mine().await.expect("a block");
    let free = json_of(node, bob.key, &["withdraw"]).await;
    assert_eq!(change(&free, "stake"), Some(("100000", "0")));
}

#[tokio::test]
async fn mistakes_are_told_in_words() {
    let node = on_demand().await;
    let node = node.client();
    let (operator, stranger) = (first(), devnet::ACCOUNTS[4]);
    for (key, words, told) in [
        (admin(), vec!["unjail", &operator], "ACTIVE, which does not permit this"),
        (admin(), vec!["remove", &operator, "no reason"], "never slashed"),
        (admin(), vec!["show", "0x00000000000000000000000000000000000000aa"], "never registered"),
        (
            keeper(),
            vec!["slash", "0x00000000000000000000000000000000000000aa", "downtime"],
            "never registered",
        ),
        (stranger.key, vec!["expand", "2"], "does not have ADMIN_ROLE"),
        (stranger.key, vec!["slash", &operator, "double-sign"], "does not have SLASHER_ROLE"),
        (stranger.key, vec!["claim"], "never registered"),
        (admin(), vec!["distribute", &operator, "0"], "no coin to move"),
        (stranger.key, vec!["register", "Eve", "--stake", "99999"], "below 100000"),
    ] {
        let error = registry(node, key, &words).await.failure();
        assert!(error.contains(told), "{words:?}: {error}");
    }
    for words in [
        vec!["expand", "4"],
        vec!["set-max", "22"],
        vec!["slash", &operator, "rudeness"],
        vec!["show", "bob"],
    ] {
        assert_eq!(registry(node, admin(), &words).await.code, Some(2), "{words:?}");
    }
    let nobody = format!("http://127.0.0.1:{}", testkit::process::free_port().expect("a port"));
    let error = chainnet(["registry", "status", "--rpc-url", &nobody]).await.failure();
    assert!(error.contains("no node answers"), "{error}");
}

#[tokio::test]
async fn a_nonce_that_is_missing_below_what_waits_is_taken() {
    let node = on_demand().await;
    let node = node.client();
    let besu = Besu::start(node.address(), BesuSettings::v24_12_2()).await.expect("a Besu");
    // Of the admin's key, with nonces 0 and 1 missing: Besu's pending nonce is 3.
    let mut wallet = Wallet::dev(0);
    wallet.set_nonce(2);
    let stuck = wallet.sign_legacy(Draft::transfer(Address::repeat_byte(1), U256::ONE));
    node.send_raw(&stuck.raw).await.expect("taken");
    let (url, key) = (besu.url(), admin().to_string());
    let words = ["registry", "expand", "2", "--rpc-url", &url, "--registry-key", &key];
    let ended = mining(node, chainnet(words)).await;
    assert!(ended.err.contains("none with nonce 0"), "{}", ended.err);
    ended.success();
    let status = json_of(node, admin(), &["status"]).await;
    assert_eq!(status["phase"], 2);
}

#[tokio::test]
async fn a_node_that_is_lost_after_sending_leaves_the_hash_and_no_second_slash() {
    let node = on_demand().await;
    let node = node.client();
    let besu = Besu::start(node.address(), BesuSettings::v24_12_2()).await.expect("a Besu");
    let (url, key, operator) = (besu.url(), keeper().to_string(), first());
    let words = ["registry", "slash", &operator, "downtime", "--rpc-url", &url, "--registry-key", &key];
    let lose = async {
        pooled(node, "0x1").await;
        drop(besu);
    };
    let (ended, ()) = tokio::join!(chainnet(words), lose);
    let told = ended.failure();
    let content: Value = node.call("txpool_content", json!([])).await.expect("a pool");
    let account = Wallet::from_key(keeper()).expect("a key").address();
    let pooled = &content["pending"][format!("{account:#x}")]["0"]["hash"];
    assert!(told.contains(pooled.as_str().expect("a hash")), "{pooled} is missing from: {told}");
    for word in ["whether it is in a block is not known", "do not repeat", "eth_getTransactionReceipt"] {
        assert!(told.contains(word), "{word} is missing from: {told}");
    }

    // Whoever repeats it all the same: what waits is waited for, and a jailed operator is not slashed by mistake.
    let again = registry(node, keeper(), &["slash", &operator, "downtime"]).await;
    assert!(again.failure().contains("--again"));
    let shown = json_of(node, keeper(), &["show", &operator]).await;
    assert_eq!((&shown["status"], &shown["slashCount"]), (&json!("JAILED"), &json!(1)), "{shown}");
    registry(node, keeper(), &["slash", &operator, "downtime", "--again"]).await.success();
}

#[tokio::test]
async fn where_the_safe_has_the_role_its_transaction_is_printed() {
    let node = on_demand().await;
    let node = node.client();
    let refused = registry(node, admin(), &["expand", "3", "--safe"]).await.failure();
    assert!(refused.contains("does not have ADMIN_ROLE"), "the Safe is no admin yet: {refused}");

    // The admin hands its role over.
    let mut wallet = Wallet::dev(0);
    let role = keccak256("ADMIN_ROLE");
    let give = Registry::grantRoleCall { role, account: TREASURY }.abi_encode();
    let drop_own = Registry::renounceRoleCall { role, callerConfirmation: wallet.address() }.abi_encode();
    for input in [give, drop_own] {
        node.send_raw(&wallet.sign_legacy(Draft::call(REGISTRY, input)).raw).await.expect("taken");
        node.mine().await.expect("a block");
    }
    let printed = json_of(node, admin(), &["expand", "3"]).await;
    let safe = &printed["safeTransaction"];
    assert_eq!(printed["sent"], false);
    assert_eq!((&safe["safe"], &safe["to"]), (&json!(TREASURY.to_string()), &json!(REGISTRY.to_string())));
    assert_eq!(
        (&safe["operation"], &safe["nonce"], &safe["threshold"]),
        (&json!(0), &json!("0"), &json!("3"))
    );
    assert_eq!(safe["owners"].as_array().map(Vec::len), Some(5));
    let data = Registry::expandToPhaseCall { phase: 3 }.abi_encode();
    assert_eq!(safe["data"], json!(alloy_primitives::Bytes::from(data)));
    assert_eq!(safe["safeTxHash"].as_str().map(str::len), Some(66));
    assert_eq!(change(&printed, "slots"), Some(("5", "21")));
    let text = registry(node, admin(), &["expand", "3"]).await.success();
    assert!(text.contains("3 of the Safe's owners have to sign safeTxHash"), "{text}");
    let status = json_of(node, admin(), &["status"]).await;
    assert_eq!(status["phase"], 1, "nothing was sent");

    // Three owners sign what was printed, and it happens.
    let exec = signed_by_three(safe);
    node.send_raw(&wallet.sign_legacy(Draft::call(TREASURY, exec.abi_encode())).raw).await.expect("taken");
    node.mine().await.expect("a block");
    let status = json_of(node, admin(), &["status"]).await;
    assert_eq!((&status["phase"], &status["max"]), (&json!(3), &json!("21")));
}

/// The Safe's transaction with the signatures of three owners over its hash, in the order that a Safe wants.
fn signed_by_three(safe: &Value) -> SafeL2::execTransactionCall {
    let hash: B256 = serde_json::from_value(safe["safeTxHash"].clone()).expect("a hash");
    let mut owners: Vec<_> = devnet::ACCOUNTS[5..8].to_vec();
    owners.sort_by_key(|owner| owner.address);
    let signature = |owner: &devnet::DevAccount| {
        let signer = PrivateKeySigner::from_bytes(&owner.key).expect("a key");
        signer.sign_hash_sync(&hash).expect("a signature").as_bytes()
    };
    SafeL2::execTransactionCall {
        to: REGISTRY,
        value: U256::ZERO,
        data: serde_json::from_value(safe["data"].clone()).expect("bytes"),
        operation: 0,
        safeTxGas: U256::ZERO,
        baseGas: U256::ZERO,
        gasPrice: U256::ZERO,
        gasToken: Address::ZERO,
        refundReceiver: Address::ZERO,
        signatures: owners.iter().flat_map(signature).collect(),
    }
}
