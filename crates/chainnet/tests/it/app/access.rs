//! Keys, the faucet's wallets and partners, from the command line.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use access::{Keyring, Keys, PLACEHOLDERS};
use jiff::Timestamp;
use serde_json::Value;
use store::Db;
use testkit::AppProcess;

use super::{PATIENCE, folder, up};
use crate::rig::{Ended, chainnet};

const WALLET: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";

fn database(data: &Path) -> String {
    format!("sqlite:{}/chainnet.db", data.display())
}

async fn run(data: &Path, arguments: impl IntoIterator<Item = &str>) -> Ended {
    let places =
        ["--data".to_owned(), data.display().to_string(), "--database-url".to_owned(), database(data)];
    chainnet(arguments.into_iter().map(str::to_owned).chain(places)).await
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

async fn open(data: &Path) -> Db {
    Db::open(&database(data)).await.unwrap()
}

/// Whether a key is good now.
async fn is_good(db: &Db, key: &Value) -> bool {
    let keyring = Keyring::open(db.clone(), std::sync::Arc::new(Timestamp::now)).await.unwrap();
    let from = "10.1.2.3".parse().unwrap();
    keyring.authenticate(key.as_str().unwrap(), from, Timestamp::now()).is_ok()
}

#[tokio::test]
async fn a_key_is_issued_listed_rotated_and_revoked() {
    let data = folder();
    assert_eq!(run(data.path(), ["keys", "list"]).await.success().trim(), "no keys");
    let issue = ["keys", "issue", "--team", "Partner QA", "--permissions", "rpc,explorer", "--json"];
    let issued = json(&run(data.path(), issue).await.success());
    let id = issued["id"].as_str().unwrap();
    assert_eq!((&issued["state"], &issued["requestsPerMinute"]), (&"active".into(), &600.into()));
    let db = open(data.path()).await;
    assert!(is_good(&db, &issued["key"]).await);

    let listed = run(data.path(), ["keys", "list"]).await.success();
    assert!(
        listed.contains(id) && listed.contains("Partner QA") && listed.contains("rpc,explorer"),
        "{listed}"
    );
    let secret = issued["key"].as_str().unwrap().rsplit('_').next().unwrap();
    assert!(
        !listed.contains(secret)
            && !run(data.path(), ["keys", "list", "--json"]).await.success().contains(secret)
    );

    let rotated =
        json(&run(data.path(), ["keys", "rotate", id, "--overlap", "1h", "--json"]).await.success());
    assert!(is_good(&db, &issued["key"]).await && is_good(&db, &rotated["key"]).await);
    let again = run(data.path(), ["keys", "rotate", id]).await.failure();
    assert!(again.contains("replaced by") && again.contains(rotated["id"].as_str().unwrap()), "{again}");

    let revoked = run(data.path(), ["keys", "revoke", id]).await.success();
    assert_eq!(revoked.trim(), format!("{id} is revoked"));
    assert!(!is_good(&db, &issued["key"]).await && is_good(&db, &rotated["key"]).await);
    let states: Vec<_> = json(&run(data.path(), ["keys", "list", "--json"]).await.success())
        .as_array()
        .unwrap()
        .iter()
        .map(|key| key["state"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(states, ["revoked", "active"]);
    assert!(run(data.path(), ["keys", "revoke", id]).await.failure().contains("revoked before"));
    let next = rotated["id"].as_str().unwrap();
    let revoked = json(&run(data.path(), ["keys", "revoke", next, "--json"]).await.success());
    assert_eq!((&revoked["id"], &revoked["state"]), (&rotated["id"], &"revoked".into()));
    assert!(run(data.path(), ["keys", "revoke", "nobody"]).await.failure().contains("no key `nobody`"));
    db.close().await;
}

#[tokio::test]
async fn a_key_has_the_bounds_it_was_issued_with() {
    let data = folder();
    let issue = [
        "keys",
        "issue",
        "--team",
        "a",
        "--permissions",
        "rpc",
        "--cidr",
        "10.1.2.3/8,::1",
        "--expires",
        "2999-01-31",
        "--limit",
        "7",
        "--json",
    ];
    let issued = json(&run(data.path(), issue).await.success());
    assert_eq!(issued["networks"], serde_json::json!(["10.0.0.0/8", "::1/128"]));
    assert_eq!(
        (&issued["requestsPerMinute"], &issued["expiresAt"]),
        (&7.into(), &"2999-01-31T00:00:00Z".into())
    );
    let shown =
        run(data.path(), ["keys", "issue", "--team", "a", "--permissions", "rpc", "--expires", "90d"]).await;
    let shown = shown.success();
    assert!(shown.contains("cnk_") && shown.contains("not shown again"), "{shown}");
    let past =
        run(data.path(), ["keys", "issue", "--team", "a", "--permissions", "rpc", "--expires", "0s"]).await;
    assert!(past.failure().contains("in the past"));
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_with_a_reason() {
    let data = folder();
    for (arguments, word) in [
        (["keys", "issue", "--team", "a,b", "--permissions", "rpc", "--json"], "name of a team"),
        (
            ["keys", "issue", "--team", "a", "--permissions", "rpc,admin", "--json"],
            "unknown permission `admin`",
        ),
        (["partner", "add", "--team", "a", "--wallet", "0x12", "--json"], "40 hexadecimal digits"),
        (["partner", "add", "--team", "a", "--wallet", &WALLET.replace("F6F4", "f6F4"), "--json"], "EIP-55"),
    ] {
        let ended = run(data.path(), arguments).await;
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.contains(word), "{word} is missing from {}", ended.err);
    }
    let issue = ["keys", "issue", "--team", "a", "--permissions", "rpc"];
    for (flag, value, word) in
        [("--cidr", "10.0.0.0/33", "network"), ("--expires", "soon", "time"), ("--limit", "0", "zero")]
    {
        let ended = chainnet(issue.into_iter().chain([flag, value])).await;
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.contains(word), "{word} is missing from {}", ended.err);
    }
    assert_eq!(run(data.path(), ["keys", "revoke", "a_b"]).await.code, Some(2));
}

#[tokio::test]
async fn wallets_are_listed_and_partners_taken_in_whole() {
    let data = folder();
    let added =
        run(data.path(), ["allowlist", "add", &WALLET.to_lowercase(), "--team", "a", "--note", "trial"])
            .await;
    assert!(added.success().contains(WALLET));
    let again = run(data.path(), ["allowlist", "add", WALLET, "--team", "b"]).await.failure();
    assert!(again.contains("already"), "{again}");
    let partner = ["partner", "add", "--team", "b", "--wallet", WALLET, "--json"];
    assert!(run(data.path(), partner).await.failure().contains("allowlist already"));
    assert_eq!(run(data.path(), ["keys", "list"]).await.success().trim(), "no keys");
    let listed = json(&run(data.path(), ["allowlist", "list", "--json"]).await.success());
    assert_eq!((&listed[0]["wallet"], &listed[0]["note"]), (&WALLET.into(), &"trial".into()));

    assert!(run(data.path(), ["allowlist", "remove", WALLET]).await.success().contains("off the allowlist"));
    assert!(
        run(data.path(), ["allowlist", "remove", WALLET]).await.failure().contains("not on the allowlist")
    );
    let issued = json(&run(data.path(), partner).await.success());
    assert_eq!(issued["permissions"], serde_json::json!(["rpc", "faucet", "explorer"]));
    let table = run(data.path(), ["allowlist", "list"]).await.success();
    assert!(table.contains(WALLET) && table.contains(" b "), "{table}");
}

#[tokio::test]
async fn usage_is_shown_by_key_and_day() {
    let data = folder();
    assert_eq!(run(data.path(), ["keys", "usage"]).await.success().trim(), "no usage");
    let issue = ["keys", "issue", "--team", "a", "--permissions", "rpc", "--json"];
    let issued = json(&run(data.path(), issue).await.success());
    let db = open(data.path()).await;
    let id = issued["id"].as_str().unwrap();
    let keyring = Keyring::open(db.clone(), std::sync::Arc::new(Timestamp::now)).await.unwrap();
    let from = "10.1.2.3".parse().unwrap();
    let grant = keyring.authenticate(issued["key"].as_str().unwrap(), from, Timestamp::now()).unwrap();
    grant.usage.count(20);
    grant.usage.count_denied();
    let stop = tokio_util::sync::CancellationToken::new();
    stop.cancel();
    keyring.run(stop).await;
    db.close().await;
    let usage = json(&run(data.path(), ["keys", "usage", id, "--json"]).await.success());
    assert_eq!(
        (&usage[0]["requests"], &usage[0]["denied"], &usage[0]["units"]),
        (&1.into(), &1.into(), &20.into())
    );
    assert!(run(data.path(), ["keys", "usage", "--days", "2"]).await.success().contains(id));
    assert!(run(data.path(), ["keys", "usage", "nobody"]).await.failure().contains("no key"));
}

/// The whole message of the start.
async fn banner(app: &AppProcess) -> String {
    let begin = Instant::now();
    while !app.server().output().contains("chainnet genesis") {
        assert!(begin.elapsed() < PATIENCE, "{}", app.server().output());
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    app.server().output()
}

#[tokio::test]
async fn the_placeholders_are_announced_and_a_revoked_one_stays_away() {
    let data = folder();
    let mut app = up(data.path()).await;
    let [internal, partner] = PLACEHOLDERS.map(|placeholder| placeholder.key);
    let first = banner(&app).await;
    assert!(first.contains("replace them before production"), "{first}");
    assert!(first.contains(internal) && first.contains(partner), "{first}");
    app.kill9().await.unwrap();
    run(data.path(), ["keys", "revoke", "partner-qa"]).await.success();
    let second = banner(&up(data.path()).await).await;
    assert!(second.contains(internal) && !second.contains(partner), "{second}");
}

#[tokio::test]
async fn another_network_does_not_start_with_a_placeholder() {
    let data = folder();
    std::fs::create_dir_all(data.path()).unwrap();
    let db = open(data.path()).await;
    access::settle_placeholders(&db, domain::Network::Devnet, Timestamp::now()).await.unwrap();
    assert_eq!(Keys::new(db.clone()).list().await.unwrap().len(), 2);
    db.close().await;
    let ports =
        ["--api-port", "--rpc-port", "--gateway-port", "--faucet-port", "--explorer-port", "--metrics-port"];
    let arguments =
        ["up", "--network", "testnet"].into_iter().chain(ports.into_iter().flat_map(|port| [port, "0"]));
    let ended = run(data.path(), arguments).await;
    let refused = ended.failure();
    assert!(
        refused.contains("testnet") && refused.contains("chainnet keys revoke internal-dev"),
        "{refused}"
    );
}
