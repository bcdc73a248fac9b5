//! Sums of what validators did, over windows of time.

use std::collections::BTreeMap;

use alloy_primitives::Address;

use crate::{
    Db, StoreError,
    convert::{parse_address, to_unsigned},
    index::{
        ActivityReport, ActivitySums, ValidatorActivity, WindowStart,
        write::sums::{DAY, EVER, HOUR, start_of},
    },
};

const EVERYBODY: &str = "SELECT v.validator, a.address, v.proposed, v.kept, v.missed, v.unclear, v.sealed, v.blocks, \
     v.first_block, b.timestamp AS first_timestamp, v.last_proposed, v.last_sealed \
     FROM validator_activity v JOIN accounts a ON a.id = v.validator JOIN blocks b ON b.number = v.first_block \
     WHERE v.span = $1 AND v.start = 0";

// Hours up to the first full day, then days: a month is some fifty rows of a validator.
const WINDOW: &str = "SELECT validator, CAST(SUM(proposed) AS BIGINT) AS proposed, CAST(SUM(kept) AS BIGINT) AS kept, \
     CAST(SUM(missed) AS BIGINT) AS missed, CAST(SUM(unclear) AS BIGINT) AS unclear, \
     CAST(SUM(sealed) AS BIGINT) AS sealed, CAST(SUM(blocks) AS BIGINT) AS blocks FROM validator_activity \
     WHERE (span = $1 AND start >= $2 AND start < $3) OR (span = $4 AND start >= $3) GROUP BY validator";

#[derive(sqlx::FromRow)]
struct Everybody {
    validator: i64,
    address: Vec<u8>,
    #[sqlx(flatten)]
    sums: Sums,
    first_block: i64,
    first_timestamp: i64,
    last_proposed: Option<i64>,
    last_sealed: Option<i64>,
}

#[derive(sqlx::FromRow)]
struct InWindow {
    validator: i64,
    #[sqlx(flatten)]
    sums: Sums,
}

#[derive(sqlx::FromRow)]
struct Sums {
    proposed: i64,
    kept: i64,
    missed: i64,
    unclear: i64,
    sealed: i64,
    blocks: i64,
}

impl Db {
    /// What every validator did, ever and over windows of so many seconds that end at the index's last block.
    pub async fn validator_activity(&self, windows: &[u64]) -> Result<ActivityReport, StoreError> {
        let as_of = self.index_head().await?;
        let now = as_of.map_or(0, |head| head.timestamp);
        let windows: Vec<_> = windows
            .iter()
            .map(|&seconds| WindowStart { seconds, since: start_of(HOUR, now.saturating_sub(seconds)) })
            .collect();
        let everybody: Vec<Everybody> = on_readers!(self, pool => {
            sqlx::query_as(EVERYBODY).bind(EVER.cast_signed()).fetch_all(pool).await
        })?;
        let mut validators = BTreeMap::<Address, (i64, ValidatorActivity)>::new();
        for row in everybody {
            let account = row.validator;
            let activity = ValidatorActivity::try_from(row)?;
            validators.insert(activity.validator, (account, activity));
        }
        for window in &windows {
            let mut sums = self.activity_since(window.since).await?;
            for (account, activity) in validators.values_mut() {
                activity.windows.push(sums.remove(account).unwrap_or_default());
            }
        }
        let validators = validators.into_values().map(|(_, activity)| activity).collect();
        Ok(ActivityReport { as_of, windows, validators })
    }

    /// Sums from a full hour on, by the number of the validator.
    async fn activity_since(&self, since: u64) -> Result<BTreeMap<i64, ActivitySums>, StoreError> {
        let first_day = start_of(DAY, since.saturating_add(DAY - 1));
        let rows: Vec<InWindow> = on_readers!(self, pool => {
            sqlx::query_as(WINDOW)
                .bind(HOUR.cast_signed())
                .bind(since.cast_signed())
                .bind(first_day.cast_signed())
                .bind(DAY.cast_signed())
                .fetch_all(pool)
                .await
        })?;
        rows.into_iter().map(|row| Ok((row.validator, row.sums.try_into()?))).collect()
    }
}

impl TryFrom<Sums> for ActivitySums {
    type Error = StoreError;

    fn try_from(sums: Sums) -> Result<Self, StoreError> {
        let count = |number| to_unsigned("validator activity", number);
        Ok(Self {
            proposed: count(sums.proposed)?,
            kept: count(sums.kept)?,
            missed: count(sums.missed)?,
            unclear: count(sums.unclear)?,
            sealed: count(sums.sealed)?,
            blocks: count(sums.blocks)?,
        })
    }
}

impl TryFrom<Everybody> for ValidatorActivity {
    type Error = StoreError;

    fn try_from(row: Everybody) -> Result<Self, StoreError> {
        let number = |number| to_unsigned("validator activity", number);
        Ok(Self {
            validator: parse_address("validator", &row.address)?,
            total: row.sums.try_into()?,
            first_block: number(row.first_block)?,
            first_timestamp: number(row.first_timestamp)?,
            last_proposed: row.last_proposed.map(number).transpose()?,
            last_sealed: row.last_sealed.map(number).transpose()?,
            windows: Vec::new(),
        })
    }
}
