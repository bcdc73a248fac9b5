//! Reading invoices. A page is one statement over one range of an index; quotes and payments are joined to its rows.

use alloy_primitives::Address;
use domain::portal::{InvoiceId, InvoiceState, InvoiceToken, PaymentId};
use sqlx::FromRow;

use super::{InvoicePaymentRow, InvoiceRecord, InvoiceRow, QuoteRow};
use crate::{
    Db, StoreError,
    convert::{parse_address, parse_hash, parse_wei, to_unsigned},
    db::Tx,
    portal::{convert::parse_id, rate::parse_rate},
};

/// Which invoices of a wallet are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InvoiceFilter<'a> {
    /// Those in this state.
    pub state: Option<InvoiceState>,
    /// The one that the merchant calls so.
    pub external_id: Option<&'a str>,
    /// Those that are older than this one.
    pub before: Option<InvoiceId>,
}

/// The text of a query for invoices with all that belongs to them.
macro_rules! records {
    ($rest:literal) => {
        concat!(
            "SELECT i.id, i.wallet, i.token, i.customer_label, i.amount_idr, i.note, i.external_id, i.state, ",
            "i.created_at, i.expires_at, i.paid_at, i.void_requested_at, q.id AS quote_id, ",
            "q.amount_wei AS quote_wei, q.rate_id, q.rate_e8, r.created_at AS rate_at, q.deadline, q.salt, ",
            "p.id AS payment_id, p.tx_hash, p.log_index, p.quote_id AS paid_quote, p.payer, ",
            "p.amount_wei AS paid_wei, p.block_number, p.block_time FROM portal_invoice i ",
            "LEFT JOIN portal_quote q ON q.invoice_id = i.id AND q.is_live ",
            "LEFT JOIN portal_rate r ON r.id = q.rate_id ",
            "LEFT JOIN portal_payment p ON p.invoice_id = i.id AND p.exception = 'none' ",
            $rest
        )
    };
}

const PAGE: &str = records!("WHERE i.wallet = $1 AND i.id < $2 ORDER BY i.id DESC LIMIT $3");
const PAGE_OF_STATE: &str =
    records!("WHERE i.wallet = $1 AND i.id < $2 AND i.state = $4 ORDER BY i.id DESC LIMIT $3");
const BY_EXTERNAL_ID: &str = records!("WHERE i.wallet = $1 AND i.external_id = $2");
const BY_ID: &str = records!("WHERE i.id = $1 AND i.wallet = $2");
const BY_TOKEN: &str = records!("WHERE i.token = $1");

#[derive(FromRow)]
struct RawRecord {
    id: Vec<u8>,
    wallet: Vec<u8>,
    token: Vec<u8>,
    customer_label: String,
    amount_idr: i64,
    note: String,
    external_id: Option<String>,
    state: String,
    created_at: i64,
    expires_at: i64,
    paid_at: Option<i64>,
    void_requested_at: Option<i64>,
    quote_id: Option<Vec<u8>>,
    quote_wei: Option<String>,
    rate_id: Option<i64>,
    rate_e8: Option<i64>,
    rate_at: Option<i64>,
    deadline: Option<i64>,
    salt: Option<Vec<u8>>,
    payment_id: Option<Vec<u8>>,
    tx_hash: Option<Vec<u8>>,
    log_index: Option<i64>,
    paid_quote: Option<Vec<u8>>,
    payer: Option<Vec<u8>>,
    paid_wei: Option<String>,
    block_number: Option<i64>,
    block_time: Option<i64>,
}

impl Db {
    /// A page of a wallet's invoices, newest first.
    pub async fn list_invoices(
        &self,
        wallet: Address,
        filter: InvoiceFilter<'_>,
        limit: u32,
    ) -> Result<Vec<InvoiceRecord>, StoreError> {
        if let Some(external_id) = filter.external_id {
            return self.list_by_external_id(wallet, external_id, filter).await;
        }
        // No id is larger: the first byte of a time is zero for another 8,000 years.
        let before = filter.before.unwrap_or(InvoiceId::from_bytes([0xff; 16]));
        let sql = if filter.state.is_some() { PAGE_OF_STATE } else { PAGE };
        let rows: Vec<RawRecord> = on_readers!(self, pool => {
            let query = sqlx::query_as(sql)
                .bind(wallet.as_slice())
                .bind(before.as_bytes().as_slice())
                .bind(i64::from(limit));
            match filter.state {
                Some(state) => query.bind(state.name()).fetch_all(pool).await,
                None => query.fetch_all(pool).await,
            }
        })?;
        rows.into_iter().map(TryInto::try_into).collect()
    }

    async fn list_by_external_id(
        &self,
        wallet: Address,
        external_id: &str,
        filter: InvoiceFilter<'_>,
    ) -> Result<Vec<InvoiceRecord>, StoreError> {
        let row: Option<RawRecord> = on_readers!(self, pool => {
            sqlx::query_as(BY_EXTERNAL_ID).bind(wallet.as_slice()).bind(external_id).fetch_optional(pool).await
        })?;
        let record: Option<InvoiceRecord> = row.map(TryInto::try_into).transpose()?;
        let is_wanted = |record: &InvoiceRecord| {
            filter.state.is_none_or(|state| record.invoice.state == state)
                && filter.before.is_none_or(|before| record.invoice.id < before)
        };
        Ok(record.filter(is_wanted).into_iter().collect())
    }

