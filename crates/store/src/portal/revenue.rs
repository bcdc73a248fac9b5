//! What paid invoices brought, by day.

use alloy_primitives::Address;
use domain::Wei;

use crate::{
    Db, StoreError,
    convert::{parse_wei, to_signed, to_unsigned},
};

/// What paid invoices brought on a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevenueRow {
    /// The day, in days since 1970.
    pub day: u64,
    /// Invoices that were paid.
    pub invoices: u64,
    /// What they brought, in rupiah.
    pub amount_idr: u64,
    /// The same in coin.
    pub amount: Wei,
}

impl Db {
    /// A wallet's days from `first` to `last` that brought something, in order.
    pub async fn list_revenue(
        &self,
        wallet: Address,
        first: u64,
        last: u64,
    ) -> Result<Vec<RevenueRow>, StoreError> {
        let sql = "SELECT day, invoices, amount_idr, amount_wei FROM portal_revenue \
                   WHERE wallet = $1 AND day >= $2 AND day <= $3 ORDER BY day";
        let (first, last) = (to_signed("day", first)?, to_signed("day", last)?);
        let rows: Vec<(i64, i64, i64, String)> = on_readers!(self, pool => {
            sqlx::query_as(sql).bind(wallet.as_slice()).bind(first).bind(last).fetch_all(pool).await
        })?;
        rows.into_iter()
            .map(|(day, invoices, amount_idr, amount)| {
                Ok(RevenueRow {
                    day: to_unsigned("day", day)?,
                    invoices: to_unsigned("number of invoices", invoices)?,
                    amount_idr: to_unsigned("revenue of a day", amount_idr)?,
                    amount: parse_wei("revenue of a day", &amount)?,
                })
            })
            .collect()
    }
}
