//! Sums of fees.

use alloy_primitives::B256;

use crate::{
    Db, StoreError,
    convert::{parse_hash, to_unsigned},
    index::{
        FeeDay, FeeSums, FeeTotals, SourceFees,
        write::sums::{DAY, EVER, start_of},
    },
};

/// Days of the longest history.
const MOST_DAYS: u32 = 366;

// The cursor with the sums in one statement, so that both are of the same block.
const TOTALS: &str = "SELECT c.number, f.source, f.payments, f.collected, f.burned, f.held \
     FROM index_cursor c LEFT JOIN fee_sums f ON f.span = $1 AND f.start = 0 ORDER BY f.source";

const HISTORY: &str = "SELECT start, source, payments, collected, burned, held FROM fee_sums \
     WHERE span = $1 AND start >= $2 ORDER BY start, source";

type TotalsRow = (i64, Option<Vec<u8>>, Option<i64>, Option<String>, Option<String>, Option<String>);

impl Db {
    /// All fees up to the index's last block.
    pub async fn fee_totals(&self) -> Result<FeeTotals, StoreError> {
        let rows: Vec<TotalsRow> = on_readers!(self, pool => {
            sqlx::query_as(TOTALS).bind(EVER.cast_signed()).fetch_all(pool).await
        })?;
        let as_of_block = rows.first().and_then(|row| u64::try_from(row.0).ok());
        let mut totals = FeeTotals { as_of_block, total: FeeSums::default(), sources: Vec::new() };
        for row in rows {
            let (_, Some(source), Some(payments), Some(collected), Some(burned), Some(held)) = row else {
                continue;
            };
            let sums = FeeSums::parse(payments, &collected, &burned, &held)?;
            totals.total.add(&sums)?;
            totals.sources.push(SourceFees { source: parse_source(&source)?, sums });
        }
        Ok(totals)
    }

    /// The days on which fees were paid, oldest first, of the last `days` days up to the index's last block.
    pub async fn fee_history_by_day(&self, days: u32) -> Result<Vec<FeeDay>, StoreError> {
        let Some(head) = self.index_head().await? else { return Ok(Vec::new()) };
        let span = DAY * u64::from(days.clamp(1, MOST_DAYS) - 1);
        let since = start_of(DAY, head.timestamp).saturating_sub(span);
        let rows: Vec<(i64, Vec<u8>, i64, String, String, String)> = on_readers!(self, pool => {
            sqlx::query_as(HISTORY).bind(DAY.cast_signed()).bind(since.cast_signed()).fetch_all(pool).await
        })?;
        let mut history = Vec::<FeeDay>::new();
        for (start, source, payments, collected, burned, held) in rows {
            let start = to_unsigned("day", start)?;
            let sums = FeeSums::parse(payments, &collected, &burned, &held)?;
            let source = SourceFees { source: parse_source(&source)?, sums };
            match history.last_mut().filter(|day| day.start == start) {
                Some(day) => {
                    day.total.add(&sums)?;
                    day.sources.push(source);
                }
                None => history.push(FeeDay { start, total: sums, sources: vec![source] }),
            }
        }
        Ok(history)
    }
}

fn parse_source(bytes: &[u8]) -> Result<B256, StoreError> {
    parse_hash("source of fees", bytes)
}
