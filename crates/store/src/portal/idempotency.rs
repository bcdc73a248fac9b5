//! Answers to requests that must take effect once.
//!
//! An answer is written in the transaction of its effect, so that there is never one without the other. That transaction
//! begins with the wallet's row: rivals with the same key wait there, and then find the answer.

use alloy_primitives::{Address, B256};
use sqlx::FromRow;

use crate::{
    Db, StoreError,
    convert::{parse_hash, to_signed},
    db::Tx,
};

/// A request that must take effect once. Times are Unix milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnceRequest {
    /// What is asked for; the same key may be used for something else.
    pub route: &'static str,
    /// The caller's name for the request.
    pub key: String,
    /// SHA-256 of the request's body.
    pub fingerprint: B256,
    /// When it was made.
    pub at: u64,
    /// Until when its answer is kept.
    pub expires_at: u64,
}

/// An answer that is given again to the same request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptAnswer {
    /// Its status.
    pub status: u16,
    /// Its body.
    pub body: Vec<u8>,
}

/// What is known of a request that was made before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repeat {
    /// It was answered so.
    Answered(KeptAnswer),
    /// Its key was used for another request.
    KeyReused,
}

/// A request that must take effect once, and how its effect is answered.
pub struct Once<'a, T> {
    /// The request.
    pub request: &'a OnceRequest,
    /// The answer.
    pub answer: &'a (dyn Fn(&T) -> KeptAnswer + Send + Sync),
}

#[derive(FromRow)]
struct RawAnswer {
    fingerprint: Vec<u8>,
    status: i16,
    body: Vec<u8>,
    expires_at: i64,
}

/// What became of the request before, if it was made. The transaction has the wallet's row.
pub(crate) async fn find_repeat(
    tx: &mut Tx,
    wallet: Address,
    request: &OnceRequest,
) -> Result<Option<Repeat>, StoreError> {
    let sql = "SELECT fingerprint, status, body, expires_at FROM portal_idempotency \
               WHERE wallet = $1 AND route = $2 AND key = $3";
    let row: Option<RawAnswer> = on_connection!(tx, connection => {
        sqlx::query_as(sql)
            .bind(wallet.as_slice())
            .bind(request.route)
            .bind(&request.key)
            .fetch_optional(connection)
            .await
    })?;
    let at = to_signed("time", request.at)?;
    let Some(row) = row.filter(|row| row.expires_at > at) else { return Ok(None) };
    if parse_hash("fingerprint of a request", &row.fingerprint)? != request.fingerprint {
        return Ok(Some(Repeat::KeyReused));
    }
    let status = u16::try_from(row.status).map_err(|error| StoreError::corrupt("status", error))?;
    Ok(Some(Repeat::Answered(KeptAnswer { status, body: row.body })))
}

/// Keeps an answer, in the place of one that has expired. The transaction has the wallet's row.
pub(crate) async fn keep_answer(
    tx: &mut Tx,
    wallet: Address,
    request: &OnceRequest,
    answer: &KeptAnswer,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO portal_idempotency (wallet, route, key, fingerprint, status, body, expires_at) \
               VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (wallet, route, key) DO UPDATE SET \
               fingerprint = $4, status = $5, body = $6, expires_at = $7";
    let status = i16::try_from(answer.status).map_err(|_| StoreError::TooLarge { what: "status" })?;
    let expires_at = to_signed("time", request.expires_at)?;
    on_connection!(tx, connection => {
        sqlx::query(sql)
            .bind(wallet.as_slice())
            .bind(request.route)
            .bind(&request.key)
            .bind(request.fingerprint.as_slice())
            .bind(status)
            .bind(&answer.body)
            .bind(expires_at)
            .execute(connection)
            .await
            .map(drop)
    })?;
    Ok(())
}

impl Db {
    /// Forgets answers that have expired, oldest first, and says how many.
    pub async fn prune_answers(&self, now: u64, limit: u32) -> Result<u64, StoreError> {
        let sql = "DELETE FROM portal_idempotency WHERE (wallet, route, key) IN \
                   (SELECT wallet, route, key FROM portal_idempotency WHERE expires_at <= $1 \
                   ORDER BY expires_at LIMIT $2)";
        let now = to_signed("time", now)?;
        let pruned = on_writer!(self, pool => {
            let query = sqlx::query(sql).bind(now).bind(i64::from(limit));
            query.execute(pool).await.map(|done| done.rows_affected())
        })?;
        Ok(pruned)
    }
}
