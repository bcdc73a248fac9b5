//! What a merchant has done, at a glance: from counts that are kept, never by counting.

use access::Clock;
use alloy_primitives::Address;
use domain::Wei;
use store::{
    Db, StoreError,
    portal::{InvoiceFilter, InvoiceRecord, RevenueRow, WalletRow},
};

use crate::time::millis;

/// Days that are shown, today included.
const DAYS: u64 = 30;
/// Newest invoices that are shown.
const RECENT: u32 = 5;
const DAY_MILLIS: u64 = 86_400_000;

/// Makes dashboards.
#[derive(Clone)]
pub struct Dashboards {
    db: Db,
    clock: Clock,
}

/// What a merchant has done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dashboard {
    /// The counts; none for a wallet that has never done anything.
    pub wallet: Option<WalletRow>,
    /// The last 30 days in order, today last, days that brought nothing included.
    pub days: Vec<RevenueRow>,
    /// The newest invoices.
    pub recent: Vec<InvoiceRecord>,
}

impl Dashboards {
    /// The dashboards in a database.
    pub fn new(db: Db, clock: Clock) -> Self {
        Self { db, clock }
    }

    /// What a wallet has done.
    pub async fn get(&self, wallet: Address) -> Result<Dashboard, StoreError> {
        let today = millis((self.clock)()) / DAY_MILLIS;
        let first = today.saturating_sub(DAYS - 1);
        let paid = self.db.list_revenue(wallet, first, today).await?;
        Ok(Dashboard {
            wallet: self.db.find_wallet(wallet).await?,
            days: fill(first, today, paid),
            recent: self.db.list_invoices(wallet, InvoiceFilter::default(), RECENT).await?,
        })
    }
}

/// Adds the days that brought nothing.
fn fill(first: u64, last: u64, paid: Vec<RevenueRow>) -> Vec<RevenueRow> {
    let mut paid = paid.into_iter().peekable();
    (first..=last)
        .map(|day| {
            let empty = RevenueRow { day, invoices: 0, amount_idr: 0, amount: Wei::default() };
            paid.next_if(|row| row.day == day).unwrap_or(empty)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_without_revenue_are_there() {
        let row = |day, invoices| RevenueRow {
            day,
            invoices,
            amount_idr: 1_000 * invoices,
            amount: Wei::default(),
        };
        let days = fill(10, 14, vec![row(11, 2), row(14, 1)]);
        assert_eq!(days, [row(10, 0), row(11, 2), row(12, 0), row(13, 0), row(14, 1)]);
    }
}
