//! `chainnet allowlist`: the wallets that the faucet pays where not every wallet may claim.

use alloy_primitives::Address;
use anyhow::bail;
use serde_json::json;
use store::{AllowedWallet, Db};

use crate::{
    cli::AllowlistCommand,
    config::Config,
    output::{say, seconds, time},
    process, runtime, wiring,
};

/// Carries out one command.
pub(crate) fn run(config: &Config, command: &AllowlistCommand) -> anyhow::Result<()> {
    runtime::run_small(async {
        let db = process::open_database(config).await?;
        let result = carry_out(&db, command).await;
        db.close().await;
        result
    })
}

async fn carry_out(db: &Db, command: &AllowlistCommand) -> anyhow::Result<()> {
    match command {
        AllowlistCommand::Add { wallet, team, note } => {
            let (team, note, added_at) = (team.clone(), note.clone(), wiring::clock()());
            add(db, &AllowedWallet { wallet: *wallet, team, note, added_at }).await
        }
        AllowlistCommand::Remove { wallet } => remove(db, *wallet).await,
        AllowlistCommand::List { json } => print_list(&db.list_allowed_wallets().await?, *json),
    }
}

async fn add(db: &Db, entry: &AllowedWallet) -> anyhow::Result<()> {
    if !db.add_allowed_wallet(entry).await? {
        bail!("{} is on the allowlist already", entry.wallet);
    }
    say(format!("{} is on the allowlist", entry.wallet));
    Ok(())
}

async fn remove(db: &Db, wallet: Address) -> anyhow::Result<()> {
    if !db.remove_allowed_wallet(wallet).await? {
        bail!("{wallet} is not on the allowlist");
    }
    say(format!("{wallet} is off the allowlist"));
    Ok(())
}

fn print_list(entries: &[AllowedWallet], json: bool) -> anyhow::Result<()> {
    if json {
        let views = entries.iter().map(|entry| {
            json!({
                "wallet": entry.wallet.to_string(),
                "team": entry.team.as_str(),
                "note": entry.note,
                "addedAt": time(entry.added_at),
            })
        });
        say(serde_json::to_string_pretty(&views.collect::<Vec<_>>())?);
    } else if entries.is_empty() {
        say("no wallets");
    } else {
        say(format!("{:<42}  {:<20}  {:<20}  note", "wallet", "team", "added"));
        for entry in entries {
            let (wallet, note) = (entry.wallet.to_string(), entry.note.as_deref().unwrap_or_default());
            say(format!("{wallet:<42}  {:<20}  {:<20}  {note}", entry.team, seconds(entry.added_at)));
        }
    }
    Ok(())
}
