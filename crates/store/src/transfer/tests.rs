//! Moving rows between databases of both engines, and files that are not what they should be.

use std::collections::BTreeMap;

use serde_json::Value;
use sqlx::AssertSqlSafe;

use super::{TransferError, table};
use crate::{BackupError, Db, Engine, engine_tests, migration, testing::TestDb};

/// Everything a column can hold.
const ODD_TEXT: &str = "O'Brien \u{1f980} \\n \"quoted\" \u{301} שלום\n\ttwo lines";

async fn execute(db: &Db, statement: &str) {
    let statement = AssertSqlSafe(statement.to_owned());
    on_writer!(db, pool => sqlx::query(statement).execute(pool).await.map(drop)).unwrap();
}

/// Rows of all types: the least and the most, nothing, no bytes, all bytes, text that hurts.
async fn fill(db: &Db) {
    let all: Vec<u8> = (0..=255).collect();
    let insert = "INSERT INTO application (id, operator, moniker, email, stake_wei, commission_bps, website, region, \
                  message, state, is_open, steps, submitted_at, review_due_at, updated_at) \
                  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)";
    for (id, number, is_open) in [("least", i64::MIN, true), ("most", i64::MAX, false)] {
        on_writer!(db, pool => {
            let wei = alloy_primitives::U256::MAX.to_string();
            sqlx::query(insert)
                .bind(id).bind(all.clone()).bind(ODD_TEXT).bind("").bind(wei).bind(number)
                .bind(None::<String>).bind(Some(ODD_TEXT)).bind(None::<String>).bind("submitted")
                .bind(is_open).bind(1_i64).bind(number).bind(0_i64).bind(-1_i64)
                .execute(pool).await.map(drop)
        })
        .unwrap();
        execute(db, &format!("INSERT INTO application_step VALUES ('{id}', 0, 'submitted', 'x', NULL, 7)"))
            .await;
    }
    execute(
        db,
        "INSERT INTO turns (validator, block, round, outcome) VALUES (1, 2, 3, -32768), (4, 5, 6, 32767)",
    )
    .await;
    execute(db, "UPDATE faucet_till SET claims = 7").await;
    // More rows than one statement takes.
    for chunk in (0..10_000).collect::<Vec<i64>>().chunks(500) {
        let rows: Vec<_> = chunk.iter().map(|place| format!("({}, {place})", place % 10)).collect();
        execute(db, &format!("INSERT INTO account_transactions (account, place) VALUES {}", rows.join(", ")))
            .await;
    }
}

async fn export(db: &Db) -> Vec<u8> {
    let mut file = Vec::new();
    let (mut last, mut calls) = ((0, 0), 0_u64);
    let exported = db
        .export(&mut file, |done, all| {
            last = (done, all);
            calls += 1;
        })
        .await
        .unwrap();
    assert_eq!(last, (exported.rows(), exported.rows()), "the bar ends where it should");
    assert_eq!(calls, exported.rows());
    file
}

