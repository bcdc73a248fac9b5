//! `chainnet portal`: what the portal knows of a wallet, an event sent once more, and the chain against the books.

mod wallet;

use std::sync::Arc;

use alloy_primitives::Address;
use anyhow::{Context, bail};
use domain::portal::{Actor, AuditAction, AuditId, DeliveryId};
use jiff::Timestamp;
use merchant::{CreditProgress, Reconciler, Reconciliation};
use serde_json::json;
use store::{
    Db,
    portal::{AuditRow, Redelivery},
};

use super::doctor::reach_chain;
use crate::{cli::PortalCommand, config::Config, output::say, process, runtime, wiring::clock};

/// Carries out one command.
pub(crate) fn run(config: &Config, command: &PortalCommand) -> anyhow::Result<()> {
    runtime::run_small(async {
        let db = process::open_database(config).await?;
        let result = match command {
            PortalCommand::Wallet { wallet, json } => wallet::show(&db, *wallet, *json).await,
            PortalCommand::Redeliver { wallet, delivery } => redeliver(&db, *wallet, *delivery).await,
            PortalCommand::Reconcile { json } => reconcile(config, &db, *json).await,
        };
        db.close().await;
        result
    })
}

/// Adds a delivery. The worker finds it within a second.
async fn redeliver(db: &Db, wallet: Address, former: DeliveryId) -> anyhow::Result<()> {
    let now = clock()();
    let id = DeliveryId::new(now, rand::random());
    match db.redeliver(wallet, former, id, now).await? {
        Redelivery::Queued(_) => {}
        Redelivery::Unknown => bail!("{wallet} has no delivery {former}"),
        Redelivery::NoWebhook => bail!("{wallet} has no webhook"),
    }
    let entry = AuditRow {
        id: AuditId::new(now, rand::random()),
        wallet: Some(wallet),
        actor: Actor::Operator,
        action: AuditAction::EventRedelivered,
        target: former.to_string(),
        origin: None,
        at: now,
    };
    db.add_audit(&entry).await?;
    say(format!("{former} is sent again as {id}"));
    Ok(())
}

async fn reconcile(config: &Config, db: &Db, json: bool) -> anyhow::Result<()> {
    let (client, _) = reach_chain(config).await?;
    let contracts = &config.deployment().contracts;
    let reconciler = Reconciler::new(
        db.clone(),
        client,
        (contracts.platform_fees, contracts.platform_checkout),
        CreditProgress::poll(db.clone()),
        Arc::new(Timestamp::now),
    );
    let found = reconciler.reconcile().await.context("chain and database cannot be compared")?;
    print_reconciliation(&found, json)?;
    if found.difference_count > 0 {
        bail!("chain and database differ in {} places", found.difference_count);
    }
    Ok(())
}

fn print_reconciliation(found: &Reconciliation, json: bool) -> anyhow::Result<()> {
    let differences: Vec<_> = found.differences.iter().map(ToString::to_string).collect();
    if json {
        let view = json!({
            "upToBlock": found.up_to,
            "payments": found.payments,
            "quotes": found.quotes,
            "fees": { "payments": found.fees.payments, "paidWei": found.fees.paid.to_string() },
            "differenceCount": found.difference_count,
            "differences": differences,
        });
        say(serde_json::to_string_pretty(&view)?);
        return Ok(());
    }
    say(format!(
        "compared up to block {}: {} payments, {} quotes, {} fees",
        found.up_to, found.payments, found.quotes, found.fees.payments
    ));
    for difference in &differences {
        say(difference);
    }
    if differences.is_empty() {
        say("chain and database agree");
    }
    Ok(())
}
