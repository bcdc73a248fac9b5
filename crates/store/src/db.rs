//! Opening a database, and transactions.

use std::{fmt, num::NonZeroU32, path::PathBuf, str::FromStr, sync::Arc, time::Duration};

use sqlx::{
    ConnectOptions, PgPool, Pool, Postgres, Sqlite, SqlitePool, Transaction,
    postgres::{PgConnectOptions, PgPoolOptions},
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use tokio::time::Instant;

use crate::{OpenError, StoreError, migration, private_file, probe::WriteProbe};

/// Connections that read a SQLite file at once. Each has a thread and a page cache of its own.
const SQLITE_READERS: u32 = 4;
/// How long a caller waits for a connection, and a SQLite connection for another process that writes.
const PATIENCE: Duration = Duration::from_secs(10);
/// Pause before a busy SQLite file is opened again.
const REOPEN_PAUSE: Duration = Duration::from_millis(50);
/// Statements that a connection keeps prepared.
const PREPARED_STATEMENTS: usize = 256;
/// Most that the page cache of the SQLite connection that writes may take, in KiB (negative, as SQLite wants it): all pages
/// that a large part of a backfill changes, which would be written twice if they did not fit.
const WRITER_CACHE: &str = "-65536";
/// Page cache of a SQLite connection that reads.
const READER_CACHE: &str = "-2048";
/// Pages of the write-ahead log after which it is folded into the file: 64 MiB. A page that changes often meanwhile is
/// folded in once.
const CHECKPOINT_PAGES: &str = "16384";
/// Bytes to which the write-ahead log shrinks when it has been folded in.
const LOG_LIMIT: &str = "33554432";

/// A database of either engine. Cheap to clone.
#[derive(Clone)]
pub struct Db {
    pub(crate) pools: Pools,
    pub(crate) probe: Arc<WriteProbe>,
}

#[derive(Clone)]
pub(crate) enum Pools {
    /// SQLite has one writer at a time; a pool of one lets ours queue here instead of failing there.
    Sqlite {
        writer: SqlitePool,
        readers: SqlitePool,
        /// A writer whose commits survive a power cut, not only a crash. Opened when it is first needed.
        durable: SqlitePool,
    },
    Postgres(PgPool),
}

/// Which engine a database has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// A file.
    Sqlite,
    /// A server.
    Postgres,
}

/// How a pool of connections is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolState {
    /// What it is for: `all`, or of a file `writer`, `readers` and `durable`.
    pub name: &'static str,
    /// Connections that it may have.
    pub most: u32,
    /// Connections that it has.
    pub open: u32,
    /// Those that are doing something.
    pub in_use: u32,
}

/// A transaction of either engine; rolled back unless committed.
pub(crate) struct Tx(pub(crate) Inner);

