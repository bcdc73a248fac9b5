//! `chainnet db`: a database that was lived in moves from SQLite to PostgreSQL and back, and life goes on there.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use alloy_primitives::Address;
use serde_json::{Value, json};
use store::{Db, testing::TestDb};
use testkit::{AppProcess, HttpClient, Merchant, Mining, Receiver, RpcClient, Wallet};

use super::{folder, indexed, up};
use crate::rig::{BINARY, Ended, chainnet};

const KEY: &str = access::PLACEHOLDERS[0].key;

async fn db(command: &str, file: &Path, url: &str) -> Ended {
    chainnet(["db", command, file.to_str().unwrap(), "--database-url", url]).await
}

fn sqlite(data: &Path) -> String {
    format!("sqlite:{}/chainnet.db", data.display())
}

/// The rows of an export by table, in an order of their own.
fn rows(file: &Path) -> BTreeMap<String, Vec<String>> {
    let mut tables = BTreeMap::new();
    let mut current = String::new();
    for line in fs::read_to_string(file).unwrap().lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        if let Some(name) = value.get("table") {
            current = name.as_str().unwrap().to_owned();
            tables.insert(current.clone(), Vec::new());
        } else if value.is_array() {
            tables.get_mut(&current).unwrap().push(line.to_owned());
        }
    }
    tables.values_mut().for_each(|rows: &mut Vec<String>| rows.sort());
    tables
}

/// Things that people do: a sale with its webhook, a claim at the faucet, a key, an application, a rate.
async fn live(app: &AppProcess, data: &Path, url: &str, receiver: &Receiver, day: u8) {
    let node = app.node().unwrap();
    let (merchant, customer) = (1 + usize::from(day) * 2, 2 + usize::from(day) * 2);
    let own = RpcClient::new(node.address());
    let mut merchant = Merchant::sign_in(app.api(), own, Wallet::dev(merchant)).await.unwrap();
    merchant.buy_key(Mining::OnDemand).await.unwrap();
    merchant.save_webhook(&receiver.url(), Mining::OnDemand).await.unwrap();
    let told = receiver.count();
    let mut customer = Wallet::dev(customer);
    for label in ["Ünïcødé \u{1f980}", "second"] {
        let invoice = merchant.create_invoice(label, 10_000).await.unwrap();
        let raw = merchant.quote(&invoice).await.unwrap().sign(&mut customer);
        node.send_raw(&raw).await.unwrap();
        node.mine().await.unwrap();
    }
    merchant.create_invoice("never paid", 5_000).await.unwrap();
    receiver.wait_for(told + 4).await;

    let wallet = Address::repeat_byte(0xc0 + day).to_string();
    let places = ["--database-url", url, "--data", data.to_str().unwrap()];
    let command = async |words: &[&str]| chainnet(words.iter().chain(&places)).await.success();
    command(&["allowlist", "add", &wallet, "--team", "shop", "--note", "no 'quotes'"]).await;
    command(&["keys", "issue", "--team", "QA", "--permissions", "rpc"]).await;
    command(&["rate", "set", "123.45", "--by", "alice", "--allow-jump"]).await;
    let faucet = HttpClient::new(app.server().announced("Faucet").unwrap());
    let claim = json!({ "address": wallet, "website": "" });
    let paid = faucet.post_with("/claim", &[("x-api-key", KEY)], &claim).await.unwrap();
    assert_eq!(paid.status, 200, "{paid:?}");
    let application = json!({
        "moniker": "Bob", "operatorAddress": wallet, "email": "bob@example.org", "stakeAmount": "100000", "commission": 5,
    });
    assert_eq!(app.api().post("/api/v1/validators/applications", &application).await.unwrap().status, 201);
    node.mine().await.unwrap();
    let head = node.block_number().await.unwrap();
    indexed(app.api(), head).await;
}

