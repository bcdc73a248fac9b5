//! What payments name, and how it stands.

use std::collections::{BTreeSet, HashMap, HashSet};

use alloy_primitives::{Address, B256};
use domain::portal::{InvoiceId, OrderState};
use sqlx::FromRow;

use super::{ChainPayment, CreditBatch, Ledger, PaymentTarget, QuotedInvoice, wallet};
use crate::{
    StoreError,
    bulk::{chunks, list_text},
    convert::{parse_address, parse_hash, to_unsigned},
    db::Tx,
    portal::{
        OrderRow,
        claim::count_slots,
        convert::parse_id,
        order::{BY_REFERENCE, RawOrder},
    },
};

const QUOTES: &str = "SELECT q.id AS quote_id, i.id AS invoice_id, i.wallet, i.customer_label, i.amount_idr, i.note, \
                      i.external_id, i.state FROM portal_quote q JOIN portal_invoice i ON i.id = q.invoice_id \
                      WHERE q.id IN ({list})";
const KNOWN: &str = "SELECT tx_hash, log_index FROM portal_payment WHERE tx_hash IN ({list})";
const WEBHOOKS: &str = "SELECT wallet FROM portal_webhook WHERE wallet IN ({list})";

/// What payments name.
pub(super) struct Targets {
    orders: HashMap<B256, OrderRow>,
    quotes: HashMap<B256, QuotedInvoice>,
}

impl Targets {
    /// The wallets that payments concern. Quotes that are not ours concern nobody.
    pub(super) fn wallets(&self, payments: &[ChainPayment]) -> BTreeSet<Address> {
        let wallet = |payment: &ChainPayment| match payment.target {
            PaymentTarget::Quote(id) => self.quotes.get(&id).map(|quote| quote.wallet),
            PaymentTarget::Fee(reference) => {
                Some(self.orders.get(&reference).map_or(payment.payer, |order| order.wallet))
            }
        };
        payments.iter().filter_map(wallet).collect()
    }
}

/// Finds what payments name.
pub(super) async fn targets(tx: &mut Tx, payments: &[ChainPayment]) -> Result<Targets, StoreError> {
    let (mut references, mut quotes) = (BTreeSet::new(), BTreeSet::new());
    for payment in payments {
        match payment.target {
            PaymentTarget::Quote(id) => quotes.insert(id),
            PaymentTarget::Fee(reference) => references.insert(reference),
        };
    }
    Ok(Targets { orders: orders(tx, references).await?, quotes: quoted(tx, quotes).await? })
}

/// Reads how everything stands, now that nobody else can change it.
pub(super) async fn ledger(
    tx: &mut Tx,
    batch: &CreditBatch,
    targets: Targets,
    wallets: &BTreeSet<Address>,
) -> Result<Ledger, StoreError> {
    if batch.payments.is_empty() {
        return Ok(Ledger { wallets: wallet::load(tx, wallets).await?, ..Ledger::default() });
    }
    let orders = orders(tx, targets.orders.into_keys().collect()).await?;
    let mut slots = HashMap::new();
    for order in orders.values().filter(|order| has_given_up_slot(order.state)) {
        slots.insert(order.wallet, count_slots(tx, order.wallet, batch.now).await?);
    }
    Ok(Ledger {
        known: known(tx, &batch.payments).await?,
        quotes: quoted(tx, targets.quotes.into_keys().collect()).await?,
        orders,
        slots,
        webhooks: webhooks(tx, wallets).await?,
        wallets: wallet::load(tx, wallets).await?,
    })
}

/// Whether an order that is paid now needs another slot.
fn has_given_up_slot(state: OrderState) -> bool {
    match state {
        OrderState::Expired | OrderState::Cancelled => true,
        OrderState::AwaitingPayment | OrderState::Paid | OrderState::PaidWaiting | OrderState::Claimed => {
            false
        }
    }
}

