//! Taking an invoice back.

use alloy_primitives::Address;
use domain::portal::{InvoiceId, InvoiceState};

use super::{InvoiceRecord, read};
use crate::{
    Db, StoreError,
    convert::to_signed,
    db::Tx,
    portal::{
        AuditRow,
        audit::insert_audit,
        idempotency::{KeptAnswer, Once, Repeat, find_repeat, keep_answer},
        wallet::touch_wallet,
    },
};

/// What became of an invoice that was to be taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InvoiceVoid {
    /// It is void, now or since before; or it will be when its quote's deadline has passed, unless that is paid until then.
    Done(Box<InvoiceRecord>),
    /// The same request was made before; this was its answer.
    Repeated(KeptAnswer),
    /// The key of the request was used for another one.
    KeyReused,
    /// The wallet has no such invoice.
    Unknown,
    /// It has come to another end.
    Closed(InvoiceState),
}

impl Db {
    /// Takes an invoice back, when and by whom `audit` says. While a quote can be paid it only asks for that: no further
    /// quote is given, and whoever credits payments ends it.
    pub async fn void_invoice(
        &self,
        wallet: Address,
        id: InvoiceId,
        audit: &AuditRow,
        once: Option<Once<'_, InvoiceRecord>>,
    ) -> Result<InvoiceVoid, StoreError> {
        let now = audit.at;
        let mut tx = self.begin().await?;
        touch_wallet(&mut tx, wallet, now).await?;
        if let Some(once) = &once {
            match find_repeat(&mut tx, wallet, once.request).await? {
                Some(Repeat::Answered(answer)) => return Ok(InvoiceVoid::Repeated(answer)),
                Some(Repeat::KeyReused) => return Ok(InvoiceVoid::KeyReused),
                None => {}
            }
        }
        let Some(mut record) = read::find(&mut tx, wallet, id).await? else {
            return Ok(InvoiceVoid::Unknown);
        };
        match record.invoice.state {
            InvoiceState::Void => {}
            InvoiceState::Open => {
                if record.invoice.void_requested_at.is_none() {
                    insert_audit(&mut tx, audit).await?;
                }
                take_back(&mut tx, &mut record, now).await?;
            }
            closed @ (InvoiceState::Paid | InvoiceState::Expired) => return Ok(InvoiceVoid::Closed(closed)),
        }
        if let Some(once) = once {
            keep_answer(&mut tx, wallet, once.request, &(once.answer)(&record)).await?;
        }
        tx.commit().await?;
        Ok(InvoiceVoid::Done(Box::new(record)))
    }
}

async fn take_back(tx: &mut Tx, record: &mut InvoiceRecord, now: u64) -> Result<(), StoreError> {
    if record.quote.is_some() { ask(tx, record, now).await } else { end(tx, record, now).await }
}

/// Notes that the invoice shall end with its quote. The first time counts.
async fn ask(tx: &mut Tx, record: &mut InvoiceRecord, now: u64) -> Result<(), StoreError> {
    let at = *record.invoice.void_requested_at.get_or_insert(now);
    let sql = "UPDATE portal_invoice SET void_requested_at = $2 WHERE id = $1 AND state = 'open'";
    let at = to_signed("time", at)?;
    on_connection!(tx, connection => {
        let query = sqlx::query(sql).bind(record.invoice.id.as_bytes().as_slice()).bind(at);
        query.execute(connection).await.map(drop)
    })?;
    Ok(())
}

async fn end(tx: &mut Tx, record: &mut InvoiceRecord, now: u64) -> Result<(), StoreError> {
    let sql = "UPDATE portal_invoice SET state = 'void', closed_at = $2 WHERE id = $1 AND state = 'open'";
    let at = to_signed("time", now)?;
    on_connection!(tx, connection => {
        let query = sqlx::query(sql).bind(record.invoice.id.as_bytes().as_slice()).bind(at);
        query.execute(connection).await.map(drop)
    })?;
    let sql = "UPDATE portal_wallet SET open_count = open_count - 1, void_count = void_count + 1 WHERE address = $1";
    on_connection!(tx, connection => {
        sqlx::query(sql).bind(record.invoice.wallet.as_slice()).execute(connection).await.map(drop)
    })?;
    record.invoice.state = InvoiceState::Void;
    Ok(())
}
