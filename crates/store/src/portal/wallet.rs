//! Wallets: the row that whoever changes something of a wallet writes first.

use alloy_primitives::Address;
use domain::Wei;
use sqlx::FromRow;

use crate::{
    Db, StoreError,
    convert::{parse_address, parse_wei, to_signed, to_unsigned},
    db::Tx,
};

/// A wallet and what the dashboard counts of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalletRow {
    /// Its address.
    pub address: Address,
    /// Changes with everything that belongs to it.
    pub revision: u64,
    /// Of its last event.
    pub sequence: u64,
    /// Invoices that can be paid.
    pub open_count: u64,
    /// Invoices that are paid.
    pub paid_count: u64,
    /// Invoices that nobody paid in time.
    pub expired_count: u64,
    /// Invoices that were taken back.
    pub void_count: u64,
    /// What paid invoices brought, in rupiah.
    pub revenue_idr: u64,
    /// The same in coin.
    pub revenue: Wei,
    /// When it was first seen, in Unix milliseconds.
    pub created_at: u64,
}

#[derive(FromRow)]
pub(super) struct RawWallet {
    address: Vec<u8>,
    revision: i64,
    sequence: i64,
    open_count: i64,
    paid_count: i64,
    expired_count: i64,
    void_count: i64,
    revenue_idr: i64,
    revenue_wei: String,
    created_at: i64,
}

impl TryFrom<RawWallet> for WalletRow {
    type Error = StoreError;

    fn try_from(raw: RawWallet) -> Result<Self, StoreError> {
        let number = |number| to_unsigned("number of a wallet", number);
        Ok(Self {
            address: parse_address("wallet", &raw.address)?,
            revision: number(raw.revision)?,
            sequence: number(raw.sequence)?,
            open_count: number(raw.open_count)?,
            paid_count: number(raw.paid_count)?,
            expired_count: number(raw.expired_count)?,
            void_count: number(raw.void_count)?,
            revenue_idr: number(raw.revenue_idr)?,
            revenue: parse_wei("revenue of a wallet", &raw.revenue_wei)?,
            created_at: number(raw.created_at)?,
        })
    }
}

impl Db {
    /// The wallet with this address, if it has signed in or is owed something.
    pub async fn find_wallet(&self, address: Address) -> Result<Option<WalletRow>, StoreError> {
        let sql = "SELECT address, revision, sequence, open_count, paid_count, expired_count, void_count, revenue_idr, \
                   revenue_wei, created_at FROM portal_wallet WHERE address = $1";
        let raw: Option<RawWallet> = on_readers!(self, pool => {
            sqlx::query_as(sql).bind(address.as_slice()).fetch_optional(pool).await
        })?;
        raw.map(TryInto::try_into).transpose()
    }

    /// Invoices of all wallets that wait to be paid, from the wallets' own counts.
    pub async fn count_open_invoices(&self) -> Result<u64, StoreError> {
        let sql = "SELECT CAST(COALESCE(SUM(open_count), 0) AS BIGINT) FROM portal_wallet";
        let open: i64 = on_readers!(self, pool => sqlx::query_scalar(sql).fetch_one(pool).await)?;
        to_unsigned("number of a wallet", open)
    }

    /// A number that has changed when anything of a wallet has; zero before it has anything.
    pub async fn wallet_revision(&self, address: Address) -> Result<u64, StoreError> {
        let sql = "SELECT revision FROM portal_wallet WHERE address = $1";
        let revision: Option<i64> = on_readers!(self, pool => {
            sqlx::query_scalar(sql).bind(address.as_slice()).fetch_optional(pool).await
        })?;
        revision.map_or(Ok(0), |revision| to_unsigned("number of a wallet", revision))
    }
}

/// Begins a change of what belongs to a wallet, which is made if there is none. Rivals wait here until the change is
/// committed, so what is read after it holds until then.
pub(crate) async fn touch_wallet(tx: &mut Tx, address: Address, now: u64) -> Result<(), StoreError> {
    let sql = "INSERT INTO portal_wallet (address, revision, sequence, open_count, paid_count, expired_count, \
               void_count, revenue_idr, revenue_wei, created_at) VALUES ($1, 1, 0, 0, 0, 0, 0, 0, '0', $2) \
               ON CONFLICT (address) DO UPDATE SET revision = portal_wallet.revision + 1";
    let now = to_signed("time", now)?;
    on_connection!(tx, connection => {
        sqlx::query(sql).bind(address.as_slice()).bind(now).execute(connection).await.map(drop)
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine_tests;

    const WALLET: Address = Address::repeat_byte(7);

    engine_tests! {
        async fn a_wallet_is_made_once_and_moved_on_by_every_change(test: TestDb) {
            assert_eq!(test.find_wallet(WALLET).await.unwrap(), None);
            for (revision, now) in [(1, 1_000), (2, 2_000)] {
                let mut tx = test.begin().await.unwrap();
                touch_wallet(&mut tx, WALLET, now).await.unwrap();
                tx.commit().await.unwrap();
                let row = test.find_wallet(WALLET).await.unwrap().unwrap();
                assert_eq!((row.revision, row.created_at, row.sequence), (revision, 1_000, 0));
                assert_eq!((row.revenue, row.open_count), (Wei::from_coin(0), 0));
            }
        }

        async fn rivals_change_a_wallet_one_after_the_other(test: TestDb) {
            let changing: Vec<_> = (0..16)
                .map(|_| {
                    let db = test.db();
                    tokio::spawn(async move {
                        let mut tx = db.begin().await.unwrap();
                        touch_wallet(&mut tx, WALLET, 1).await.unwrap();
                        tx.commit().await.unwrap();
                    })
                })
                .collect();
            for change in changing {
                change.await.unwrap();
            }
            assert_eq!(test.find_wallet(WALLET).await.unwrap().unwrap().revision, 16);
        }
    }
}