async fn orders(tx: &mut Tx, references: BTreeSet<B256>) -> Result<HashMap<B256, OrderRow>, StoreError> {
    let references: Vec<B256> = references.into_iter().collect();
    let mut found = HashMap::with_capacity(references.len());
    for chunk in chunks(&references) {
        let text = list_text(BY_REFERENCE, 1, chunk.len());
        let rows: Vec<RawOrder> = on_connection!(tx, connection => {
            let query = chunk.iter().fold(sqlx::query_as(text), |query, id| query.bind(id.to_vec()));
            query.fetch_all(connection).await
        })?;
        for row in rows {
            let order = OrderRow::try_from(row)?;
            found.insert(order.reference, order);
        }
    }
    Ok(found)
}

async fn quoted(tx: &mut Tx, quotes: BTreeSet<B256>) -> Result<HashMap<B256, QuotedInvoice>, StoreError> {
    let quotes: Vec<B256> = quotes.into_iter().collect();
    let mut found = HashMap::with_capacity(quotes.len());
    for chunk in chunks(&quotes) {
        let text = list_text(QUOTES, 1, chunk.len());
        let rows: Vec<RawQuoted> = on_connection!(tx, connection => {
            let query = chunk.iter().fold(sqlx::query_as(text), |query, id| query.bind(id.to_vec()));
            query.fetch_all(connection).await
        })?;
        for row in rows {
            found.insert(parse_hash("id of a quote", &row.quote_id)?, row.try_into()?);
        }
    }
    Ok(found)
}

async fn known(tx: &mut Tx, payments: &[ChainPayment]) -> Result<HashSet<(B256, u32)>, StoreError> {
    let hashes: BTreeSet<B256> = payments.iter().map(|payment| payment.tx_hash).collect();
    let hashes: Vec<B256> = hashes.into_iter().collect();
    let mut found = HashSet::new();
    for chunk in chunks(&hashes) {
        let text = list_text(KNOWN, 1, chunk.len());
        let rows: Vec<(Vec<u8>, i64)> = on_connection!(tx, connection => {
            let query = chunk.iter().fold(sqlx::query_as(text), |query, hash| query.bind(hash.to_vec()));
            query.fetch_all(connection).await
        })?;
        for (hash, index) in rows {
            let index = u32::try_from(index);
            let index = index.map_err(|error| StoreError::corrupt("place of a payment", error))?;
            found.insert((parse_hash("transaction of a payment", &hash)?, index));
        }
    }
    Ok(found)
}

async fn webhooks(tx: &mut Tx, wallets: &BTreeSet<Address>) -> Result<HashSet<Address>, StoreError> {
    let wallets: Vec<&Address> = wallets.iter().collect();
    let mut found = HashSet::new();
    for chunk in chunks(&wallets) {
        let text = list_text(WEBHOOKS, 1, chunk.len());
        let rows: Vec<Vec<u8>> = on_connection!(tx, connection => {
            let query = chunk.iter().fold(sqlx::query_scalar(text), |query, wallet| query.bind(wallet.to_vec()));
            query.fetch_all(connection).await
        })?;
        for row in rows {
            found.insert(parse_address("wallet of a webhook", &row)?);
        }
    }
    Ok(found)
}

#[derive(FromRow)]
struct RawQuoted {
    quote_id: Vec<u8>,
    invoice_id: Vec<u8>,
    wallet: Vec<u8>,
    customer_label: String,
    amount_idr: i64,
    note: String,
    external_id: Option<String>,
    state: String,
}

impl TryFrom<RawQuoted> for QuotedInvoice {
    type Error = StoreError;

    fn try_from(raw: RawQuoted) -> Result<Self, StoreError> {
        Ok(Self {
            invoice_id: InvoiceId::from_bytes(parse_id("id of an invoice", &raw.invoice_id)?),
            wallet: parse_address("wallet of an invoice", &raw.wallet)?,
            customer_label: raw.customer_label,
            amount_idr: to_unsigned("amount of an invoice", raw.amount_idr)?,
            note: raw.note,
            external_id: raw.external_id,
            state: raw.state.parse().map_err(|error| StoreError::corrupt("state of an invoice", error))?,
        })
    }
}
