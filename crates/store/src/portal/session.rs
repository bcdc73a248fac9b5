//! Sessions of wallets. Only the hash of a token is here.

use alloy_primitives::{Address, B256};
use domain::portal::SessionId;
use sqlx::FromRow;

use super::{
    audit::{AuditRow, insert_audit},
    convert::parse_id,
    wallet::touch_wallet,
};
use crate::{
    Db, StoreError,
    convert::{parse_address, parse_hash, to_signed, to_unsigned},
    db::Tx,
};

/// A session. Times are Unix milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// Its id.
    pub id: SessionId,
    /// SHA-256 of its token.
    pub token_hash: B256,
    /// Whose it is.
    pub wallet: Address,
    /// Whether a contract vouched for the wallet, and not a key.
    pub is_contract: bool,
    /// When it began.
    pub created_at: u64,
    /// When it was last used, to the minute or so.
    pub last_seen_at: u64,
    /// When it ends at the latest.
    pub expires_at: u64,
    /// When the wallet ended it.
    pub revoked_at: Option<u64>,
}

#[derive(FromRow)]
struct RawSession {
    id: Vec<u8>,
    token_hash: Vec<u8>,
    wallet: Vec<u8>,
    is_contract: bool,
    created_at: i64,
    last_seen_at: i64,
    expires_at: i64,
    revoked_at: Option<i64>,
}

impl TryFrom<RawSession> for SessionRow {
    type Error = StoreError;

    fn try_from(raw: RawSession) -> Result<Self, StoreError> {
        let time = |time| to_unsigned("time of a session", time);
        Ok(Self {
            id: SessionId::from_bytes(parse_id("id of a session", &raw.id)?),
            token_hash: parse_hash("hash of a token", &raw.token_hash)?,
            wallet: parse_address("wallet of a session", &raw.wallet)?,
            is_contract: raw.is_contract,
            created_at: time(raw.created_at)?,
            last_seen_at: time(raw.last_seen_at)?,
            expires_at: time(raw.expires_at)?,
            revoked_at: raw.revoked_at.map(time).transpose()?,
        })
    }
}

impl Db {
    /// Begins a session of a wallet, which is made if this is its first.
    pub async fn insert_session(&self, session: &SessionRow, entry: &AuditRow) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        touch_wallet(&mut tx, session.wallet, session.created_at).await?;
        insert(&mut tx, session).await?;
        insert_audit(&mut tx, entry).await?;
        tx.commit().await
    }

    /// The session whose token has this hash, be it over.
    pub async fn find_session(&self, token_hash: B256) -> Result<Option<SessionRow>, StoreError> {
        let sql = "SELECT id, token_hash, wallet, is_contract, created_at, last_seen_at, expires_at, revoked_at \
                   FROM portal_session WHERE token_hash = $1";
        let raw: Option<RawSession> = on_readers!(self, pool => {
            sqlx::query_as(sql).bind(token_hash.as_slice()).fetch_optional(pool).await
        })?;
        raw.map(TryInto::try_into).transpose()
    }

    /// Notes that a session was used. One that has ended, or was seen later, stays as it is.
    pub async fn see_session(&self, id: SessionId, now: u64) -> Result<(), StoreError> {
        let sql = "UPDATE portal_session SET last_seen_at = $1 \
                   WHERE id = $2 AND last_seen_at < $1 AND revoked_at IS NULL";
        let now = to_signed("time", now)?;
        on_writer!(self, pool => {
            sqlx::query(sql).bind(now).bind(id.as_bytes().as_slice()).execute(pool).await.map(drop)
        })?;
        Ok(())
    }

    /// Ends a session of the entry's wallet. False, and nothing is written, when it has ended before or is another's.
    pub async fn revoke_session(
        &self,
        wallet: Address,
        id: SessionId,
        now: u64,
        entry: &AuditRow,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE portal_session SET revoked_at = $1 WHERE id = $2 AND wallet = $3 AND revoked_at IS NULL \
                   RETURNING id";
        let at = to_signed("time", now)?;
        let mut tx = self.begin().await?;
        touch_wallet(&mut tx, wallet, now).await?;
        let revoked: Option<Vec<u8>> = on_connection!(tx, connection => {
            sqlx::query_scalar(sql)
                .bind(at)
                .bind(id.as_bytes().as_slice())
                .bind(wallet.as_slice())
                .fetch_optional(connection)
                .await
        })?;
        if revoked.is_none() {
            return Ok(false);
        }
        insert_audit(&mut tx, entry).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Forgets sessions that had to end before this time.
    pub async fn delete_sessions_before(&self, time: u64) -> Result<u64, StoreError> {
        let sql = "DELETE FROM portal_session WHERE expires_at < $1";
        let time = to_signed("time", time)?;
        Ok(on_writer!(self, pool => {
            sqlx::query(sql).bind(time).execute(pool).await.map(|done| done.rows_affected())
        })?)
    }
}

