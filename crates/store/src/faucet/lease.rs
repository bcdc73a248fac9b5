//! Who may sign. Several processes may serve claims; one of them at a time pays them.

use crate::{
    Db, StoreError,
    convert::{to_signed, to_unsigned},
    db::Tx,
};

/// The right to sign, as long as nobody else has taken it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SenderLease {
    /// Number of the turn; the next holder has a higher one.
    pub turn: u64,
}

impl Db {
    /// Takes or renews the right to sign until a time; none while somebody else has it. Times are Unix milliseconds.
    pub async fn take_sender_lease(
        &self,
        holder: &str,
        now: u64,
        until: u64,
    ) -> Result<Option<SenderLease>, StoreError> {
        let sql = "UPDATE faucet_sender SET turn = CASE WHEN holder = $1 THEN turn ELSE turn + 1 END, holder = $1, \
                   expires_at = $2 WHERE id = 1 AND (holder = $1 OR expires_at <= $3) RETURNING turn";
        let (now, until) = (to_signed("time", now)?, to_signed("time", until)?);
        let turn: Option<i64> = on_writer!(self, pool => {
            sqlx::query_scalar(sql).bind(holder).bind(until).bind(now).fetch_optional(pool).await
        })?;
        turn.map(|turn| Ok(SenderLease { turn: to_unsigned("turn of a sender", turn)? })).transpose()
    }

    /// Gives the right back, so that the next holder need not wait for its end.
    pub async fn return_sender_lease(&self, lease: SenderLease) -> Result<(), StoreError> {
        let sql = "UPDATE faucet_sender SET expires_at = 0, holder = '' WHERE id = 1 AND turn = $1";
        let turn = to_signed("turn", lease.turn)?;
        on_writer!(self, pool => sqlx::query(sql).bind(turn).execute(pool).await.map(drop))?;
        Ok(())
    }
}

/// Begins a change that only the holder may make. False when somebody else has the lease.
pub(super) async fn hold(tx: &mut Tx, lease: SenderLease) -> Result<bool, StoreError> {
    let sql = "UPDATE faucet_sender SET turn = turn WHERE id = 1 AND turn = $1 RETURNING turn";
    let turn = to_signed("turn", lease.turn)?;
    let held: Option<i64> = on_connection!(tx, connection => {
        sqlx::query_scalar(sql).bind(turn).fetch_optional(connection).await
    })?;
    Ok(held.is_some())
}
