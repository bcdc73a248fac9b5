//! Rows by the million, for measurements: what merchants would make one by one.

use std::ops::Range;

use alloy_primitives::Address;
use domain::portal::{DeliveryId, EventId, InvoiceId};

use crate::{Db, StoreError, bulk::Bulk, convert::to_signed};

/// Rows of one transaction.
const TOGETHER: u64 = 10_000;
/// When the first was made: 2023-11-14, in Unix milliseconds.
const FIRST_MILLIS: u64 = 1_700_000_000_000;
/// An end that no measurement sees: the year 2100.
const LATER_MILLIS: i64 = 4_102_444_800_000;

static INVOICES: Bulk = Bulk::new(
    "portal_invoice",
    &["id", "wallet", "token", "customer_label", "amount_idr", "note", "state", "created_at", "expires_at"],
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

/// Makes open invoices of a wallet, each a millisecond younger than the one before.
pub async fn seed_invoices(db: &Db, wallet: Address, numbers: Range<u64>) -> Result<(), StoreError> {
    let mut next = numbers.start;
    while next < numbers.end {
        let until = (next + TOGETHER).min(numbers.end);
        let rows: Vec<u64> = (next..until).collect();
        let mut tx = db.begin().await?;
        count(&mut tx, wallet, "open_count", until - next).await?;
        on_connection!(tx, c => INVOICES.insert(c, &rows, |query, number| {
            let created = FIRST_MILLIS + number;
            query
                .bind(InvoiceId::new(created, rand_of(*number)).as_bytes().to_vec())
                .bind(wallet.to_vec())
                .bind(rand_of(*number).to_be_bytes().to_vec())
                .bind(format!("customer {number}"))
                .bind(150_000_i64)
                .bind("")
                .bind("open")
                .bind(created.cast_signed())
                .bind(LATER_MILLIS)
        }).await)?;
        tx.commit().await?;
        next = until;
    }
    Ok(())
}

/// Makes events of a wallet with a webhook, whose deliveries are due.
pub async fn seed_deliveries(db: &Db, wallet: Address, many: u64) -> Result<(), StoreError> {
    let mut left = many;
    while left > 0 {
        let together = left.min(TOGETHER);
        let mut tx = db.begin().await?;
        let last = count(&mut tx, wallet, "sequence", together).await?;
        let rows: Vec<u64> = (last - together + 1..=last).collect();
        let event = |number: u64| EventId::new(FIRST_MILLIS + number, rand_of(number) ^ wallet_bits(wallet));
        on_connection!(tx, c => EVENTS.insert(&mut *c, &rows, |query, number| {
            let body = format!(r#"{{"id":"{}","type":"invoice.paid","sequence":{number}}}"#, event(*number));
            query
                .bind(event(*number).as_bytes().to_vec())
                .bind(wallet.to_vec())
                .bind(number.cast_signed())
                .bind("invoice.paid")
                .bind(body.into_bytes())
                .bind(FIRST_MILLIS.cast_signed())
        }).await)?;
        on_connection!(tx, c => DELIVERIES.insert(&mut *c, &rows, |query, number| {
            let id = DeliveryId::new(FIRST_MILLIS + number, rand_of(*number) ^ wallet_bits(wallet));
            query
                .bind(id.as_bytes().to_vec())
                .bind(event(*number).as_bytes().to_vec())
                .bind(wallet.to_vec())
                .bind(number.cast_signed())
                .bind("pending")
                .bind(true)
                .bind(true)
                .bind(0_i64)
                .bind(FIRST_MILLIS.cast_signed())
                .bind(FIRST_MILLIS.cast_signed())
        }).await)?;
        tx.commit().await?;
        left -= together;
    }
    Ok(())
}

/// Adds to a count of a wallet that has signed in, and answers what it is then.
async fn count(
    tx: &mut crate::db::Tx,
    wallet: Address,
    column: &'static str,
    many: u64,
) -> Result<u64, StoreError> {
    let sql =
        format!("UPDATE portal_wallet SET {column} = {column} + $1 WHERE address = $2 RETURNING {column}");
    let many = to_signed("count", many)?;
    let now: i64 = on_connection!(tx, c => {
        sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).bind(many).bind(wallet.to_vec()).fetch_one(&mut *c).await
    })?;
    Ok(now.cast_unsigned())
}

/// Bits that look drawn and are the same every time.
fn rand_of(number: u64) -> u128 {
    let digest = alloy_primitives::keccak256(number.to_be_bytes());
    u128::from_be_bytes(*digest.first_chunk().unwrap_or(&[0; 16]))
}

fn wallet_bits(wallet: Address) -> u128 {
    u128::from_be_bytes(*wallet.first_chunk().unwrap_or(&[0; 16]))
}