    /// An invoice of a wallet.
    pub async fn find_invoice(
        &self,
        wallet: Address,
        id: InvoiceId,
    ) -> Result<Option<InvoiceRecord>, StoreError> {
        let row: Option<RawRecord> = on_readers!(self, pool => {
            let query = sqlx::query_as(BY_ID).bind(id.as_bytes().as_slice()).bind(wallet.as_slice());
            query.fetch_optional(pool).await
        })?;
        row.map(TryInto::try_into).transpose()
    }

    /// The invoice of a payment link.
    pub async fn find_invoice_by_token(
        &self,
        token: InvoiceToken,
    ) -> Result<Option<InvoiceRecord>, StoreError> {
        let row: Option<RawRecord> = on_readers!(self, pool => {
            sqlx::query_as(BY_TOKEN).bind(token.as_bytes().as_slice()).fetch_optional(pool).await
        })?;
        row.map(TryInto::try_into).transpose()
    }
}

/// An invoice of a wallet, within a change.
pub(super) async fn find(
    tx: &mut Tx,
    wallet: Address,
    id: InvoiceId,
) -> Result<Option<InvoiceRecord>, StoreError> {
    let row: Option<RawRecord> = on_connection!(tx, connection => {
        let query = sqlx::query_as(BY_ID).bind(id.as_bytes().as_slice()).bind(wallet.as_slice());
        query.fetch_optional(connection).await
    })?;
    row.map(TryInto::try_into).transpose()
}

/// The invoice that a merchant calls so, within a change.
pub(super) async fn find_by_external_id(
    tx: &mut Tx,
    wallet: Address,
    external_id: &str,
) -> Result<Option<InvoiceRecord>, StoreError> {
    let row: Option<RawRecord> = on_connection!(tx, connection => {
        let query = sqlx::query_as(BY_EXTERNAL_ID).bind(wallet.as_slice()).bind(external_id);
        query.fetch_optional(connection).await
    })?;
    row.map(TryInto::try_into).transpose()
}

impl TryFrom<RawRecord> for InvoiceRecord {
    type Error = StoreError;

    fn try_from(mut raw: RawRecord) -> Result<Self, StoreError> {
        Ok(Self { quote: quote(&raw)?, payment: payment(&raw)?, invoice: invoice(&mut raw)? })
    }
}

fn invoice(raw: &mut RawRecord) -> Result<InvoiceRow, StoreError> {
    let time = |time| to_unsigned("time of an invoice", time);
    Ok(InvoiceRow {
        id: InvoiceId::from_bytes(parse_id("id of an invoice", &raw.id)?),
        wallet: parse_address("merchant", &raw.wallet)?,
        token: InvoiceToken::from_bytes(parse_id("token of an invoice", &raw.token)?),
        customer_label: std::mem::take(&mut raw.customer_label),
        amount_idr: to_unsigned("amount of an invoice", raw.amount_idr)?,
        note: std::mem::take(&mut raw.note),
        external_id: raw.external_id.take(),
        state: raw.state.parse().map_err(|error| StoreError::corrupt("state of an invoice", error))?,
        created_at: time(raw.created_at)?,
        expires_at: time(raw.expires_at)?,
        paid_at: raw.paid_at.map(time).transpose()?,
        void_requested_at: raw.void_requested_at.map(time).transpose()?,
    })
}

fn quote(raw: &RawRecord) -> Result<Option<QuoteRow>, StoreError> {
    let (Some(id), Some(amount), Some(rate_id), Some(rate), Some(rate_at), Some(deadline), Some(salt)) =
        (&raw.quote_id, &raw.quote_wei, raw.rate_id, raw.rate_e8, raw.rate_at, raw.deadline, &raw.salt)
    else {
        return Ok(None);
    };
    Ok(Some(QuoteRow {
        id: parse_hash("id of a quote", id)?,
        amount: parse_wei("amount of a quote", amount)?,
        rate_id: to_unsigned("number of a rate", rate_id)?,
        rate: parse_rate(rate)?,
        rate_at: to_unsigned("time of a rate", rate_at)?,
        deadline: to_unsigned("deadline of a quote", deadline)?,
        salt: parse_hash("salt of a quote", salt)?,
    }))
}

fn payment(raw: &RawRecord) -> Result<Option<InvoicePaymentRow>, StoreError> {
    let (Some(id), Some(tx_hash), Some(log_index), Some(payer), Some(amount), Some(number), Some(time)) = (
        &raw.payment_id,
        &raw.tx_hash,
        raw.log_index,
        &raw.payer,
        &raw.paid_wei,
        raw.block_number,
        raw.block_time,
    ) else {
        return Ok(None);
    };
    let quote_id = raw.paid_quote.as_ref().map(|id| parse_hash("id of a quote", id));
    Ok(Some(InvoicePaymentRow {
        id: PaymentId::from_bytes(parse_id("id of a payment", id)?),
        tx_hash: parse_hash("hash of a payment", tx_hash)?,
        log_index: to_unsigned("place of a payment", log_index)?,
        quote_id: quote_id.transpose()?,
        payer: parse_address("payer", payer)?,
        amount: parse_wei("amount of a payment", amount)?,
        block_number: to_unsigned("block of a payment", number)?,
        block_time: to_unsigned("time of a payment", time)?,
    }))
}
