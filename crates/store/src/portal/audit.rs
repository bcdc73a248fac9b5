//! The audit log: who did what. Rows are added, never changed; mostly within the transaction of what they tell.

use alloy_primitives::Address;
use domain::portal::{Actor, AuditAction, AuditId};
use sqlx::FromRow;

use super::convert::parse_id;
use crate::{
    Db, StoreError,
    convert::{parse_address, to_signed, to_unsigned},
    db::Tx,
};

/// An entry of the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    /// Its id.
    pub id: AuditId,
    /// Whose matter it is; none for the operators' own.
    pub wallet: Option<Address>,
    /// Who did it.
    pub actor: Actor,
    /// What was done.
    pub action: AuditAction,
    /// To what: an id, a host, a rate. Never a secret.
    pub target: String,
    /// The network that it came from, as [`domain::portal::origin_of`] makes it of an address.
    pub origin: Option<String>,
    /// When, in Unix milliseconds.
    pub at: u64,
}

#[derive(FromRow)]
struct RawAudit {
    id: Vec<u8>,
    wallet: Option<Vec<u8>>,
    actor: String,
    action: String,
    target: String,
    origin: Option<String>,
    at: i64,
}

impl TryFrom<RawAudit> for AuditRow {
    type Error = StoreError;

    fn try_from(raw: RawAudit) -> Result<Self, StoreError> {
        let corrupt_actor = |error| StoreError::corrupt("actor", error);
        let corrupt_action = |error| StoreError::corrupt("action", error);
        Ok(Self {
            id: AuditId::from_bytes(parse_id("id of an audit entry", &raw.id)?),
            wallet: raw.wallet.map(|wallet| parse_address("wallet", &wallet)).transpose()?,
            actor: raw.actor.parse().map_err(corrupt_actor)?,
            action: raw.action.parse().map_err(corrupt_action)?,
            target: raw.target,
            origin: raw.origin,
            at: to_unsigned("time of an audit entry", raw.at)?,
        })
    }
}

impl Db {
    /// Adds an entry about something that is not in the database.
    pub async fn add_audit(&self, entry: &AuditRow) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        insert_audit(&mut tx, entry).await?;
        tx.commit().await
    }

    /// The last entries about a wallet, newest first.
    pub async fn list_audit(&self, wallet: Address, limit: u32) -> Result<Vec<AuditRow>, StoreError> {
        let sql = "SELECT id, wallet, actor, action, target, origin, at FROM portal_audit WHERE wallet = $1 \
                   ORDER BY id DESC LIMIT $2";
        let rows: Vec<RawAudit> = on_readers!(self, pool => {
            sqlx::query_as(sql).bind(wallet.as_slice()).bind(i64::from(limit)).fetch_all(pool).await
        })?;
        rows.into_iter().map(TryInto::try_into).collect()
    }
}

/// Adds an entry with what it tells of.
pub(crate) async fn insert_audit(tx: &mut Tx, entry: &AuditRow) -> Result<(), StoreError> {
    let sql = "INSERT INTO portal_audit (id, wallet, actor, action, target, origin, at) \
               VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let at = to_signed("time", entry.at)?;
    on_connection!(tx, connection => {
        sqlx::query(sql)
            .bind(entry.id.as_bytes().as_slice())
            .bind(entry.wallet.as_ref().map(|wallet| wallet.as_slice()))
            .bind(entry.actor.to_string())
            .bind(entry.action.name())
            .bind(&entry.target)
            .bind(entry.origin.as_deref())
            .bind(at)
            .execute(connection)
            .await
            .map(drop)
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine_tests;

    const WALLET: Address = Address::repeat_byte(7);

    fn entry(at: u64, wallet: Option<Address>, actor: Actor) -> AuditRow {
        AuditRow {
            id: AuditId::new(at, 0),
            wallet,
            actor,
            action: AuditAction::KeyRevoked,
            target: "7Kq2mXc9TzPa".to_owned(),
            origin: Some("203.0.113.0/24".to_owned()),
            at,
        }
    }

    engine_tests! {
        async fn entries_come_back_newest_first_and_to_their_wallet_alone(test: TestDb) {
            let key = Actor::Key("7Kq2mXc9TzPa".parse().unwrap());
            let (first, second) = (entry(1, Some(WALLET), Actor::Wallet), entry(2, Some(WALLET), key));
            let operators = AuditRow { origin: None, ..entry(3, None, Actor::Operator) };
            for entry in [&first, &second, &operators, &entry(4, Some(Address::ZERO), Actor::System)] {
                test.add_audit(entry).await.unwrap();
            }
            assert_eq!(test.list_audit(WALLET, 10).await.unwrap(), [second.clone(), first]);
            assert_eq!(test.list_audit(WALLET, 1).await.unwrap(), [second]);
            assert!(test.add_audit(&operators).await.is_err(), "an entry is written once");
        }
    }
}
