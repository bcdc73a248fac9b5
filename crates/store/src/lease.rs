//! Rights that one process at a time has, out of many that want it.

use crate::{
    Db, StoreError,
    convert::{to_signed, to_unsigned},
    db::Tx,
};

/// A right, as long as nobody else has taken it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// Which right.
    pub name: &'static str,
    /// Number of the turn; the next holder has a higher one.
    pub turn: u64,
}

impl Db {
    /// Takes or renews a right until a time; none while somebody else has it. Times are Unix milliseconds.
    pub async fn take_lease(
        &self,
        name: &'static str,
        holder: &str,
        now: u64,
        until: u64,
    ) -> Result<Option<Lease>, StoreError> {
        let sql = "UPDATE lease SET turn = CASE WHEN holder = $1 THEN turn ELSE turn + 1 END, holder = $1, \
                   expires_at = $2 WHERE name = $4 AND (holder = $1 OR expires_at <= $3) RETURNING turn";
        let (now, until) = (to_signed("time", now)?, to_signed("time", until)?);
        let turn: Option<i64> = on_writer!(self, pool => {
            sqlx::query_scalar(sql).bind(holder).bind(until).bind(now).bind(name).fetch_optional(pool).await
        })?;
        turn.map(|turn| Ok(Lease { name, turn: to_unsigned("turn of a lease", turn)? })).transpose()
    }

    /// Gives a right back, so that the next holder need not wait for its end.
    pub async fn return_lease(&self, lease: Lease) -> Result<(), StoreError> {
        let sql = "UPDATE lease SET expires_at = 0, holder = '' WHERE name = $1 AND turn = $2";
        let turn = to_signed("turn", lease.turn)?;
        on_writer!(self, pool => sqlx::query(sql).bind(lease.name).bind(turn).execute(pool).await.map(drop))?;
        Ok(())
    }
}

/// Begins a change that only the holder may make. False when somebody else has the lease.
pub(crate) async fn hold(tx: &mut Tx, lease: Lease) -> Result<bool, StoreError> {
    let sql = "UPDATE lease SET turn = turn WHERE name = $1 AND turn = $2 RETURNING turn";
    let turn = to_signed("turn", lease.turn)?;
    let held: Option<i64> = on_connection!(tx, connection => {
        sqlx::query_scalar(sql).bind(lease.name).bind(turn).fetch_optional(connection).await
    })?;
    Ok(held.is_some())
}
