//! The rows of many wallets at once.

use std::collections::{BTreeMap, BTreeSet};

use alloy_primitives::Address;

use super::WalletRow;
use crate::{
    StoreError,
    bulk::{Bulk, chunks, list_text},
    convert::{to_signed, wei_text},
    db::Tx,
    portal::wallet::RawWallet,
};

const COLUMNS: &[&str] = &[
    "address",
    "revision",
    "sequence",
    "open_count",
    "paid_count",
    "expired_count",
    "void_count",
    "revenue_idr",
    "revenue_wei",
    "created_at",
];
/// Rows are taken in the order in which they stand in the statement.
static LOCK: Bulk = Bulk::new(
    "portal_wallet",
    COLUMNS,
    " ON CONFLICT (address) DO UPDATE SET revision = portal_wallet.revision + 1",
);
static WRITE: Bulk = Bulk::new(
    "portal_wallet",
    COLUMNS,
    " ON CONFLICT (address) DO UPDATE SET sequence = excluded.sequence, open_count = excluded.open_count, \
     paid_count = excluded.paid_count, expired_count = excluded.expired_count, void_count = excluded.void_count, \
     revenue_idr = excluded.revenue_idr, revenue_wei = excluded.revenue_wei",
);
const FIND: &str = "SELECT address, revision, sequence, open_count, paid_count, expired_count, void_count, revenue_idr, \
                    revenue_wei, created_at FROM portal_wallet WHERE address IN ({list})";

/// Takes the rows of wallets in ascending order, and makes those that are missing.
pub(super) async fn lock(tx: &mut Tx, wallets: &BTreeSet<Address>, now: u64) -> Result<(), StoreError> {
    let now = to_signed("time", now)?;
    let wallets: Vec<&Address> = wallets.iter().collect();
    on_connection!(tx, connection => LOCK.insert(connection, &wallets, |query, wallet| {
        let query = query.bind(wallet.to_vec()).bind(1i64);
        query.bind(0i64).bind(0i64).bind(0i64).bind(0i64).bind(0i64).bind(0i64).bind("0").bind(now)
    }).await)
}

/// Reads the rows of wallets.
pub(super) async fn load(
    tx: &mut Tx,
    wallets: &BTreeSet<Address>,
) -> Result<BTreeMap<Address, WalletRow>, StoreError> {
    let wallets: Vec<&Address> = wallets.iter().collect();
    let mut found = BTreeMap::new();
    for chunk in chunks(&wallets) {
        let text = list_text(FIND, 1, chunk.len());
        let rows: Vec<RawWallet> = on_connection!(tx, connection => {
            let query = chunk.iter().fold(sqlx::query_as(text), |query, wallet| query.bind(wallet.to_vec()));
            query.fetch_all(connection).await
        })?;
        for row in rows {
            let row = WalletRow::try_from(row)?;
            found.insert(row.address, row);
        }
    }
    Ok(found)
}

/// Writes what was counted. Only under [`lock`].
pub(super) async fn write(tx: &mut Tx, wallets: &BTreeMap<Address, WalletRow>) -> Result<(), StoreError> {
    let rows = wallets.values().map(numbers).collect::<Result<Vec<_>, StoreError>>()?;
    on_connection!(tx, connection => WRITE.insert(connection, &rows, |query, (wallet, numbers, created_at)| {
        let query = query.bind(wallet.address.to_vec());
        let query = numbers.iter().fold(query, |query, number| query.bind(*number));
        query.bind(wei_text(wallet.revenue)).bind(*created_at)
    }).await)
}

fn numbers(row: &WalletRow) -> Result<(&WalletRow, [i64; 7], i64), StoreError> {
    let number = |number| to_signed("number of a wallet", number);
    let numbers = [
        number(row.revision)?,
        number(row.sequence)?,
        number(row.open_count)?,
        number(row.paid_count)?,
        number(row.expired_count)?,
        number(row.void_count)?,
        number(row.revenue_idr)?,
    ];
    Ok((row, numbers, number(row.created_at)?))
}
