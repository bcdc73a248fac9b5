//! Crediting: the payments of some blocks, everything that follows from them, and the cursor, in one transaction.
//!
//! The transaction begins with the cursor's row, so of two that credit the same blocks one finds it moved. Then come the
//! rows of all wallets concerned, in ascending order; what is read after that holds until the end. What a payment means
//! is decided by the caller, between reading and writing.

mod expire;
mod load;
mod wallet;
mod write;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use alloy_primitives::{Address, B256};
use domain::{
    Wei,
    portal::{DeliveryId, EventId, InvoiceId, InvoiceState, OrderId, OrderState},
};

use super::{
    CreditPoint, EventRow, OrderRow, PaymentRow, WalletRow,
    cursor::{is_of_generation, move_cursor},
};
use crate::{Db, StoreError};

/// A payment as the chain has logged it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainPayment {
    /// The transaction.
    pub tx_hash: B256,
    /// Position among the block's logs.
    pub log_index: u32,
    /// The block.
    pub block_number: u64,
    /// The block's time, in Unix milliseconds.
    pub block_time: u64,
    /// Who paid.
    pub payer: Address,
    /// How much.
    pub amount: Wei,
    /// What it names.
    pub target: PaymentTarget,
}

/// What a payment names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PaymentTarget {
    /// A quote.
    Quote(B256),
    /// The reference of an order; anybody may write anything here.
    Fee(B256),
}

/// Blocks to credit.
#[derive(Debug, Clone)]
pub struct CreditBatch {
    /// Of the index that the payments were read from.
    pub generation: i64,
    /// What is credited already.
    pub from: Option<CreditPoint>,
    /// The last block.
    pub to: CreditPoint,
    /// All payments in between, in the chain's order.
    pub payments: Vec<ChainPayment>,
    /// The time, in Unix milliseconds.
    pub now: u64,
}

/// What there is to be paid for, as it stands.
#[derive(Debug, Default)]
pub struct Ledger {
    /// Payments that are credited already, by transaction and log index.
    pub known: HashSet<(B256, u32)>,
    /// Orders by their references.
    pub orders: HashMap<B256, OrderRow>,
    /// Quotes by their ids.
    pub quotes: HashMap<B256, QuotedInvoice>,
    /// Slots in use, of wallets whose orders have given theirs up.
    pub slots: HashMap<Address, u64>,
    /// Wallets that have a webhook.
    pub webhooks: HashSet<Address>,
    /// The wallets concerned. To be counted on and given back in [`Credits`].
    pub wallets: BTreeMap<Address, WalletRow>,
}

/// A quote and the invoice that it prices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuotedInvoice {
    /// The invoice.
    pub invoice_id: InvoiceId,
    /// The merchant.
    pub wallet: Address,
    /// Label of the customer.
    pub customer_label: String,
    /// Amount in rupiah.
    pub amount_idr: u64,
    /// The merchant's note.
    pub note: String,
    /// The merchant's own id.
    pub external_id: Option<String>,
    /// Where the invoice stands.
    pub state: InvoiceState,
}

/// What follows from a batch of payments.
#[derive(Debug, Default)]
pub struct Credits {
    /// The payments that are new and ours.
    pub payments: Vec<PaymentRow>,
    /// Orders that they have paid.
    pub orders: Vec<PaidOrder>,
    /// Invoices that they have paid.
    pub invoices: Vec<PaidInvoice>,
    /// What is to be told.
    pub events: Vec<EventRow>,
    /// To whom.
    pub deliveries: Vec<NewDelivery>,
    /// The wallets of the [`Ledger`], counted on.
    pub wallets: BTreeMap<Address, WalletRow>,
}

/// An order that is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaidOrder {
    /// Which.
    pub id: OrderId,
    /// The state it is in now.
    pub state: OrderState,
}

/// An invoice that is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaidInvoice {
    /// Which.
    pub id: InvoiceId,
    /// Whose.
    pub wallet: Address,
    /// When, by the chain's time, in Unix milliseconds.
    pub paid_at: u64,
    /// What it brought, in rupiah.
    pub amount_idr: u64,
    /// The same in coin.
    pub amount: Wei,
}

/// A delivery to be made as soon as possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewDelivery {
    /// Its id.
    pub id: DeliveryId,
    /// What it delivers.
    pub event_id: EventId,
    /// To whom.
    pub wallet: Address,
    /// Of the event.
    pub sequence: u64,
}

/// What became of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreditOutcome {
    /// It is credited.
    Done {
        /// Payments that were new and ours.
        payments: usize,
        /// Deliveries that are due now.
        deliveries: usize,
    },
    /// Somebody else has moved the cursor; nothing was written.
    Overtaken,
    /// The index was dropped since it was read; nothing was written.
    IndexChanged,
}

impl Db {
    /// Credits a batch as `decide` says; all of it or nothing.
    pub async fn credit<D>(&self, batch: &CreditBatch, decide: D) -> Result<CreditOutcome, StoreError>
    where
        D: FnOnce(Ledger) -> Credits + Send,
    {
        let mut tx = self.begin().await?;
        if !move_cursor(&mut tx, batch.from, batch.to).await? {
            return Ok(CreditOutcome::Overtaken);
        }
        if !is_of_generation(&mut tx, batch.generation).await? {
            return Ok(CreditOutcome::IndexChanged);
        }
        let targets = load::targets(&mut tx, &batch.payments).await?;
        let ending = expire::ending_invoices(&mut tx, batch.to.time).await?;
        let mut concerned: BTreeSet<Address> = targets.wallets(&batch.payments);
        concerned.extend(ending.iter().map(|(_, wallet)| *wallet));
        let quotes = expire::ending_quotes(&mut tx, batch.to.time).await?;
        concerned.extend(quotes.iter().map(|(_, wallet)| *wallet));
        wallet::lock(&mut tx, &concerned, batch.now).await?;

        let ledger = load::ledger(&mut tx, batch, targets, &concerned).await?;
        let mut credits = decide(ledger);
        write::write(&mut tx, &credits, batch.now).await?;
        expire::expire(&mut tx, batch.to.time, &quotes, &ending, &mut credits.wallets).await?;
        wallet::write(&mut tx, &credits.wallets).await?;
        tx.commit().await?;
        Ok(CreditOutcome::Done { payments: credits.payments.len(), deliveries: credits.deliveries.len() })
    }
}
