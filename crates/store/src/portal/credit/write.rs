//! Writing what follows from payments.

use std::collections::BTreeMap;

use alloy_primitives::Address;
use domain::{
    Wei,
    portal::{OrderId, OrderState},
};

use super::{Credits, NewDelivery, PaidInvoice, PaidOrder};
use crate::{
    StoreError,
    bulk::{Bulk, chunks, list_text},
    convert::{parse_address, parse_wei, to_signed, to_unsigned, wei_text},
    db::Tx,
    portal::{EventRow, PaymentRow},
};

/// Milliseconds of a day.
const DAY: u64 = 24 * 3600 * 1000;

static PAYMENTS: Bulk = Bulk::new(
    "portal_payment",
    &[
        "tx_hash",
        "log_index",
        "id",
        "wallet",
        "purpose",
        "exception",
        "invoice_id",
        "order_id",
        "quote_id",
        "payer",
        "amount_wei",
        "block_number",
        "block_time",
    ],
    "",
);
static EVENTS: Bulk =
    Bulk::new("portal_event", &["id", "wallet", "sequence", "type", "body", "created_at"], "");
static DELIVERIES: Bulk = Bulk::new(
    "portal_delivery",
    &[
        "id",
        "event_id",
        "wallet",
        "sequence",
        "state",
        "is_open",
        "is_new",
        "attempts",
        "due_at",
        "created_at",
    ],
    "",
);
static REVENUE: Bulk = Bulk::new(
    "portal_revenue",
    &["wallet", "day", "invoices", "amount_idr", "amount_wei"],
    " ON CONFLICT (wallet, day) DO UPDATE SET invoices = excluded.invoices, amount_idr = excluded.amount_idr, \
     amount_wei = excluded.amount_wei",
);

/// Writes all but the wallets' own rows.
pub(super) async fn write(tx: &mut Tx, credits: &Credits, now: u64) -> Result<(), StoreError> {
    insert_payments(tx, &credits.payments).await?;
    pay_orders(tx, &credits.orders).await?;
    pay_invoices(tx, &credits.invoices).await?;
    add_revenue(tx, &credits.invoices).await?;
    insert_events(tx, &credits.events).await?;
    insert_deliveries(tx, &credits.deliveries, now).await
}

/// A payment that is there already would be credited twice: the statement must fail then, and everything with it.
async fn insert_payments(tx: &mut Tx, payments: &[PaymentRow]) -> Result<(), StoreError> {
    let rows = payments
        .iter()
        .map(|row| Ok((row, to_signed("block", row.block_number)?, to_signed("time", row.block_time)?)))
        .collect::<Result<Vec<_>, StoreError>>()?;
    on_connection!(tx, connection => PAYMENTS.insert(connection, &rows, |query, (row, block, time)| {
        query
            .bind(row.tx_hash.to_vec())
            .bind(i64::from(row.log_index))
            .bind(row.id.as_bytes().to_vec())
            .bind(row.wallet.to_vec())
            .bind(row.purpose.name())
            .bind(row.exception.name())
            .bind(row.invoice_id.map(|id| id.as_bytes().to_vec()))
            .bind(row.order_id.map(|id| id.as_bytes().to_vec()))
            .bind(row.quote_id.map(|id| id.to_vec()))
            .bind(row.payer.to_vec())
            .bind(wei_text(row.amount))
            .bind(*block)
            .bind(*time)
    }).await)
}

/// When something was paid is in its payment, which was inserted just before: so one statement does for many.
async fn pay_orders(tx: &mut Tx, orders: &[PaidOrder]) -> Result<(), StoreError> {
    let sql = "UPDATE portal_order SET state = $1, holds_slot = (kind = 'api_key' AND $2), paid_at = \
               (SELECT p.block_time FROM portal_payment p WHERE p.order_id = portal_order.id \
                AND p.exception IN ('none', 'overpaid', 'paid_late')) \
               WHERE id IN ({list}) AND state IN ('awaiting_payment', 'expired', 'cancelled')";
    for state in [OrderState::Paid, OrderState::PaidWaiting] {
        let ids: Vec<OrderId> =
            orders.iter().filter(|paid| paid.state == state).map(|paid| paid.id).collect();
        for chunk in chunks(&ids) {
            let text = list_text(sql, 3, chunk.len());
            on_connection!(tx, connection => {
                let query = sqlx::query(text).bind(state.name()).bind(state.holds_slot());
                let query = chunk.iter().fold(query, |query, id| query.bind(id.as_bytes().to_vec()));
                query.execute(connection).await.map(drop)
            })?;
        }
    }
    Ok(())
}

/// Closes invoices and their quotes.
async fn pay_invoices(tx: &mut Tx, invoices: &[PaidInvoice]) -> Result<(), StoreError> {
    let settle = "UPDATE portal_quote SET is_live = FALSE WHERE invoice_id IN ({list}) AND is_live";
    let close = "UPDATE portal_invoice SET state = 'paid', paid_at = \
                 (SELECT p.block_time FROM portal_payment p WHERE p.invoice_id = portal_invoice.id \
                  AND p.exception = 'none') WHERE id IN ({list}) AND state = 'open'";
    for chunk in chunks(invoices) {
        for sql in [settle, close] {
            let text = list_text(sql, 1, chunk.len());
            on_connection!(tx, connection => {
                let query = chunk.iter().fold(sqlx::query(text), |query, paid| query.bind(paid.id.as_bytes().to_vec()));
                query.execute(connection).await.map(drop)
            })?;
        }
    }
    Ok(())
}

