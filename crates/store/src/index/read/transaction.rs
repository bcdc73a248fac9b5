//! Lists of transactions.

use alloy_primitives::Address;

use super::limit;
use crate::{
    Db, StoreError,
    convert::{parse_address, parse_hash, parse_wei, to_unsigned},
    index::{
        TransactionRow,
        place::{parts, upper_end},
    },
};

// The places are chosen first, so that nothing is joined that is not shown.
macro_rules! listed {
    ($places:literal) => {
        concat!(
            "SELECT t.place, t.hash, s.address AS sender, r.address AS recipient, c.address AS created, t.value, \
             t.success, t.gas_used, t.fee, t.selector, t.nonce, b.timestamp FROM (",
            $places,
            ") p JOIN transactions t ON t.place = p.place JOIN blocks b ON b.number = p.place / 1048576 \
             JOIN accounts s ON s.id = t.sender LEFT JOIN accounts r ON r.id = t.recipient \
             LEFT JOIN accounts c ON c.id = t.created ORDER BY p.place DESC"
        )
    };
}

const LIST: &str = listed!("SELECT place FROM transactions WHERE place < $1 ORDER BY place DESC LIMIT $2");
const LIST_OF_ACCOUNT: &str = listed!(
    "SELECT place FROM account_transactions WHERE place < $1 AND account = $3 ORDER BY place DESC LIMIT $2"
);

#[derive(sqlx::FromRow)]
struct Row {
    place: i64,
    hash: Vec<u8>,
    sender: Vec<u8>,
    recipient: Option<Vec<u8>>,
    created: Option<Vec<u8>>,
    value: String,
    success: bool,
    gas_used: i64,
    fee: String,
    selector: Option<Vec<u8>>,
    nonce: i64,
    timestamp: i64,
}

impl Db {
    /// Transactions before a block and index, newest first.
    pub async fn list_transactions(
        &self,
        before: Option<(u64, u32)>,
        most: u32,
    ) -> Result<Vec<TransactionRow>, StoreError> {
        let rows: Vec<Row> = on_readers!(self, pool => {
            sqlx::query_as(LIST).bind(upper_end(before)).bind(limit(most)).fetch_all(pool).await
        })?;
        rows.into_iter().map(TransactionRow::try_from).collect()
    }

    /// Transactions that an account sent, received or was created by, each once, newest first.
    pub async fn list_account_transactions(
        &self,
        address: Address,
        before: Option<(u64, u32)>,
        most: u32,
    ) -> Result<Vec<TransactionRow>, StoreError> {
        let Some(account) = self.account_number(address).await? else { return Ok(Vec::new()) };
        let rows: Vec<Row> = on_readers!(self, pool => {
            sqlx::query_as(LIST_OF_ACCOUNT)
                .bind(upper_end(before))
                .bind(limit(most))
                .bind(account)
                .fetch_all(pool)
                .await
        })?;
        rows.into_iter().map(TransactionRow::try_from).collect()
    }
}

impl TryFrom<Row> for TransactionRow {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        let party = |bytes: Option<Vec<u8>>| bytes.map(|bytes| parse_address("account", &bytes)).transpose();
        let selector = row.selector.map(<[u8; 4]>::try_from).transpose();
        let (block_number, index) = parts(row.place);
        Ok(Self {
            block_number,
            index,
            hash: parse_hash("transaction hash", &row.hash)?,
            from: parse_address("account", &row.sender)?,
            to: party(row.recipient)?,
            contract_address: party(row.created)?,
            value: parse_wei("value", &row.value)?,
            success: row.success,
            gas_used: row.gas_used.cast_unsigned(),
            fee: parse_wei("fee", &row.fee)?,
            selector: selector.map_err(|_| StoreError::corrupt("selector", "not four bytes"))?,
            nonce: row.nonce.cast_unsigned(),
            timestamp: to_unsigned("timestamp", row.timestamp)?,
        })
    }
}