pub(crate) enum Inner {
    Sqlite(Transaction<'static, Sqlite>),
    Postgres(Transaction<'static, Postgres>),
}

impl Db {
    /// Connections to PostgreSQL, unless more or fewer are asked for.
    pub const CONNECTIONS: NonZeroU32 = NonZeroU32::new(10).unwrap();

    /// Opens `sqlite:PATH`, `sqlite::memory:` or `postgres://…` and brings its tables up to date.
    ///
    /// A file is created if there is none. Several processes may open the same database at once.
    pub async fn open(url: &str) -> Result<Self, OpenError> {
        Self::open_with(url, Self::CONNECTIONS).await
    }

    /// Opens a database as [`Self::open`] does, with so many connections at most if it is PostgreSQL.
    pub async fn open_with(url: &str, connections: NonZeroU32) -> Result<Self, OpenError> {
        match url.split_once(':') {
            Some(("sqlite", _)) => Self::open_sqlite(url).await,
            Some(("postgres" | "postgresql", _)) => Self::open_postgres(url, connections.get()).await,
            Some(_) | None => Err(OpenError::UnknownEngine),
        }
    }

    async fn open_sqlite(url: &str) -> Result<Self, OpenError> {
        let options = SqliteConnectOptions::from_str(url).map_err(OpenError::Url)?;
        let in_memory = is_in_memory(url);
        if !in_memory {
            private_file::keep(options.get_filename());
        }
        let writer = open_writer(writer_options(&options)).await?;
        // A database in memory belongs to its connection.
        let (readers, durable) = if in_memory {
            (writer.clone(), writer.clone())
        } else {
            let durable = writer_options(&options).synchronous(SqliteSynchronous::Full);
            (open_readers(reader_options(options)), open_later(durable, 1))
        };
        Ok(Self { pools: Pools::Sqlite { writer, readers, durable }, probe: Arc::default() })
    }

    /// The file of a database, if the URL names one.
    pub fn file_of(url: &str) -> Option<PathBuf> {
        let is_file = url.starts_with("sqlite:") && !is_in_memory(url);
        let options = SqliteConnectOptions::from_str(url).ok().filter(|_| is_file)?;
        Some(options.get_filename().to_owned())
    }

    async fn open_postgres(url: &str, connections: u32) -> Result<Self, OpenError> {
        let options = PgConnectOptions::from_str(url).map_err(OpenError::Url)?;
        let options = options
            .statement_cache_capacity(PREPARED_STATEMENTS)
            .application_name("chainnet")
            .disable_statement_logging();
        let pool = PgPoolOptions::new()
            .max_connections(connections)
            .acquire_timeout(PATIENCE)
            .connect_with(options)
            .await
            .map_err(OpenError::Unreachable)?;
        let mut connection = pool.acquire().await.map_err(OpenError::Unreachable)?;
        migration::run(&mut *connection, Engine::Postgres).await?;
        drop(connection);
        Ok(Self { pools: Pools::Postgres(pool), probe: Arc::default() })
    }

    /// Which engine this is.
    pub fn engine(&self) -> Engine {
        match self.pools {
            Pools::Sqlite { .. } => Engine::Sqlite,
            Pools::Postgres(_) => Engine::Postgres,
        }
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<(), StoreError> {
        on_readers!(self, pool => sqlx::query("SELECT 1").execute(pool).await.map(drop))?;
        Ok(())
    }

    /// Gives back memory that a large piece of work has taken. SQLite keeps pages until it needs room for others.
    pub async fn shrink_memory(&self) -> Result<(), StoreError> {
        if let Pools::Sqlite { writer, .. } = &self.pools {
            sqlx::query("PRAGMA shrink_memory").execute(writer).await?;
        }
        Ok(())
    }

    /// How the pools of connections are doing.
    pub fn pools(&self) -> Vec<PoolState> {
        match &self.pools {
            Pools::Sqlite { writer, readers, durable } => vec![
                PoolState::of("writer", writer),
                PoolState::of("readers", readers),
                PoolState::of("durable", durable),
            ],
            Pools::Postgres(pool) => vec![PoolState::of("all", pool)],
        }
    }

    /// Closes all connections, waiting for what is under way.
    pub async fn close(&self) {
        match &self.pools {
            Pools::Sqlite { writer, readers, durable } => {
                readers.close().await;
                durable.close().await;
                writer.close().await;
            }
            Pools::Postgres(pool) => pool.close().await,
        }
    }

    /// Begins a transaction that will write. On SQLite it takes the write lock at once: a lock that is asked for after
    /// a read may be refused for good.
    pub(crate) async fn begin(&self) -> Result<Tx, StoreError> {
        Ok(Tx(match &self.pools {
            Pools::Sqlite { writer, .. } => Inner::Sqlite(writer.begin_with("BEGIN IMMEDIATE").await?),
            Pools::Postgres(pool) => Inner::Postgres(pool.begin().await?),
        }))
    }

    /// Begins a transaction that reads the database as it is now, whatever others write meanwhile.
    pub(crate) async fn begin_snapshot(&self) -> Result<Tx, StoreError> {
        Ok(Tx(match &self.pools {
            Pools::Sqlite { readers, .. } => Inner::Sqlite(readers.begin().await?),
            Pools::Postgres(pool) => {
                let beginning = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
                Inner::Postgres(pool.begin_with(beginning).await?)
            }
        }))
    }

    /// Begins a transaction that will write what the world outside must not know before the disk does. What was committed
    /// before it is then on the disk as well.
    pub(crate) async fn begin_durable(&self) -> Result<Tx, StoreError> {
        Ok(Tx(match &self.pools {
            Pools::Sqlite { durable, .. } => Inner::Sqlite(durable.begin_with("BEGIN IMMEDIATE").await?),
            Pools::Postgres(pool) => Inner::Postgres(pool.begin().await?),
        }))
    }
}

impl fmt::Debug for Db {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Db").field("engine", &self.engine()).finish_non_exhaustive()
    }
}

impl PoolState {
    fn of<D: sqlx::Database>(name: &'static str, pool: &Pool<D>) -> Self {
        let most = pool.options().get_max_connections();
        let open = pool.size();
        let idle = u32::try_from(pool.num_idle()).unwrap_or(u32::MAX);
        Self { name, most, open, in_use: open.saturating_sub(idle) }
    }
}

impl Tx {
    /// Which engine this is.
    pub(crate) fn engine(&self) -> Engine {
        match self.0 {
            Inner::Sqlite(_) => Engine::Sqlite,
            Inner::Postgres(_) => Engine::Postgres,
        }
    }

    /// Makes the transaction's changes durable and visible.
    pub(crate) async fn commit(self) -> Result<(), StoreError> {
        match self.0 {
            Inner::Sqlite(transaction) => transaction.commit().await?,
            Inner::Postgres(transaction) => transaction.commit().await?,
        }
        Ok(())
    }
}

fn is_in_memory(url: &str) -> bool {
    url.contains(":memory:") || url.contains("mode=memory")
}

fn common_options(options: SqliteConnectOptions) -> SqliteConnectOptions {
    options
        .busy_timeout(PATIENCE)
        .foreign_keys(true)
        .pragma("temp_store", "memory")
        .statement_cache_capacity(PREPARED_STATEMENTS)
        .disable_statement_logging()
}

fn writer_options(options: &SqliteConnectOptions) -> SqliteConnectOptions {
    common_options(options.clone())
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Normal)
        .pragma("cache_size", WRITER_CACHE)
        .pragma("wal_autocheckpoint", CHECKPOINT_PAGES)
        .pragma("journal_size_limit", LOG_LIMIT)
}

fn reader_options(options: SqliteConnectOptions) -> SqliteConnectOptions {
    common_options(options).pragma("cache_size", READER_CACHE).pragma("query_only", "1")
}

/// Two processes that create the same file get in each other's way while it changes to write-ahead logging, and SQLite
/// does not wait for that by itself.
async fn open_writer(options: SqliteConnectOptions) -> Result<SqlitePool, OpenError> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match try_open_writer(options.clone()).await {
            Err(error) if error.is_busy() && Instant::now() < deadline => {
                tokio::time::sleep(REOPEN_PAUSE).await;
            }
            opened => return opened,
        }
    }
}

async fn try_open_writer(options: SqliteConnectOptions) -> Result<SqlitePool, OpenError> {
    let pool = SqlitePoolOptions::new()
        .max_connections(1)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
        .acquire_timeout(PATIENCE)
        .connect_with(options)
        .await
        .map_err(OpenError::Unreachable)?;
    // SQLite has no lock for migrations but this one.
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await.map_err(OpenError::Unreachable)?;
    migration::run(&mut *transaction, Engine::Sqlite).await?;
    transaction.commit().await.map_err(OpenError::Unreachable)?;
    Ok(pool)
}

fn open_readers(options: SqliteConnectOptions) -> SqlitePool {
    open_later(options, SQLITE_READERS)
}

fn open_later(options: SqliteConnectOptions, connections: u32) -> SqlitePool {
    SqlitePoolOptions::new()
        .max_connections(connections)
        .test_before_acquire(false)
        .acquire_timeout(PATIENCE)
        .connect_lazy_with(options)
}