/// The rows of a file by table, in an order of their own.
fn rows(file: &[u8]) -> BTreeMap<String, Vec<String>> {
    let mut tables = BTreeMap::new();
    let mut current = String::new();
    for line in std::str::from_utf8(file).unwrap().lines() {
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

async fn fresh(test: &TestDb) -> Db {
    Db::open(&test.fresh_url().await).await.unwrap()
}

engine_tests! {
    async fn the_migrations_name_every_table_of_the_database(test: TestDb) {
        let statement = match test.engine() {
            Engine::Sqlite => "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
            Engine::Postgres => "SELECT table_name::TEXT FROM information_schema.tables WHERE table_schema = current_schema()",
        };
        let mut found: Vec<String> =
            on_readers!(test, pool => sqlx::query_scalar(statement).fetch_all(pool).await).unwrap();
        found.retain(|name| name != "_sqlx_migrations");
        found.sort();
        let mut named = migration::tables();
        named.sort_unstable();
        assert_eq!(found, named);
        let mut tx = test.begin_snapshot().await.unwrap();
        for table in table::tables(&mut tx).await.unwrap() {
            assert!(!table.columns.is_empty(), "{table:?}");
        }
    }

    async fn what_is_exported_comes_back_to_the_last_bit(test: TestDb) {
        fill(test).await;
        let file = export(test).await;
        let other = fresh(test).await;
        let imported = other.import(file.as_slice(), |_| ()).await.unwrap();
        assert_eq!(imported.rows(), rows(&file).values().map(|rows| rows.len() as u64).sum::<u64>());
        assert_eq!(rows(&export(&other).await), rows(&file));
        other.close().await;
    }

    async fn only_an_unused_database_is_filled(test: TestDb) {
        fill(test).await;
        let file = export(test).await;
        let error = test.import(file.as_slice(), |_| ()).await.unwrap_err();
        assert!(matches!(&error, TransferError::NotEmpty { .. }), "{error:?}");
        assert_eq!(rows(&export(test).await), rows(&file), "nothing has changed");
    }

    async fn a_damaged_file_changes_nothing(test: TestDb) {
        fill(test).await;
        let file = String::from_utf8(export(test).await).unwrap();
        let other = fresh(test).await;
        let before = rows(&export(&other).await);
        let lines: Vec<&str> = file.lines().collect();
        let without = |place: usize| {
            let kept = lines.iter().enumerate().filter(|(at, _)| *at != place).map(|(_, line)| *line);
            kept.collect::<Vec<_>>().join("\n") + "\n"
        };
        let row = lines.iter().position(|line| line.starts_with('[')).unwrap();
        let changed = file.replacen("\"submitted\"", "\"approved\"", 1);
        let header = |from: &str, to: &str| file.replacen(from, to, 1);
        let newest = migration::newest();
        for (what, damaged, expected) in [
            ("nothing", String::new(), "not an export"),
            ("another file", "{\"a\":1}\n".to_owned(), "not an export"),
            ("cut off within a line", file[..file.len() / 2].to_owned(), "cut off"),
            ("cut off after a line", without(lines.len() - 1), "cut off"),
            ("a value changed", changed, "SHA-256"),
            ("a row taken out", without(row), "SHA-256"),
            ("something added", format!("{file}[1]\n"), "follows its end"),
            ("another schema", header(&format!("\"schema\":{newest}"), "\"schema\":9999"), "schema 9999"),
            ("another format", header("\"format\":1", "\"format\":2"), "format 2"),
            ("another column", header("\"moniker\"", "\"nickname\""), "application has other columns"),
            ("a row of another table", header("\n[", "\n[1,2,3],\n["), "damaged"),
        ] {
            let error = other.import(damaged.as_bytes(), |_| ()).await.expect_err(what);
            assert!(error.to_string().contains(expected), "{what}: {error}");
            assert_eq!(rows(&export(&other).await), before, "{what} has left something behind");
        }
        other.import(file.as_bytes(), |_| ()).await.expect("the whole file is still taken");
        other.close().await;
    }

    async fn a_snapshot_is_exported_while_others_write(test: TestDb) {
        fill(test).await;
        let before = rows(&export(test).await);
        let mut file = Vec::new();
        let writer = test.db();
        let mut writing = false;
        let exporting = test.export(&mut file, |_, _| {
            // At the first row, from another connection, and not waited for here.
            if !std::mem::replace(&mut writing, true) {
                let db = writer.clone();
                tokio::spawn(async move { execute(&db, "DELETE FROM turns").await });
            }
            std::thread::yield_now();
        });
        exporting.await.unwrap();
        assert_eq!(rows(&file), before);
    }
}

#[tokio::test]
async fn rows_move_from_sqlite_to_postgresql_and_back() {
    let (sqlite, Some(postgres)) = (TestDb::sqlite().await, TestDb::postgres().await) else { return };
    fill(&sqlite).await;
    let file = export(&sqlite).await;
    postgres.import(file.as_slice(), |_| ()).await.unwrap();
    let there = export(&postgres).await;
    assert_eq!(rows(&there), rows(&file));
    let back = fresh(&sqlite).await;
    back.import(there.as_slice(), |_| ()).await.unwrap();
    assert_eq!(rows(&export(&back).await), rows(&file));
    back.close().await;
    postgres.finish().await;
    sqlite.finish().await;
}

#[tokio::test]
async fn a_sqlite_file_is_copied_while_it_is_written_to() {
    use std::os::unix::fs::PermissionsExt;

    let (test, folder) = (TestDb::sqlite().await, tempfile::tempdir().unwrap());
    fill(&test).await;
    let before = rows(&export(&test).await);
    // A change that is not committed is in nobody's copy, and stops nobody.
    let mut change = test.begin().await.unwrap();
    on_connection!(change, c => sqlx::query("DELETE FROM turns").execute(&mut *c).await.map(drop)).unwrap();
    let copy = folder.path().join("copy.db");
    let bytes = test.backup(&copy).await.unwrap();
    change.commit().await.unwrap();
    let about = std::fs::metadata(&copy).unwrap();
    assert_eq!((about.len(), about.permissions().mode() & 0o777), (bytes, 0o600));
    let opened = Db::open(&format!("sqlite:{}", copy.display())).await.unwrap();
    assert_eq!(rows(&export(&opened).await), before);
    opened.close().await;
    let error = test.backup(&copy).await.unwrap_err();
    assert!(matches!(error, BackupError::File(_)), "a file is not written over: {error:?}");
    test.finish().await;
}

#[tokio::test]
async fn postgresql_is_copied_by_its_own_program() {
    let Some(test) = TestDb::postgres().await else { return };
    let error = test.backup(std::path::Path::new("/nowhere/copy.db")).await.unwrap_err();
    assert!(error.to_string().contains("pg_dump"), "{error}");
    test.finish().await;
}
