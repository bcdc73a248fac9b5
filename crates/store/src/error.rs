//! Why the database did not do what was asked.

use std::{
    borrow::Cow,
    error::Error,
    sync::atomic::{AtomicU64, Ordering},
};

use domain::{Failure, FailureKind};
use sqlx::{
    error::{DatabaseError, ErrorKind},
    migrate::MigrateError,
    postgres::PgDatabaseError,
    sqlite::SqliteError,
};

/// Why a statement failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A row contradicts one that is there.
    #[error("{constraint} is violated")]
    Conflict {
        /// The constraint by the name PostgreSQL gives it: `<table>_<columns>_key`, `<table>_pkey`, or the index's own.
        constraint: String,
        /// What the engine says.
        #[source]
        source: sqlx::Error,
    },
    /// The database cannot be reached, is busy or is full. Trying again may help.
    #[error("the database does not answer")]
    Unavailable(#[source] sqlx::Error),
    /// What the database holds cannot be what we wrote.
    #[error("the database holds a damaged {what}")]
    Corrupt {
        /// What is damaged.
        what: &'static str,
        /// What is wrong with it.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// A number is too large for its column.
    #[error("{what} is too large to be stored")]
    TooLarge {
        /// Which number.
        what: &'static str,
    },
    /// The statement itself is wrong: a fault of this program.
    #[error("the database refused a statement")]
    Refused(#[source] sqlx::Error),
}

/// Why a database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The URL names no engine we know.
    #[error("the database URL must begin with sqlite: or postgres://")]
    UnknownEngine,
    /// The URL cannot be read. Its text is not repeated: it may hold a password.
    #[error("the database URL is not understood")]
    Url(#[source] sqlx::Error),
    /// The file or the server cannot be opened.
    #[error("the database cannot be opened")]
    Unreachable(#[source] sqlx::Error),
    /// A newer program has changed the tables.
    #[error("the database was written by a newer version: it has schema {found}, this program knows {known}")]
    Newer {
        /// A migration the database has.
        found: i64,
        /// The last migration of this program.
        known: i64,
    },
    /// A migration that was applied is not the one this program has.
    #[error("schema {version} of the database is not the one of this program")]
    Altered {
        /// The migration.
        version: i64,
    },
    /// The tables cannot be brought up to date.
    #[error("the tables cannot be brought up to date")]
    Migration(#[source] MigrateError),
}

/// How often statements failed since the process started, by what was wrong.
static FAILURES: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];
const FAILURE_NAMES: [&str; 4] = ["conflict", "unavailable", "corrupt", "refused"];

/// How often statements failed since the process started, by what was wrong: `conflict` is a race that somebody lost,
/// which is in order; `unavailable` may pass; `corrupt` and `refused` are for an operator.
pub fn failure_counts() -> [(&'static str, u64); 4] {
    std::array::from_fn(|place| {
        let count = FAILURES.get(place).map_or(0, |count| count.load(Ordering::Relaxed));
        (FAILURE_NAMES.get(place).copied().unwrap_or_default(), count)
    })
}

impl OpenError {
    /// Whether another process holds the file at the moment.
    pub(crate) fn is_busy(&self) -> bool {
        let error = match self {
            Self::Unreachable(error) => error,
            Self::Migration(MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _)) => error,
            _ => return false,
        };
        error
            .as_database_error()
            .is_some_and(|error| error.try_downcast_ref::<SqliteError>().is_some() && is_passing(error))
    }
}

impl StoreError {
    /// Whether the same statement may succeed later.
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Unavailable(_) => true,
            Self::Conflict { .. } | Self::Corrupt { .. } | Self::TooLarge { .. } | Self::Refused(_) => false,
        }
    }

    pub(crate) fn corrupt(what: &'static str, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Corrupt { what, source: source.into() }
    }
}

impl Failure for StoreError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Conflict { .. } => FailureKind::Conflict,
            Self::Unavailable(_) => FailureKind::Unavailable,
            Self::Corrupt { .. } | Self::TooLarge { .. } | Self::Refused(_) => FailureKind::Internal,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Conflict { .. } => "conflict",
            Self::Unavailable(_) => "database_unavailable",
            Self::Corrupt { .. } | Self::TooLarge { .. } | Self::Refused(_) => "internal_error",
        }
    }

    fn detail(&self) -> Cow<'static, str> {
        match self {
            Self::Conflict { .. } => "This contradicts something that exists already.".into(),
            Self::Unavailable(_) => "The database does not answer at the moment.".into(),
            Self::Corrupt { .. } | Self::TooLarge { .. } | Self::Refused(_) => {
                "Something went wrong on our side.".into()
            }
        }
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        let failure = Self::of(error);
        let place = match &failure {
            Self::Conflict { .. } => Some(0),
            Self::Unavailable(_) => Some(1),
            Self::Corrupt { .. } => Some(2),
            Self::Refused(_) => Some(3),
            Self::TooLarge { .. } => None,
        };
        if let Some(count) = place.and_then(|place| FAILURES.get(place)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        failure
    }
}