async fn insert(tx: &mut Tx, session: &SessionRow) -> Result<(), StoreError> {
    let sql = "INSERT INTO portal_session (id, token_hash, wallet, is_contract, created_at, last_seen_at, expires_at, \
               revoked_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let time = |time| to_signed("time", time);
    let (created_at, last_seen_at) = (time(session.created_at)?, time(session.last_seen_at)?);
    let (expires_at, revoked_at) = (time(session.expires_at)?, session.revoked_at.map(time).transpose()?);
    on_connection!(tx, connection => {
        sqlx::query(sql)
            .bind(session.id.as_bytes().as_slice())
            .bind(session.token_hash.as_slice())
            .bind(session.wallet.as_slice())
            .bind(session.is_contract)
            .bind(created_at)
            .bind(last_seen_at)
            .bind(expires_at)
            .bind(revoked_at)
            .execute(connection)
            .await
            .map(drop)
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use domain::portal::{Actor, AuditAction, AuditId};

    use super::*;
    use crate::engine_tests;

    const WALLET: Address = Address::repeat_byte(7);

    fn session(number: u8) -> SessionRow {
        SessionRow {
            id: SessionId::from_bytes([number; 16]),
            token_hash: B256::repeat_byte(number),
            wallet: WALLET,
            is_contract: true,
            created_at: 1_000,
            last_seen_at: 1_000,
            expires_at: 5_000,
            revoked_at: None,
        }
    }

    fn entry(number: u8, action: AuditAction) -> AuditRow {
        AuditRow {
            id: AuditId::from_bytes([number; 16]),
            wallet: Some(WALLET),
            actor: Actor::Wallet,
            action,
            target: "it".to_owned(),
            origin: None,
            at: 1_000,
        }
    }

    async fn insert(db: &Db, session: &SessionRow) {
        let entry = entry(session.id.as_bytes()[0], AuditAction::SignedIn);
        db.insert_session(session, &entry).await.unwrap();
    }

    engine_tests! {
        async fn a_session_comes_back_by_its_hash_and_brings_its_wallet(test: TestDb) {
            insert(test, &session(1)).await;
            insert(test, &session(2)).await;
            assert_eq!(test.find_session(session(1).token_hash).await.unwrap(), Some(session(1)));
            assert_eq!(test.find_session(B256::ZERO).await.unwrap(), None);
            assert_eq!(test.find_wallet(WALLET).await.unwrap().unwrap().revision, 2);
            assert_eq!(test.list_audit(WALLET, 9).await.unwrap().len(), 2);
        }

        async fn a_session_is_seen_forwards_only(test: TestDb) {
            insert(test, &session(1)).await;
            for (now, seen) in [(2_000, 2_000), (1_500, 2_000), (3_000, 3_000)] {
                test.see_session(session(1).id, now).await.unwrap();
                let row = test.find_session(session(1).token_hash).await.unwrap().unwrap();
                assert_eq!(row.last_seen_at, seen);
            }
        }

        async fn a_session_is_ended_once_and_by_its_wallet(test: TestDb) {
            insert(test, &session(1)).await;
            let id = session(1).id;
            let end = entry(9, AuditAction::SignedOut);
            assert!(!test.revoke_session(Address::ZERO, id, 2_000, &end).await.unwrap());
            assert!(test.revoke_session(WALLET, id, 2_000, &end).await.unwrap());
            assert!(!test.revoke_session(WALLET, id, 3_000, &end).await.unwrap());
            test.see_session(id, 4_000).await.unwrap();
            let row = test.find_session(session(1).token_hash).await.unwrap().unwrap();
            assert_eq!((row.revoked_at, row.last_seen_at), (Some(2_000), 1_000));
            assert_eq!(test.list_audit(WALLET, 9).await.unwrap().len(), 2);
            assert_eq!(test.find_wallet(Address::ZERO).await.unwrap(), None, "nothing was written");
        }

        async fn old_sessions_are_forgotten(test: TestDb) {
            insert(test, &session(1)).await;
            insert(test, &SessionRow { expires_at: 9_000, ..session(2) }).await;
            assert_eq!(test.delete_sessions_before(6_000).await.unwrap(), 1);
            assert_eq!(test.find_session(session(1).token_hash).await.unwrap(), None);
            assert!(test.find_session(session(2).token_hash).await.unwrap().is_some());
        }
    }
}
