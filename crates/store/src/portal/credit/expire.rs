//! What ends because the chain's time has passed it. A bounded part with every batch; the rest with the next.

use std::collections::BTreeMap;

use alloy_primitives::{Address, B256};
use domain::portal::{InvoiceId, InvoiceState};

use super::WalletRow;
use crate::{
    StoreError,
    bulk::{chunks, list_text},
    convert::{parse_address, parse_hash, to_signed},
    db::Tx,
    portal::convert::parse_id,
};

/// Quotes, invoices and orders that end with one batch, each.
const MOST: i64 = 500;

/// Invoices that nobody can pay any more at this time, in Unix milliseconds, and their wallets.
///
/// The two ways to end have an index each.
pub(super) async fn ending_invoices(tx: &mut Tx, time: u64) -> Result<Vec<(InvoiceId, Address)>, StoreError> {
    let sql = "SELECT i.id, i.wallet FROM portal_invoice i WHERE i.id IN (\
                   SELECT id FROM (SELECT id FROM portal_invoice WHERE state = 'open' AND expires_at < $1 \
                                   ORDER BY expires_at LIMIT $3) AS lapsed \
                   UNION SELECT id FROM (SELECT id FROM portal_invoice WHERE state = 'open' \
                                         AND void_requested_at IS NOT NULL ORDER BY void_requested_at LIMIT $3) AS taken_back) \
               AND NOT EXISTS (SELECT 1 FROM portal_quote q WHERE q.invoice_id = i.id AND q.is_live AND q.deadline >= $2)";
    let (millis, seconds) = (to_signed("time", time)?, to_signed("time", time / 1000)?);
    let rows: Vec<(Vec<u8>, Vec<u8>)> = on_connection!(tx, connection => {
        sqlx::query_as(sql).bind(millis).bind(seconds).bind(MOST).fetch_all(connection).await
    })?;
    rows.into_iter()
        .map(|(id, wallet)| {
            let id = InvoiceId::from_bytes(parse_id("id of an invoice", &id)?);
            Ok((id, parse_address("wallet of an invoice", &wallet)?))
        })
        .collect()
}

/// Quotes that nobody can pay any more at this time, and the wallets whose invoices they are of.
pub(super) async fn ending_quotes(tx: &mut Tx, time: u64) -> Result<Vec<(B256, Address)>, StoreError> {
    let sql = "SELECT q.id, i.wallet FROM (\
                   SELECT id, invoice_id FROM portal_quote WHERE is_live AND deadline < $1 ORDER BY deadline LIMIT $2) q \
               JOIN portal_invoice i ON i.id = q.invoice_id";
    let seconds = to_signed("time", time / 1000)?;
    let rows: Vec<(Vec<u8>, Vec<u8>)> = on_connection!(tx, connection => {
        sqlx::query_as(sql).bind(seconds).bind(MOST).fetch_all(connection).await
    })?;
    rows.into_iter()
        .map(|(id, wallet)| {
            Ok((parse_hash("id of a quote", &id)?, parse_address("wallet of an invoice", &wallet)?))
        })
        .collect()
}

/// Ends what is over at this time. The wallets of the quotes and invoices must be locked: what they see has changed, and the
/// invoices are counted on them.
pub(super) async fn expire(
    tx: &mut Tx,
    time: u64,
    quotes: &[(B256, Address)],
    ending: &[(InvoiceId, Address)],
    wallets: &mut BTreeMap<Address, WalletRow>,
) -> Result<(), StoreError> {
    end_quotes(tx, quotes).await?;
    let orders = "UPDATE portal_order SET state = 'expired', holds_slot = FALSE WHERE state = 'awaiting_payment' \
                  AND id IN (SELECT id FROM portal_order WHERE state = 'awaiting_payment' AND expires_at < $1 \
                             ORDER BY expires_at LIMIT $2)";
    let millis = to_signed("time", time)?;
    on_connection!(tx, connection => {
        sqlx::query(orders).bind(millis).bind(MOST).execute(connection).await.map(drop)
    })?;
    end_invoices(tx, millis, ending, wallets).await
}

async fn end_quotes(tx: &mut Tx, quotes: &[(B256, Address)]) -> Result<(), StoreError> {
    for chunk in chunks(quotes) {
        let text = list_text("UPDATE portal_quote SET is_live = FALSE WHERE id IN ({list})", 1, chunk.len());
        on_connection!(tx, connection => {
            let query = chunk.iter().fold(sqlx::query(text), |query, (id, _)| query.bind(id.to_vec()));
            query.execute(connection).await.map(drop)
        })?;
    }
    Ok(())
}

async fn end_invoices(
    tx: &mut Tx,
    millis: i64,
    ending: &[(InvoiceId, Address)],
    wallets: &mut BTreeMap<Address, WalletRow>,
) -> Result<(), StoreError> {
    let sql = "UPDATE portal_invoice SET state = CASE WHEN void_requested_at IS NULL THEN 'expired' ELSE 'void' END, \
               closed_at = $1 WHERE id IN ({list}) AND state = 'open' AND NOT EXISTS \
               (SELECT 1 FROM portal_quote q WHERE q.invoice_id = portal_invoice.id AND q.is_live) \
               RETURNING wallet, state";
    for chunk in chunks(ending) {
        let text = list_text(sql, 2, chunk.len());
        let rows: Vec<(Vec<u8>, String)> = on_connection!(tx, connection => {
            let query = sqlx::query_as(text).bind(millis);
            let query = chunk.iter().fold(query, |query, (id, _)| query.bind(id.as_bytes().to_vec()));
            query.fetch_all(connection).await
        })?;
        for (wallet, state) in rows {
            let state = state.parse().map_err(|error| StoreError::corrupt("state of an invoice", error))?;
            if let Some(row) = wallets.get_mut(&parse_address("wallet of an invoice", &wallet)?) {
                count_ended(row, state);
            }
        }
    }
    Ok(())
}

fn count_ended(row: &mut WalletRow, state: InvoiceState) {
    row.open_count = row.open_count.saturating_sub(1);
    match state {
        InvoiceState::Expired => row.expired_count += 1,
        InvoiceState::Void => row.void_count += 1,
        InvoiceState::Open | InvoiceState::Paid => {}
    }
}
