//! What is compared with the chain.

use std::collections::HashSet;

use alloy_primitives::B256;

use crate::{
    Db, StoreError,
    bulk::{chunks, list_text},
    convert::{parse_hash, to_signed},
};

impl Db {
    /// Those of some quotes that are ours.
    pub async fn known_quotes(&self, quotes: &[B256]) -> Result<HashSet<B256>, StoreError> {
        let mut known = HashSet::new();
        for chunk in chunks(quotes) {
            let text = list_text("SELECT id FROM portal_quote WHERE id IN ({list})", 1, chunk.len());
            let rows: Vec<Vec<u8>> = on_readers!(self, pool => {
                let query = chunk.iter().fold(sqlx::query_scalar(text), |query, id| query.bind(id.to_vec()));
                query.fetch_all(pool).await
            })?;
            for row in rows {
                known.insert(parse_hash("id of a quote", &row)?);
            }
        }
        Ok(known)
    }

    /// The last quotes that have settled an invoice up to a block.
    pub async fn paid_quotes(&self, up_to: u64, limit: u32) -> Result<Vec<B256>, StoreError> {
        let sql = "SELECT quote_id FROM portal_payment WHERE block_number <= $1 AND purpose = 'invoice' \
                   AND exception = 'none' AND quote_id IS NOT NULL ORDER BY block_number DESC, log_index DESC LIMIT $2";
        let up_to = to_signed("block", up_to)?;
        let rows: Vec<Vec<u8>> = on_readers!(self, pool => {
            sqlx::query_scalar(sql).bind(up_to).bind(i64::from(limit)).fetch_all(pool).await
        })?;
        rows.iter().map(|row| parse_hash("id of a quote", row)).collect()
    }

    /// Quotes of the last invoices that are not paid, live or lapsed.
    pub async fn unpaid_quotes(&self, limit: u32) -> Result<Vec<B256>, StoreError> {
        let sql = "SELECT q.id FROM (SELECT id FROM portal_invoice WHERE state <> 'paid' ORDER BY id DESC LIMIT $1) i \
                   JOIN portal_quote q ON q.invoice_id = i.id LIMIT $1";
        let rows: Vec<Vec<u8>> = on_readers!(self, pool => {
            sqlx::query_scalar(sql).bind(i64::from(limit)).fetch_all(pool).await
        })?;
        rows.iter().map(|row| parse_hash("id of a quote", row)).collect()
    }
}