#[tokio::test]
async fn a_database_that_was_lived_in_moves_to_postgresql_and_back_and_life_goes_on() {
    let Some(postgres) = TestDb::postgres().await else { return };
    let (data, receiver) = (folder(), Receiver::start().await.unwrap());
    let url = sqlite(data.path());
    let mut app = up(data.path()).await;
    live(&app, data.path(), &url, &receiver, 0).await;
    assert!(app.stop().await.unwrap().success(), "{}", app.server().output());

    let file = |name: &str| -> PathBuf { data.path().join(name) };
    let first = file("first.jsonl");
    let said = db("export", &first, &url).await.success();
    assert!(said.contains("rows of"), "{said}");
    assert_eq!(fs::metadata(&first).unwrap().permissions().mode() & 0o777, 0o600);
    let lived = rows(&first);
    for table in
        ["portal_invoice", "portal_payment", "portal_delivery", "faucet_claim", "application", "blocks"]
    {
        assert!(!lived[table].is_empty(), "nothing in {table}");
    }
    db("import", &first, postgres.url()).await.success();
    let there = file("there.jsonl");
    db("export", &there, postgres.url()).await.success();
    assert_eq!(rows(&there), lived);
    let again = db("import", &first, postgres.url()).await.failure();
    assert!(again.contains("not empty"), "{again}");

    // Life goes on where the database is now, with numbers that follow on.
    let arguments = ["--on-demand", "--rate-limit-max", "100000", "--database-url", postgres.url()];
    let mut app = AppProcess::up(BINARY, data.path(), arguments).await.unwrap();
    live(&app, data.path(), postgres.url(), &receiver, 1).await;
    assert!(app.stop().await.unwrap().success(), "{}", app.server().output());
    let second = file("second.jsonl");
    db("export", &second, postgres.url()).await.success();
    let (now, before) = (rows(&second), &lived);
    for table in ["portal_invoice", "portal_payment", "faucet_claim", "application", "blocks", "portal_rate"]
    {
        assert!(now[table].len() > before[table].len(), "{table} has not grown");
    }
    assert!(
        before["portal_payment"].iter().all(|row| now["portal_payment"].contains(row)),
        "a payment is gone"
    );

    // And back.
    let back = format!("sqlite:{}", file("back.db").display());
    db("import", &second, &back).await.success();
    let third = file("third.jsonl");
    db("export", &third, &back).await.success();
    assert_eq!(rows(&third), now);
    postgres.finish().await;
}

#[tokio::test]
async fn a_copy_is_made_while_the_product_runs() {
    let data = folder();
    let app = up(data.path()).await;
    super::transfer(&app.node().unwrap(), &mut Wallet::dev(0)).await;
    indexed(app.api(), 1).await;
    let copy = data.path().join("copy.db");
    let said = db("backup", &copy, &sqlite(data.path())).await.success();
    assert!(said.contains("copy.db"), "{said}");
    let copied = Db::open(&format!("sqlite:{}", copy.display())).await.unwrap();
    assert_eq!(copied.index_head().await.unwrap().unwrap().number, 1);
    copied.close().await;
    super::transfer(&app.node().unwrap(), &mut Wallet::dev(1)).await;
    indexed(app.api(), 2).await;
    let error = db("backup", &copy, &sqlite(data.path())).await.failure();
    assert!(error.contains("exists"), "{error}");
}

#[tokio::test]
async fn postgresql_is_told_of_its_own_program() {
    let Some(postgres) = TestDb::postgres().await else { return };
    let error = db("backup", Path::new("/tmp/never"), postgres.url()).await.failure();
    assert!(error.contains("pg_dump"), "{error}");
    postgres.finish().await;
}

#[tokio::test]
async fn a_file_that_is_cut_off_or_changed_is_refused_and_one_that_exists_is_not_written_over() {
    let data = folder();
    let app = up(data.path()).await;
    super::transfer(&app.node().unwrap(), &mut Wallet::dev(0)).await;
    indexed(app.api(), 1).await;
    let (file, url) = (data.path().join("all.jsonl"), sqlite(data.path()));
    db("export", &file, &url).await.success();
    let error = db("export", &file, &url).await.failure();
    assert!(error.contains("all.jsonl") && error.contains("exists"), "{error}");
    let text = fs::read_to_string(&file).unwrap();
    let target = format!("sqlite:{}", data.path().join("target.db").display());
    for (damaged, word) in [
        (text[..text.len() - 10].to_owned(), "cut off"),
        (text.replacen("true", "false", 1), "SHA-256"),
        ("hello\n".to_owned(), "not an export"),
    ] {
        let bad = data.path().join("bad.jsonl");
        fs::write(&bad, damaged).unwrap();
        let error = db("import", &bad, &target).await.failure();
        assert!(error.contains(word) && error.contains("nothing was imported"), "{error}");
    }
    db("import", &file, &target).await.success();
}
