//! Quotes: one at a time for an invoice.

use alloy_primitives::Address;
use domain::portal::{InvoiceId, InvoiceState};

use super::{InvoiceRecord, QuoteRow, read};
use crate::{
    Db, StoreError,
    convert::{to_signed, wei_text},
    db::Tx,
    portal::wallet::touch_wallet,
};

/// A quote that is to be given if the invoice has none that can be paid.
#[derive(Debug, Clone, Copy)]
pub struct NewQuote<'a> {
    /// The merchant.
    pub wallet: Address,
    /// The invoice.
    pub invoice: InvoiceId,
    /// The quote.
    pub quote: &'a QuoteRow,
    /// The time of the chain's head, in seconds.
    pub chain_time: u64,
    /// Now, in Unix milliseconds.
    pub at: u64,
}

/// What became of a quote that was to be given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuoteIssue {
    /// The invoice has a quote: this one, or one that was there before.
    Quoted(Box<InvoiceRecord>),
    /// The invoice cannot be paid any more, or the merchant has taken it back.
    NotOpen,
    /// The deadline of the last quote has passed on the chain, but the blocks until then are not credited yet: it may have
    /// been paid.
    Unsettled,
    /// The wallet has no such invoice.
    Unknown,
}

impl Db {
    /// Gives a quote, unless the invoice has one. Whether that can still be paid is for whoever credits payments to say:
    /// two that can would let a customer pay twice.
    pub async fn issue_quote(&self, new: NewQuote<'_>) -> Result<QuoteIssue, StoreError> {
        let mut tx = self.begin().await?;
        touch_wallet(&mut tx, new.wallet, new.at).await?;
        let Some(mut record) = read::find(&mut tx, new.wallet, new.invoice).await? else {
            return Ok(QuoteIssue::Unknown);
        };
        if record.invoice.state != InvoiceState::Open || record.invoice.void_requested_at.is_some() {
            return Ok(QuoteIssue::NotOpen);
        }
        match &record.quote {
            Some(quote) if quote.deadline < new.chain_time => return Ok(QuoteIssue::Unsettled),
            Some(_) => return Ok(QuoteIssue::Quoted(Box::new(record))),
            None => {}
        }
        insert(&mut tx, new).await?;
        tx.commit().await?;
        record.quote = Some(new.quote.clone());
        Ok(QuoteIssue::Quoted(Box::new(record)))
    }
}

async fn insert(tx: &mut Tx, new: NewQuote<'_>) -> Result<(), StoreError> {
    let sql = "INSERT INTO portal_quote (id, invoice_id, amount_wei, rate_id, rate_e8, deadline, salt, is_live, \
               created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, TRUE, $8)";
    let quote = new.quote;
    let (rate_id, rate) =
        (to_signed("number of a rate", quote.rate_id)?, to_signed("rate", quote.rate.e8())?);
    let (deadline, at) = (to_signed("deadline", quote.deadline)?, to_signed("time", new.at)?);
    on_connection!(tx, connection => {
        sqlx::query(sql)
            .bind(quote.id.as_slice())
            .bind(new.invoice.as_bytes().as_slice())
            .bind(wei_text(quote.amount))
            .bind(rate_id)
            .bind(rate)
            .bind(deadline)
            .bind(quote.salt.as_slice())
            .bind(at)
            .execute(connection)
            .await
            .map(drop)
    })?;
    Ok(())
}
