//! The tables, and bringing a database up to date with them.
//!
//! A migration is one text for both engines. Two hints for SQLite are worked in before it runs there, because it lays a
//! table out in the order of its key only if told so: a `BIGINT PRIMARY KEY` is spelled `INTEGER PRIMARY KEY`, and
//! `/* in key order */` behind a table with a longer key becomes `WITHOUT ROWID`.
//!
//! A migration that has been released is never changed; what is wrong with it is put right by the next one.

use sqlx::{
    AssertSqlSafe, SqlSafeStr,
    migrate::{Migrate, MigrateError, Migration, MigrationType, Migrator},
};

use crate::{Engine, OpenError};

/// Version, name and text of every migration, in order.
const MIGRATIONS: &[(i64, &str, &str)] = &[
    (1, "index", include_str!("../migrations/0001_index.sql")),
    (100, "application", include_str!("../migrations/0100_application.sql")),
    (200, "access", include_str!("../migrations/0200_access.sql")),
    (300, "faucet", include_str!("../migrations/0300_faucet.sql")),
    (400, "portal", include_str!("../migrations/0400_portal.sql")),
    (500, "missed_turns", include_str!("../migrations/0500_missed_turns.sql")),
    (600, "keeper", include_str!("../migrations/0600_keeper.sql")),
    (650, "keeper_vote", include_str!("../migrations/0650_keeper_vote.sql")),
    (660, "reward", include_str!("../migrations/0660_reward.sql")),
    (710, "application_contact", include_str!("../migrations/0710_application_contact.sql")),
];

/// Applies what the database lacks. Must run under a lock on SQLite; on PostgreSQL the migrator has its own.
pub(crate) async fn run<C: Migrate>(connection: &mut C, engine: Engine) -> Result<(), OpenError> {
    migrator(MIGRATIONS, engine).run_direct(None, connection, false).await.map_err(refusal)
}

/// The last migration.
pub(crate) fn newest() -> i64 {
    MIGRATIONS.iter().map(|&(version, ..)| version).max().unwrap_or_default()
}

/// Every table, in the order in which they are made: those that others refer to first.
pub(crate) fn tables() -> Vec<&'static str> {
    let is_dropped = |table: &&str| !named("DROP TABLE ").contains(table);
    named("CREATE TABLE ").into_iter().filter(is_dropped).collect()
}

/// Tables that have rows from the beginning.
pub(crate) fn seeded_tables() -> Vec<&'static str> {
    named("INSERT INTO ")
}

/// The names behind these words at the beginning of lines.
fn named(words: &str) -> Vec<&'static str> {
    let lines = MIGRATIONS.iter().flat_map(|(_, _, text)| text.lines());
    let rests = lines.filter_map(|line| line.strip_prefix(words));
    rests.filter_map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()).collect()
}

fn migrator(migrations: &[(i64, &'static str, &str)], engine: Engine) -> Migrator {
    let migrations = migrations.iter().map(|&(version, name, text)| {
        let sql = AssertSqlSafe(text_for(engine, text)).into_sql_str();
        Migration::new(version, name.into(), MigrationType::Simple, sql, false)
    });
    Migrator::with_migrations(migrations.collect())
}

fn text_for(engine: Engine, text: &str) -> String {
    match engine {
        Engine::Postgres => text.to_owned(),
        Engine::Sqlite => text
            .replace("BIGINT PRIMARY KEY", "INTEGER PRIMARY KEY")
            .replace("/* in key order */", "WITHOUT ROWID"),
    }
}

fn refusal(error: MigrateError) -> OpenError {
    let known = newest();
    match error {
        MigrateError::VersionMissing(found) => OpenError::Newer { found, known },
        MigrateError::VersionMismatch(version) => OpenError::Altered { version },
        other => OpenError::Migration(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Db, engine_tests};

    engine_tests! {
        async fn an_up_to_date_database_opens_again(test: TestDb) {
            Db::open(test.url()).await.unwrap().ping().await.unwrap();
        }

        async fn many_processes_may_open_a_fresh_database_at_once(test: TestDb) {
            let url = test.fresh_url().await;
            let opening: Vec<_> = (0..8)
                .map(|_| {
                    let url = url.clone();
                    tokio::spawn(async move { Db::open(&url).await })
                })
                .collect();
            for opened in opening {
                let db = opened.await.unwrap().unwrap();
                db.ping().await.unwrap();
                db.close().await;
            }
        }

        async fn a_database_of_a_newer_program_is_refused(test: TestDb) {
            let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
                         VALUES (9999, 'later', TRUE, $1, 0)";
            on_writer!(test, pool => sqlx::query(newer).bind(vec![1u8]).execute(pool).await.map(drop)).unwrap();
            let error = Db::open(test.url()).await.unwrap_err();
            assert!(matches!(error, OpenError::Newer { found: 9999, .. }), "{error:?}");
            assert!(error.to_string().contains("newer"), "{error}");
        }
    }

    #[test]
    fn migrations_keep_to_what_both_engines_have() {
        for (version, name, text) in MIGRATIONS {
            for word in ["SERIAL", "AUTOINCREMENT", "NOW()", "CURRENT_TIMESTAMP", "INTEGER", "BLOB", "JSONB"]
            {
                assert!(!text.to_uppercase().contains(word), "migration {version} {name} uses {word}");
            }
        }
    }
}
