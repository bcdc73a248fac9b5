//! Making an invoice.

use super::{InvoiceRecord, InvoiceRow, read};
use crate::{
    Db, StoreError,
    convert::to_signed,
    db::Tx,
    portal::{
        idempotency::{KeptAnswer, Once, Repeat, find_repeat, keep_answer},
        wallet::touch_wallet,
    },
};

/// What became of an invoice that was to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InvoiceCreation {
    /// It was made.
    Made,
    /// The same request made one before; this was its answer.
    Repeated(KeptAnswer),
    /// The key of the request was used for another one. Nothing was made.
    KeyReused,
    /// The merchant has an invoice of that name. Nothing was made.
    ExternalIdTaken(Box<InvoiceRecord>),
}

impl Db {
    /// Makes an open invoice, and keeps the answer to a request that must take effect once.
    pub async fn create_invoice(
        &self,
        record: &InvoiceRecord,
        once: Option<Once<'_, InvoiceRecord>>,
    ) -> Result<InvoiceCreation, StoreError> {
        let invoice = &record.invoice;
        let mut tx = self.begin().await?;
        touch_wallet(&mut tx, invoice.wallet, invoice.created_at).await?;
        if let Some(once) = &once {
            match find_repeat(&mut tx, invoice.wallet, once.request).await? {
                Some(Repeat::Answered(answer)) => return Ok(InvoiceCreation::Repeated(answer)),
                Some(Repeat::KeyReused) => return Ok(InvoiceCreation::KeyReused),
                None => {}
            }
        }
        if let Some(external_id) = &invoice.external_id
            && let Some(taken) = read::find_by_external_id(&mut tx, invoice.wallet, external_id).await?
        {
            return Ok(InvoiceCreation::ExternalIdTaken(Box::new(taken)));
        }
        insert(&mut tx, invoice).await?;
        if let Some(once) = once {
            keep_answer(&mut tx, invoice.wallet, once.request, &(once.answer)(record)).await?;
        }
        tx.commit().await?;
        Ok(InvoiceCreation::Made)
    }
}

async fn insert(tx: &mut Tx, invoice: &InvoiceRow) -> Result<(), StoreError> {
    let sql = "INSERT INTO portal_invoice (id, wallet, token, customer_label, amount_idr, note, external_id, state, \
               created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    let amount = to_signed("amount", invoice.amount_idr)?;
    let (created_at, expires_at) =
        (to_signed("time", invoice.created_at)?, to_signed("time", invoice.expires_at)?);
    on_connection!(tx, connection => {
        sqlx::query(sql)
            .bind(invoice.id.as_bytes().as_slice())
            .bind(invoice.wallet.as_slice())
            .bind(invoice.token.as_bytes().as_slice())
            .bind(&invoice.customer_label)
            .bind(amount)
            .bind(&invoice.note)
            .bind(&invoice.external_id)
            .bind(invoice.state.name())
            .bind(created_at)
            .bind(expires_at)
            .execute(connection)
            .await
            .map(drop)
    })?;
    let sql = "UPDATE portal_wallet SET open_count = open_count + 1 WHERE address = $1";
    on_connection!(tx, connection => {
        sqlx::query(sql).bind(invoice.wallet.as_slice()).execute(connection).await.map(drop)
    })?;
    Ok(())
}