/// What invoices brought on a day.
#[derive(Default)]
struct Gain {
    invoices: u64,
    amount_idr: u64,
    amount: Wei,
}

/// Sums of wei do not fit the numbers of a database: they are read, added and written here, under the wallets' locks.
async fn add_revenue(tx: &mut Tx, invoices: &[PaidInvoice]) -> Result<(), StoreError> {
    let mut days: BTreeMap<u64, BTreeMap<Address, Gain>> = BTreeMap::new();
    for invoice in invoices {
        let gain = days.entry(invoice.paid_at / DAY).or_default().entry(invoice.wallet).or_default();
        gain.add(&Gain { invoices: 1, amount_idr: invoice.amount_idr, amount: invoice.amount })?;
    }
    for (day, mut gains) in days {
        let day = to_signed("day", day)?;
        add_earlier(tx, day, &mut gains).await?;
        let rows = gains.iter().map(|(wallet, gain)| Ok((wallet, gain, gain.numbers()?)));
        let rows = rows.collect::<Result<Vec<_>, StoreError>>()?;
        on_connection!(tx, connection => REVENUE.insert(connection, &rows, |query, (wallet, gain, (count, idr))| {
            query.bind(wallet.to_vec()).bind(day).bind(*count).bind(*idr).bind(wei_text(gain.amount))
        }).await)?;
    }
    Ok(())
}

impl Gain {
    fn add(&mut self, other: &Self) -> Result<(), StoreError> {
        let too_large = || StoreError::TooLarge { what: "revenue" };
        self.invoices += other.invoices;
        self.amount_idr = self.amount_idr.checked_add(other.amount_idr).ok_or_else(too_large)?;
        self.amount = Wei(self.amount.0.checked_add(other.amount.0).ok_or_else(too_large)?);
        Ok(())
    }

    fn numbers(&self) -> Result<(i64, i64), StoreError> {
        Ok((to_signed("number of invoices", self.invoices)?, to_signed("revenue", self.amount_idr)?))
    }
}

/// Adds what a day has brought before.
async fn add_earlier(tx: &mut Tx, day: i64, gains: &mut BTreeMap<Address, Gain>) -> Result<(), StoreError> {
    let find = "SELECT wallet, invoices, amount_idr, amount_wei FROM portal_revenue \
                WHERE day = $1 AND wallet IN ({list})";
    let wallets: Vec<Address> = gains.keys().copied().collect();
    for chunk in chunks(&wallets) {
        let text = list_text(find, 2, chunk.len());
        let rows: Vec<(Vec<u8>, i64, i64, String)> = on_connection!(tx, connection => {
            let query = sqlx::query_as(text).bind(day);
            let query = chunk.iter().fold(query, |query, wallet| query.bind(wallet.to_vec()));
            query.fetch_all(connection).await
        })?;
        for (wallet, invoices, amount_idr, amount) in rows {
            let earlier = Gain {
                invoices: to_unsigned("number of invoices", invoices)?,
                amount_idr: to_unsigned("revenue", amount_idr)?,
                amount: parse_wei("revenue", &amount)?,
            };
            let wallet = parse_address("wallet", &wallet)?;
            gains.entry(wallet).or_default().add(&earlier)?;
        }
    }
    Ok(())
}

async fn insert_events(tx: &mut Tx, events: &[EventRow]) -> Result<(), StoreError> {
    let rows = events
        .iter()
        .map(|row| Ok((row, to_signed("sequence", row.sequence)?, to_signed("time", row.created_at)?)))
        .collect::<Result<Vec<_>, StoreError>>()?;
    on_connection!(tx, connection => EVENTS.insert(connection, &rows, |query, (row, sequence, created_at)| {
        query
            .bind(row.id.as_bytes().to_vec())
            .bind(row.wallet.to_vec())
            .bind(*sequence)
            .bind(row.kind.name())
            .bind(row.body.clone())
            .bind(*created_at)
    }).await)
}

/// The endpoints' rows are not written: see `is_new`.
async fn insert_deliveries(tx: &mut Tx, deliveries: &[NewDelivery], now: u64) -> Result<(), StoreError> {
    let now = to_signed("time", now)?;
    let rows = deliveries.iter().map(|row| Ok((row, to_signed("sequence", row.sequence)?)));
    let rows = rows.collect::<Result<Vec<_>, StoreError>>()?;
    on_connection!(tx, connection => DELIVERIES.insert(connection, &rows, |query, (row, sequence)| {
        query
            .bind(row.id.as_bytes().to_vec())
            .bind(row.event_id.as_bytes().to_vec())
            .bind(row.wallet.to_vec())
            .bind(*sequence)
            .bind("pending")
            .bind(true)
            .bind(true)
            .bind(0i64)
            .bind(now)
            .bind(now)
    }).await)
}
