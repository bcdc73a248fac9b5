//! Invoices as merchants see them: made, listed, taken back. They are in rupiah and need neither a rate nor a node that
//! answers; whoever pays asks for a quote.

mod error;

use std::sync::Arc;

use access::Clock;
use alloy_primitives::Address;
use chain::Head;
use domain::portal::{
    Actor, AmountIdr, AuditAction, AuditId, CustomerLabel, ExternalId, InvoiceId, InvoiceLifetime,
    InvoiceNote, InvoiceState, InvoiceToken,
};
use store::{
    Db, StoreError,
    portal::{
        AuditRow, InvoiceCreation, InvoiceFilter, InvoiceRecord, InvoiceRow, InvoiceVoid, KeptAnswer, Once,
    },
};
use tokio::sync::watch;

use crate::time::{chain_millis, millis};

pub use error::InvoiceError;

/// The invoices of all merchants.
#[derive(Clone)]
pub struct Invoices {
    db: Db,
    heads: watch::Receiver<Option<Arc<Head>>>,
    clock: Clock,
}

/// An invoice that is to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewInvoice {
    /// Who is to pay.
    pub customer_label: CustomerLabel,
    /// How much.
    pub amount: AmountIdr,
    /// What for.
    pub note: InvoiceNote,
    /// The merchant's own name for it.
    pub external_id: Option<ExternalId>,
    /// How long it can be paid.
    pub lifetime: InvoiceLifetime,
}

/// Who takes an invoice back, and from where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoidedBy {
    /// The wallet, or one of its keys.
    pub actor: Actor,
    /// The network that it came from.
    pub origin: Option<String>,
}

/// What came of a request that may have been made before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done<T> {
    /// It took effect.
    Now(T),
    /// It took effect before, and was answered so.
    Before(KeptAnswer),
}

impl Invoices {
    /// The invoices in a database, which end by the time of the chain with these heads.
    pub fn new(db: Db, heads: watch::Receiver<Option<Arc<Head>>>, clock: Clock) -> Self {
        Self { db, heads, clock }
    }

    /// Makes an invoice.
    pub async fn create(
        &self,
        wallet: Address,
        new: NewInvoice,
        once: Option<Once<'_, InvoiceRecord>>,
    ) -> Result<Done<InvoiceRecord>, InvoiceError> {
        let now = millis((self.clock)());
        let begin = now.max(chain_millis(&self.heads).unwrap_or(0));
        let record = InvoiceRecord { invoice: open(wallet, new, now, begin), quote: None, payment: None };
        match self.db.create_invoice(&record, once).await? {
            InvoiceCreation::Made => Ok(Done::Now(record)),
            InvoiceCreation::Repeated(answer) => Ok(Done::Before(answer)),
            InvoiceCreation::KeyReused => Err(InvoiceError::KeyReused),
            InvoiceCreation::ExternalIdTaken(taken) => Err(InvoiceError::ExternalIdTaken(taken)),
        }
    }

    /// A page of a wallet's invoices, newest first, and where the next one begins.
    pub async fn list(
        &self,
        wallet: Address,
        filter: InvoiceFilter<'_>,
        limit: u32,
    ) -> Result<(Vec<InvoiceRecord>, Option<InvoiceId>), StoreError> {
        let mut records = self.db.list_invoices(wallet, filter, limit.saturating_add(1)).await?;
        let has_more = records.len() > limit as usize;
        records.truncate(limit as usize);
        let last = records.last().map(|record| record.invoice.id).filter(|_| has_more);
        Ok((records, last))
    }

    /// An invoice of a wallet.
    pub async fn get(&self, wallet: Address, id: InvoiceId) -> Result<InvoiceRecord, InvoiceError> {
        self.db.find_invoice(wallet, id).await?.ok_or(InvoiceError::NotFound)
    }

    /// Takes an invoice back. It stays open as long as a quote of it can be paid.
    pub async fn void(
        &self,
        wallet: Address,
        id: InvoiceId,
        by: VoidedBy,
        once: Option<Once<'_, InvoiceRecord>>,
    ) -> Result<Done<InvoiceRecord>, InvoiceError> {
        let now = millis((self.clock)());
        let audit = AuditRow {
            id: AuditId::new(now, rand::random()),
            wallet: Some(wallet),
            actor: by.actor,
            action: AuditAction::InvoiceVoided,
            target: id.to_string(),
            origin: by.origin,
            at: now,
        };
        match self.db.void_invoice(wallet, id, &audit, once).await? {
            InvoiceVoid::Done(record) => Ok(Done::Now(*record)),
            InvoiceVoid::Repeated(answer) => Ok(Done::Before(answer)),
            InvoiceVoid::KeyReused => Err(InvoiceError::KeyReused),
            InvoiceVoid::Unknown => Err(InvoiceError::NotFound),
            InvoiceVoid::Closed(state) => Err(InvoiceError::NotOpen(state)),
        }
    }
}

/// An invoice that is made now and whose time begins at `begin`.
fn open(wallet: Address, new: NewInvoice, now: u64, begin: u64) -> InvoiceRow {
    InvoiceRow {
        id: InvoiceId::new(now, rand::random()),
        wallet,
        token: InvoiceToken::from_bytes(rand::random()),
        customer_label: new.customer_label.into_string(),
        amount_idr: new.amount.get(),
        note: new.note.into_string(),
        external_id: new.external_id.map(ExternalId::into_string),
        state: InvoiceState::Open,
        created_at: now,
        expires_at: begin.saturating_add(new.lifetime.millis()),
        paid_at: None,
        void_requested_at: None,
    }
}
