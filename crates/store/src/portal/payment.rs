//! Payments: what the chain has logged, and what it was for. Inserted by `credit`, never changed.

use std::ops::RangeInclusive;

use alloy_primitives::{Address, B256};
use domain::{
    Wei,
    portal::{InvoiceId, OrderId, PaymentException, PaymentId, PaymentPurpose},
};
use sqlx::FromRow;

use super::convert::parse_id;
use crate::{
    Db, StoreError,
    bulk::{chunks, list_text},
    convert::{parse_address, parse_hash, parse_wei, to_signed, to_unsigned},
};

/// A payment. Times are Unix milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentRow {
    /// Its id.
    pub id: PaymentId,
    /// The transaction.
    pub tx_hash: B256,
    /// Position among the block's logs.
    pub log_index: u32,
    /// Whose: the merchant, the wallet of the order, or who paid when nobody knows what for.
    pub wallet: Address,
    /// What it was for.
    pub purpose: PaymentPurpose,
    /// What is odd about it.
    pub exception: PaymentException,
    /// The invoice it was for.
    pub invoice_id: Option<InvoiceId>,
    /// The order it was for.
    pub order_id: Option<OrderId>,
    /// The quote that was paid.
    pub quote_id: Option<B256>,
    /// Who paid.
    pub payer: Address,
    /// How much.
    pub amount: Wei,
    /// The block.
    pub block_number: u64,
    /// The block's time.
    pub block_time: u64,
}

#[derive(FromRow)]
struct RawPayment {
    id: Vec<u8>,
    tx_hash: Vec<u8>,
    log_index: i64,
    wallet: Vec<u8>,
    purpose: String,
    exception: String,
    invoice_id: Option<Vec<u8>>,
    order_id: Option<Vec<u8>>,
    quote_id: Option<Vec<u8>>,
    payer: Vec<u8>,
    amount_wei: String,
    block_number: i64,
    block_time: i64,
}

impl TryFrom<RawPayment> for PaymentRow {
    type Error = StoreError;

    fn try_from(raw: RawPayment) -> Result<Self, StoreError> {
        let id = |bytes: &[u8]| parse_id("id of a payment", bytes);
        let word = |error| StoreError::corrupt("word of a payment", error);
        Ok(Self {
            id: PaymentId::from_bytes(id(&raw.id)?),
            tx_hash: parse_hash("transaction of a payment", &raw.tx_hash)?,
            log_index: u32::try_from(raw.log_index)
                .map_err(|error| StoreError::corrupt("place of a payment", error))?,
            wallet: parse_address("wallet of a payment", &raw.wallet)?,
            purpose: raw.purpose.parse().map_err(word)?,
            exception: raw.exception.parse().map_err(word)?,
            invoice_id: raw.invoice_id.map(|bytes| id(&bytes)).transpose()?.map(InvoiceId::from_bytes),
            order_id: raw.order_id.map(|bytes| id(&bytes)).transpose()?.map(OrderId::from_bytes),
            quote_id: raw.quote_id.map(|bytes| parse_hash("quote of a payment", &bytes)).transpose()?,
            payer: parse_address("payer", &raw.payer)?,
            amount: parse_wei("amount of a payment", &raw.amount_wei)?,
            block_number: to_unsigned("block of a payment", raw.block_number)?,
            block_time: to_unsigned("time of a payment", raw.block_time)?,
        })
    }
}

/// All columns, of the payments that a condition names.
macro_rules! select {
    ($condition:literal) => {
        concat!(
            "SELECT id, tx_hash, log_index, wallet, purpose, exception, invoice_id, order_id, quote_id, payer, \
             amount_wei, block_number, block_time FROM portal_payment WHERE ",
            $condition
        )
    };
}

impl Db {
    /// A wallet's payments before an id, newest first.
    pub async fn list_payments(
        &self,
        wallet: Address,
        before: Option<PaymentId>,
        limit: u32,
    ) -> Result<Vec<PaymentRow>, StoreError> {
        let sql = select!("wallet = $1 AND id < $2 ORDER BY id DESC LIMIT $3");
        let before = before.unwrap_or(PaymentId::from_bytes([u8::MAX; 16]));
        let rows: Vec<RawPayment> = on_readers!(self, pool => {
            sqlx::query_as(sql)
                .bind(wallet.as_slice())
                .bind(before.as_bytes().as_slice())
                .bind(i64::from(limit))
                .fetch_all(pool)
                .await
        })?;
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// All payments for some orders, oldest first.
    pub async fn payments_of_orders(&self, orders: &[OrderId]) -> Result<Vec<PaymentRow>, StoreError> {
        let ids: Vec<&[u8]> = orders.iter().map(|id| id.as_bytes().as_slice()).collect();
        self.payments_of(select!("order_id IN ({list}) ORDER BY id"), &ids).await
    }

    /// All payments for some invoices, oldest first.
    pub async fn payments_of_invoices(&self, invoices: &[InvoiceId]) -> Result<Vec<PaymentRow>, StoreError> {
        let ids: Vec<&[u8]> = invoices.iter().map(|id| id.as_bytes().as_slice()).collect();
        self.payments_of(select!("invoice_id IN ({list}) ORDER BY id"), &ids).await
    }

    /// All payments of some blocks, in the chain's order.
    pub async fn payments_in(&self, blocks: RangeInclusive<u64>) -> Result<Vec<PaymentRow>, StoreError> {
        let sql = select!("block_number >= $1 AND block_number <= $2 ORDER BY block_number, log_index");
        let first = to_signed("block", *blocks.start())?;
        let last = to_signed("block", *blocks.end())?;
        let rows: Vec<RawPayment> = on_readers!(self, pool => {
            sqlx::query_as(sql).bind(first).bind(last).fetch_all(pool).await
        })?;
        rows.into_iter().map(TryInto::try_into).collect()
    }

    async fn payments_of(&self, template: &str, ids: &[&[u8]]) -> Result<Vec<PaymentRow>, StoreError> {
        let mut found = Vec::new();
        for chunk in chunks(ids) {
            let text = list_text(template, 1, chunk.len());
            let rows: Vec<RawPayment> = on_readers!(self, pool => {
                let query = chunk.iter().fold(sqlx::query_as(text), |query, id| query.bind(id.to_vec()));
                query.fetch_all(pool).await
            })?;
            found.extend(rows);
        }
        found.into_iter().map(TryInto::try_into).collect()
    }
}
