//! One body for both engines.
//!
//! The engines' types differ, so a function cannot be written once over both; these macros write its body twice. The
//! body sees a pool or a connection of whichever engine it is and must be the same text of SQL for both.

/// Runs a body with the pool that reads: `on_readers!(db, pool => query.fetch_all(pool).await?)`.
macro_rules! on_readers {
    ($db:expr, $pool:ident => $body:expr) => {
        match &$db.pools {
            $crate::db::Pools::Sqlite { readers: $pool, .. } => $body,
            $crate::db::Pools::Postgres($pool) => $body,
        }
    };
}

/// Runs a body with the pool that writes, for a change that is a single statement.
macro_rules! on_writer {
    ($db:expr, $pool:ident => $body:expr) => {
        match &$db.pools {
            $crate::db::Pools::Sqlite { writer: $pool, .. } => $body,
            $crate::db::Pools::Postgres($pool) => $body,
        }
    };
}

/// Runs a body with the connection of a transaction: `on_connection!(tx, c => query.execute(&mut *c).await?)`.
macro_rules! on_connection {
    ($transaction:expr, $connection:ident => $body:expr) => {
        match &mut $transaction.0 {
            $crate::db::Inner::Sqlite(transaction) => {
                let $connection = &mut **transaction;
                $body
            }
            $crate::db::Inner::Postgres(transaction) => {
                let $connection = &mut **transaction;
                $body
            }
        }
    };
}
