//! What the coin costs: rows are added, and the last one counts.

use domain::portal::Rate;
use sqlx::FromRow;

use crate::{
    Db, StoreError,
    convert::{to_signed, to_unsigned},
    db::Tx,
    portal::{AuditRow, audit::insert_audit},
};

/// The constraint that a second row with the same number violates.
const ONE_NUMBER: &str = "portal_rate_pkey";

const COLUMNS: &str = "id, rate_e8, set_by, note, created_at";

/// A rate. Times are Unix milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateRow {
    /// Its place in the order of rates, from 1.
    pub id: u64,
    /// Rupiah for a coin.
    pub rate: Rate,
    /// Who set it.
    pub set_by: String,
    /// Why.
    pub note: Option<String>,
    /// From when on it counts.
    pub created_at: u64,
}

#[derive(FromRow)]
struct RawRate {
    id: i64,
    rate_e8: i64,
    set_by: String,
    note: Option<String>,
    created_at: i64,
}

impl Db {
    /// The rate that counts, if there is any.
    pub async fn find_rate(&self) -> Result<Option<RateRow>, StoreError> {
        Ok(self.list_rates(1).await?.pop())
    }

    /// The last rates, newest first.
    pub async fn list_rates(&self, limit: u32) -> Result<Vec<RateRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM portal_rate ORDER BY id DESC LIMIT $1");
        let rows: Vec<RawRate> = on_readers!(self, pool => {
            sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(i64::from(limit)).fetch_all(pool).await
        })?;
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// Adds a rate behind the last one that its author has seen. False, and nothing changes, when somebody was faster.
    pub async fn insert_rate(&self, row: &RateRow, audit: &AuditRow) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        match insert(&mut tx, row).await {
            Ok(()) => {}
            Err(StoreError::Conflict { constraint, .. }) if constraint == ONE_NUMBER => return Ok(false),
            Err(error) => return Err(error),
        }
        insert_audit(&mut tx, audit).await?;
        tx.commit().await?;
        Ok(true)
    }
}

async fn insert(tx: &mut Tx, row: &RateRow) -> Result<(), StoreError> {
    let sql = "INSERT INTO portal_rate (id, rate_e8, set_by, note, created_at) VALUES ($1, $2, $3, $4, $5)";
    let (id, rate) = (to_signed("number of a rate", row.id)?, to_signed("rate", row.rate.e8())?);
    let at = to_signed("time", row.created_at)?;
    on_connection!(tx, connection => {
        sqlx::query(sql)
            .bind(id)
            .bind(rate)
            .bind(&row.set_by)
            .bind(&row.note)
            .bind(at)
            .execute(connection)
            .await
            .map(drop)
    })?;
    Ok(())
}

impl TryFrom<RawRate> for RateRow {
    type Error = StoreError;

    fn try_from(raw: RawRate) -> Result<Self, StoreError> {
        Ok(Self {
            id: to_unsigned("number of a rate", raw.id)?,
            rate: parse_rate(raw.rate_e8)?,
            set_by: raw.set_by,
            note: raw.note,
            created_at: to_unsigned("time of a rate", raw.created_at)?,
        })
    }
}

/// A column with a rate.
pub(super) fn parse_rate(e8: i64) -> Result<Rate, StoreError> {
    let rate = Rate::from_e8(to_unsigned("rate", e8)?);
    rate.ok_or_else(|| StoreError::corrupt("rate", "out of range"))
}

#[cfg(test)]
mod tests {
    use domain::portal::{Actor, AuditAction, AuditId};

    use super::*;
    use crate::engine_tests;

    fn audit(at: u64) -> AuditRow {
        let (actor, action) = (Actor::Operator, AuditAction::RateSet);
        let (target, origin) = ("1000".to_owned(), None);
        AuditRow { id: AuditId::new(at, 0), wallet: None, actor, action, target, origin, at }
    }

    fn row(id: u64, rate: &str) -> RateRow {
        let note = (id == 2).then(|| "a better month".to_owned());
        RateRow { id, rate: rate.parse().unwrap(), set_by: "operator".into(), note, created_at: 1_000 * id }
    }

    engine_tests! {
        async fn the_last_rate_counts_and_none_is_changed(test: TestDb) {
            assert_eq!(test.find_rate().await.unwrap(), None);
            assert!(test.insert_rate(&row(1, "1000"), &audit(1)).await.unwrap());
            assert!(test.insert_rate(&row(2, "1234.56789012"), &audit(2)).await.unwrap());
            assert!(!test.insert_rate(&row(2, "5"), &audit(3)).await.unwrap(), "somebody was faster");
            assert_eq!(test.find_rate().await.unwrap(), Some(row(2, "1234.56789012")));
            let all = test.list_rates(10).await.unwrap();
            assert_eq!(all, [row(2, "1234.56789012"), row(1, "1000")]);
        }
    }
}
