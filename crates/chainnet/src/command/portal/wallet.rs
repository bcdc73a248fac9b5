//! What the portal knows of a wallet, for its operator.

use alloy_primitives::Address;
use anyhow::bail;
use jiff::Timestamp;
use serde_json::{Value, json};
use store::{
    Db,
    portal::{AuditRow, DeliveryRow, DeveloperKeyRow, OrderRow, PaymentRow, WalletRow, WebhookRow},
};

use crate::output::{say, seconds, time};

/// Rows of each kind.
const MOST: u32 = 20;

/// Everything of a wallet.
struct Dossier {
    wallet: WalletRow,
    keys: Vec<DeveloperKeyRow>,
    orders: Vec<OrderRow>,
    payments: Vec<PaymentRow>,
    webhook: Option<WebhookRow>,
    deliveries: Vec<DeliveryRow>,
    audit: Vec<AuditRow>,
}

/// Prints a wallet.
pub(super) async fn show(db: &Db, address: Address, json: bool) -> anyhow::Result<()> {
    let Some(wallet) = db.find_wallet(address).await? else { bail!("the portal does not know {address}") };
    let dossier = Dossier {
        wallet,
        keys: db.list_developer_keys(address, MOST).await?,
        orders: db.list_orders(address, None, MOST).await?,
        payments: db.list_payments(address, None, MOST).await?,
        webhook: db.find_webhook(address).await?,
        deliveries: db.list_deliveries(address, None, None, MOST).await?,
        audit: db.list_audit(address, MOST).await?,
    };
    if json {
        say(serde_json::to_string_pretty(&dossier.view())?);
    } else {
        dossier.print();
    }
    Ok(())
}

impl Dossier {
    fn print(&self) {
        let WalletRow { address, open_count, paid_count, expired_count, void_count, .. } = &self.wallet;
        say(format!("{address}, since {}", seconds(self.wallet.created_at)));
        say(format!(
            "invoices: {open_count} open, {paid_count} paid, {expired_count} expired, {void_count} void; \
             Rp {} and {} coin",
            self.wallet.revenue_idr, self.wallet.revenue
        ));
        section("keys", &self.keys, |key| {
            format!(
                "{}  {:<8}  {:<9}  until {}  {}",
                key.id,
                state(key),
                key.plan.name(),
                seconds(key.expires_at),
                key.name
            )
        });
        section("orders", &self.orders, |order| {
            format!("{}  {:<16}  {} coin", order.id, order.state.name(), order.amount)
        });
        section("payments", &self.payments, |payment| {
            format!(
                "{}  block {:<8}  {:<9}  {:<9}  {} coin from {}",
                payment.id,
                payment.block_number,
                payment.purpose.name(),
                payment.exception.name(),
                payment.amount,
                payment.payer
            )
        });
        section("webhook", self.webhook.as_slice(), |webhook| {
            let reason = webhook.disabled_reason.as_deref().unwrap_or_default();
            format!("{}  {}  {reason}", webhook.url, webhook.state.name())
        });
        section("deliveries", &self.deliveries, |delivery| {
            format!("{}  {:<9}  {:>2} attempts", delivery.id, delivery.state.name(), delivery.attempts)
        });
        section("audit log", &self.audit, |entry| {
            format!(
                "{}  {:<24}  {:<20}  {}",
                seconds(entry.at),
                entry.action.name(),
                entry.actor,
                entry.target
            )
        });
    }

    fn view(&self) -> Value {
        let wallet = &self.wallet;
        json!({
            "address": wallet.address.to_string(),
            "since": time(wallet.created_at),
            "invoices": {
                "open": wallet.open_count,
                "paid": wallet.paid_count,
                "expired": wallet.expired_count,
                "void": wallet.void_count,
            },
            "revenue": { "idr": wallet.revenue_idr, "coin": wallet.revenue.to_string() },
            "keys": self.keys.iter().map(|key| json!({
                "id": key.id.as_str(), "name": key.name, "plan": key.plan.name(), "state": state(key),
                "expiresAt": time(key.expires_at), "lastUsedAt": key.last_used_at.and_then(time),
            })).collect::<Vec<_>>(),
            "orders": self.orders.iter().map(|order| json!({
                "id": order.id.to_string(), "state": order.state.name(), "amount": order.amount.to_string(),
                "createdAt": time(order.created_at),
            })).collect::<Vec<_>>(),
            "payments": self.payments.iter().map(|payment| json!({
                "id": payment.id.to_string(), "txHash": payment.tx_hash.to_string(), "purpose": payment.purpose.name(),
                "exception": payment.exception.name(), "payer": payment.payer.to_string(),
                "amount": payment.amount.to_string(), "blockNumber": payment.block_number,
            })).collect::<Vec<_>>(),
            "webhook": self.webhook.as_ref().map(|webhook| json!({
                "url": webhook.url, "state": webhook.state.name(), "disabledReason": webhook.disabled_reason,
            })),
            "deliveries": self.deliveries.iter().map(|delivery| json!({
                "id": delivery.id.to_string(), "state": delivery.state.name(), "attempts": delivery.attempts,
            })).collect::<Vec<_>>(),
            "audit": self.audit.iter().map(|entry| json!({
                "at": time(entry.at), "actor": entry.actor.to_string(), "action": entry.action.name(),
                "target": entry.target, "origin": entry.origin,
            })).collect::<Vec<_>>(),
        })
    }
}

fn section<T>(name: &str, rows: &[T], line: impl Fn(&T) -> String) {
    if rows.is_empty() {
        return;
    }
    say(format!("\n{name}"));
    for row in rows {
        say(format!("  {}", line(row)));
    }
}

/// Where a key stands, in a word.
fn state(key: &DeveloperKeyRow) -> &'static str {
    let now = u64::try_from(Timestamp::now().as_millisecond()).unwrap_or_default();
    match key {
        DeveloperKeyRow { revoked_at: Some(_), .. } => "revoked",
        DeveloperKeyRow { expires_at, .. } if *expires_at <= now => "expired",
        DeveloperKeyRow { .. } => "active",
    }
}
