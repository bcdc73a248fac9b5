//! A database of its own for every test, of either engine.
//!
//! SQLite is a file in a temporary folder. PostgreSQL is a new database on the server that `CHAINNET_TEST_POSTGRES`
//! names (`scripts/postgres run …` starts one); without it that half of a test says that it did not run.

use std::{
    ops::Deref,
    pin::Pin,
    str::FromStr,
    sync::atomic::{AtomicU32, Ordering},
};

use sqlx::{AssertSqlSafe, ConnectOptions, Connection, postgres::PgConnectOptions};
use tempfile::TempDir;

use crate::Db;

pub use crate::portal::seed::{seed_deliveries, seed_invoices};

/// The variable that names the PostgreSQL server.
pub const SERVER_VARIABLE: &str = "CHAINNET_TEST_POSTGRES";

static COUNTER: AtomicU32 = AtomicU32::new(0);

/// Writes a test once and runs it on both engines, as two tests `<name>::sqlite` and `<name>::postgres`.
///
/// ```text
/// engine_tests! {
///     async fn a_row_comes_back(test: TestDb) { … }
/// }
/// ```
#[macro_export]
macro_rules! engine_tests {
    ($($(#[$meta:meta])* async fn $name:ident($test:ident: TestDb) $body:block)*) => {
        $(
            $(#[$meta])*
            mod $name {
                #[allow(unused_imports, reason = "a body may need nothing of its file")]
                use super::*;

                async fn body($test: &$crate::testing::TestDb) $body

                #[test]
                fn sqlite() {
                    $crate::testing::run_on_sqlite(|test| Box::pin(body(test)));
                }

                #[test]
                fn postgres() {
                    $crate::testing::run_on_postgres(|test| Box::pin(body(test)));
                }
            }
        )*
    };
}

/// A test's body. Boxed, so that the machinery around it is compiled once and not for every test.
pub type Body = for<'t> fn(&'t TestDb) -> Pin<Box<dyn Future<Output = ()> + 't>>;

/// Runs a test on SQLite.
pub fn run_on_sqlite(body: Body) {
    run(Box::pin(async move {
        let test = TestDb::sqlite().await;
        body(&test).await;
        test.finish().await;
    }));
}

/// Runs a test on PostgreSQL, if there is a server.
pub fn run_on_postgres(body: Body) {
    run(Box::pin(async move {
        let Some(test) = TestDb::postgres().await else { return };
        body(&test).await;
        test.finish().await;
    }));
}

#[expect(clippy::expect_used, reason = "a test without its runtime must end")]
fn run(test: Pin<Box<dyn Future<Output = ()>>>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(test);
}

/// Changes a SQLite file behind everybody's back, as a hand with the wrong tool does.
#[expect(clippy::expect_used, reason = "a test without its database must end")]
pub async fn tamper(path: &std::path::Path, statement: &str) {
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path);
    let mut connection = options.connect().await.expect("the file opens");
    let statement = AssertSqlSafe(statement.to_owned());
    let done = sqlx::query(statement).execute(&mut connection).await.expect("the statement is understood");
    assert!(done.rows_affected() > 0, "nothing was changed");
    connection.close().await.expect("the file closes");
}

impl Db {
    /// Refuses whatever is written to a SQLite file from now on, as a disk that has become read-only does.
    #[expect(clippy::expect_used, reason = "a test without its database must end")]
    pub async fn refuse_writes(&self) {
        if let crate::db::Pools::Sqlite { writer, durable, .. } = &self.pools {
            for pool in [writer, durable] {
                sqlx::query("PRAGMA query_only = 1").execute(pool).await.expect("the file is open");
            }
        }
    }
}

/// A fresh database. Use it as a [`Db`].
#[derive(Debug)]
pub struct TestDb {
    db: Db,
    url: String,
    place: Place,
}

#[derive(Debug)]
enum Place {
    Folder(TempDir),
    Server { server: String, databases: Vec<String>, next: AtomicU32 },
}

impl TestDb {
    /// A SQLite file.
    #[expect(clippy::expect_used, reason = "a test without its database must end")]
    pub async fn sqlite() -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let url = format!("sqlite:{}/test.db", folder.path().display());
        let db = Db::open(&url).await.expect("a fresh SQLite file opens");
        Self { db, url, place: Place::Folder(folder) }
    }

    /// A PostgreSQL database, if there is a server.
    #[expect(clippy::expect_used, reason = "a test without its database must end")]
    #[expect(
        clippy::disallowed_methods,
        reason = "which server tests use is no configuration of the product"
    )]
    pub async fn postgres() -> Option<Self> {
        let Ok(server) = std::env::var(SERVER_VARIABLE) else {
            eprintln!("not run on PostgreSQL: {SERVER_VARIABLE} is not set");
            return None;
        };
        let name = format!("test_{}_{}", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
        let url = create_database(&server, &name).await;
        let db = Db::open(&url).await.expect("a fresh PostgreSQL database opens");
        // A test may want a few more that are still empty.
        let databases = (0..4).map(|index| format!("{name}_{index}")).collect();
        Some(Self { db, url, place: Place::Server { server, databases, next: AtomicU32::new(0) } })
    }

    /// The engine's database, opened.
    pub fn db(&self) -> Db {
        self.db.clone()
    }

    /// Where the database is, for opening it again.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Where another database of the same engine is, that nobody has opened yet.
    #[expect(clippy::expect_used, reason = "a test without its database must end")]
    pub async fn fresh_url(&self) -> String {
        match &self.place {
            Place::Folder(folder) => {
                let index = COUNTER.fetch_add(1, Ordering::Relaxed);
                format!("sqlite:{}/fresh-{index}.db", folder.path().display())
            }
            Place::Server { server, databases, next } => {
                let index = next.fetch_add(1, Ordering::Relaxed) as usize;
                let name = databases.get(index).expect("a test may have four more databases");
                create_database(server, name).await
            }
        }
    }

    /// Closes the database and removes it. A test that failed leaves it to be looked at.
    pub async fn finish(self) {
        self.db.close().await;
        if let Place::Server { server, databases, next } = &self.place {
            let made = next.load(Ordering::Relaxed) as usize;
            let first = self.url.rsplit('/').next().and_then(|name| name.split('?').next());
            for name in first.into_iter().chain(databases.iter().take(made).map(String::as_str)) {
                order(server, &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await;
            }
        }
    }
}

impl Deref for TestDb {
    type Target = Db;

    fn deref(&self) -> &Db {
        &self.db
    }
}

#[expect(clippy::expect_used, reason = "a test without its database must end")]
async fn create_database(server: &str, name: &str) -> String {
    order(server, &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await;
    order(server, &format!("CREATE DATABASE {name}")).await;
    let options = PgConnectOptions::from_str(server).expect("the server's URL is understood").database(name);
    options.to_url_lossy().to_string()
}

#[expect(clippy::expect_used, reason = "a test without its database must end")]
async fn order(server: &str, statement: &str) {
    let options = PgConnectOptions::from_str(server).expect("the server's URL is understood");
    let mut connection = options.connect().await.expect("the server answers");
    sqlx::raw_sql(AssertSqlSafe(statement.to_owned()))
        .execute(&mut connection)
        .await
        .expect("the server obeys");
    connection.close().await.expect("the server says goodbye");
}