impl StoreError {
    fn of(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::Database(database) => match constraint(&**database) {
                Some(constraint) => Self::Conflict { constraint, source: error },
                None if is_passing(&**database) => Self::Unavailable(error),
                None => Self::Refused(error),
            },
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed => Self::Unavailable(error),
            sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => Self::corrupt("column", error),
            _ => Self::Refused(error),
        }
    }
}

/// The violated constraint, by PostgreSQL's name for it. SQLite names columns instead, in the message and nowhere else.
fn constraint(error: &dyn DatabaseError) -> Option<String> {
    match error.kind() {
        ErrorKind::UniqueViolation | ErrorKind::ForeignKeyViolation | ErrorKind::CheckViolation => {}
        _ => return None,
    }
    if let Some(name) = error.constraint() {
        return Some(name.to_owned());
    }
    let (_, named) = error.message().split_once(": ").unwrap_or(("", error.message()));
    if let Some(index) = named.strip_prefix("index '") {
        return Some(index.trim_end_matches('\'').to_owned());
    }
    let mut columns = named.split(", ").filter_map(|column| column.split_once('.')).peekable();
    let Some(&(table, _)) = columns.peek() else { return Some(named.to_owned()) };
    let is_primary_key = error.code().is_some_and(|code| matches!(&*code, "1555" | "2579"));
    if is_primary_key {
        return Some(format!("{table}_pkey"));
    }
    let columns: Vec<_> = columns.map(|(_, column)| column).collect();
    Some(format!("{table}_{}_key", columns.join("_")))
}

/// Whether the engine's trouble may pass: a lock, a full disk, a server that is going down or coming up.
fn is_passing(error: &dyn DatabaseError) -> bool {
    let Some(code) = error.code() else { return false };
    if error.try_downcast_ref::<PgDatabaseError>().is_some() {
        // Connection trouble, rivals, resources, operator, system.
        return ["08", "40", "53", "55", "57", "58"].iter().any(|class| code.starts_with(class));
    }
    // The low byte is the primary code: busy, locked, I/O, full, cannot open.
    code.parse::<i32>().is_ok_and(|code| matches!(code & 0xff, 5 | 6 | 10 | 13 | 14))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Db, engine_tests};

    engine_tests! {
        async fn a_violated_constraint_has_the_same_name_on_both_engines(test: TestDb) {
            let insert = async |id: i64, address: u8| {
                let statement = "INSERT INTO accounts (id, address) VALUES ($1, $2)";
                on_writer!(test, pool => {
                    sqlx::query(statement).bind(id).bind(vec![address; 20]).execute(pool).await.map(drop)
                })
                .map_err(StoreError::from)
            };
            insert(1, 1).await.unwrap();
            for (id, address, expected) in [(1, 2, "accounts_pkey"), (2, 1, "accounts_address_key")] {
                let error = insert(id, address).await.unwrap_err();
                assert!(matches!(&error, StoreError::Conflict { constraint, .. } if constraint == expected), "{error:?}");
                assert_eq!(error.kind(), FailureKind::Conflict);
            }
        }

        async fn a_wrong_statement_is_our_fault_and_a_closed_database_is_not(test: TestDb) {
            let wrong = on_readers!(test, pool => sqlx::query("SELECT nothing FROM nowhere").execute(pool).await.map(drop));
            assert_eq!(StoreError::from(wrong.unwrap_err()).kind(), FailureKind::Internal);
            let db = Db::open(test.url()).await.unwrap();
            db.close().await;
            let error = db.ping().await.unwrap_err();
            assert!(error.is_temporary(), "{error:?}");
        }
    }

    #[tokio::test]
    async fn errors_and_handles_do_not_show_passwords() {
        for url in [
            "postgres://user:hunter2@127.0.0.1:1/db",
            "postgres://user:hunter2@host:port/db",
            "mysql://hunter2",
        ] {
            let error = Db::open(url).await.unwrap_err();
            let mut text = format!("{error} {error:?}");
            let mut source = error.source();
            while let Some(cause) = source {
                text += &format!(" {cause}");
                source = cause.source();
            }
            assert!(!text.contains("hunter2"), "{text}");
        }
    }
}
