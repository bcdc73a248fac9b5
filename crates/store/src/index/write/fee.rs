//! Adding up fees per source, per day and for ever.
//!
//! Sums of wei do not fit the numbers of a database, so they are read, added and written here, under the lock that the
//! cursor's row is.

use std::collections::BTreeMap;

use alloy_primitives::B256;
use domain::Wei;

use super::{
    NewBlock,
    sums::{DAY, EVER, start_of},
};
use crate::{
    StoreError,
    bulk::Bulk,
    convert::{parse_wei, to_unsigned, wei_text},
    db::Tx,
    index::{ContractEvent, FeeSums},
};

static FEES: Bulk = Bulk::new(
    "fee_sums",
    &["span", "start", "source", "payments", "collected", "burned", "held"],
    " ON CONFLICT (span, start, source) DO UPDATE SET payments = excluded.payments, \
     collected = excluded.collected, burned = excluded.burned, held = excluded.held",
);

const FIND: &str =
    "SELECT payments, collected, burned, held FROM fee_sums WHERE span = $1 AND start = $2 AND source = $3";

/// Adds the payments of the blocks to the sums.
pub(super) async fn add(tx: &mut Tx, blocks: &[NewBlock]) -> Result<(), StoreError> {
    let mut added = BTreeMap::<(u64, u64, B256), FeeSums>::new();
    for block in blocks {
        for event in &block.events {
            let ContractEvent::FeePaid { source, amount, burned, held, .. } = &event.event else { continue };
            let paid = FeeSums { payments: 1, collected: *amount, burned: *burned, held: *held };
            for span in [EVER, DAY] {
                added.entry((span, start_of(span, block.timestamp), *source)).or_default().add(&paid)?;
            }
        }
    }
    let mut rows = Vec::with_capacity(added.len());
    for (key, sums) in added {
        let mut total = find(tx, key).await?;
        total.add(&sums)?;
        rows.push((key, total));
    }
    on_connection!(tx, c => FEES.insert(c, &rows, |query, ((span, start, source), sums)| {
        query
            .bind(span.cast_signed())
            .bind(start.cast_signed())
            .bind(source.to_vec())
            .bind(sums.payments.cast_signed())
            .bind(wei_text(sums.collected))
            .bind(wei_text(sums.burned))
            .bind(wei_text(sums.held))
    }).await)
}

async fn find(tx: &mut Tx, (span, start, source): (u64, u64, B256)) -> Result<FeeSums, StoreError> {
    let row: Option<(i64, String, String, String)> = on_connection!(tx, c => {
        sqlx::query_as(FIND)
            .bind(span.cast_signed())
            .bind(start.cast_signed())
            .bind(source.to_vec())
            .fetch_optional(&mut *c)
            .await?
    });
    row.map_or_else(
        || Ok(FeeSums::default()),
        |(payments, collected, burned, held)| FeeSums::parse(payments, &collected, &burned, &held),
    )
}

impl FeeSums {
    pub(in crate::index) fn parse(
        payments: i64,
        collected: &str,
        burned: &str,
        held: &str,
    ) -> Result<Self, StoreError> {
        let wei = |text| parse_wei("sum of fees", text);
        Ok(Self {
            payments: to_unsigned("count of payments", payments)?,
            collected: wei(collected)?,
            burned: wei(burned)?,
            held: wei(held)?,
        })
    }

    pub(in crate::index) fn add(&mut self, other: &Self) -> Result<(), StoreError> {
        let sum = |a: Wei, b: Wei| {
            a.0.checked_add(b.0).map(Wei).ok_or(StoreError::TooLarge { what: "sum of fees" })
        };
        self.payments += other.payments;
        self.collected = sum(self.collected, other.collected)?;
        self.burned = sum(self.burned, other.burned)?;
        self.held = sum(self.held, other.held)?;
        Ok(())
    }
}
