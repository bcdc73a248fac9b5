//! `chainnet rate`: what a coin costs in rupiah, in the database itself.

use std::sync::Arc;

use anyhow::bail;
use jiff::Timestamp;
use merchant::{NewRate, RateSetError, Rates};
use serde_json::{Value, json};
use store::portal::RateRow;

use crate::{
    cli::{RateCommand, RateSet},
    config::Config,
    output::{say, seconds, time},
    process, runtime,
};

/// Carries out one command.
pub(crate) fn run(config: &Config, command: &RateCommand) -> anyhow::Result<()> {
    runtime::run_small(async {
        let db = process::open_database(config).await?;
        let rates = Rates::new(db.clone(), Arc::new(Timestamp::now));
        let result = carry_out(&rates, command).await;
        db.close().await;
        result
    })
}

async fn carry_out(rates: &Rates, command: &RateCommand) -> anyhow::Result<()> {
    match command {
        RateCommand::Set(set) => set_rate(rates, set).await,
        RateCommand::Show { json } => show(rates.current().await?.as_ref(), *json),
        RateCommand::History { limit, json } => print_history(&rates.history(*limit).await?, *json),
    }
}

async fn set_rate(rates: &Rates, set: &RateSet) -> anyhow::Result<()> {
    let RateSet { rupiah, by, note, allow_jump } = set;
    let new = NewRate { rate: *rupiah, by: by.clone(), note: note.clone(), allow_jump: *allow_jump };
    match rates.set(new).await {
        Ok(row) => {
            say(format!("1 coin = Rp {} from now on", row.rate));
            Ok(())
        }
        Err(RateSetError::Jump { last, new }) => {
            bail!("Rp {new} is more than 10 % away from the last rate, Rp {last}; --allow-jump takes it")
        }
        Err(RateSetError::Store(error)) => Err(error.into()),
    }
}

fn show(row: Option<&RateRow>, json: bool) -> anyhow::Result<()> {
    match row {
        None if json => say(Value::Null),
        None => say("no rate is set, so that no quote can be made: chainnet rate set RUPIAH"),
        Some(row) if json => say(serde_json::to_string_pretty(&view(row))?),
        Some(row) => {
            say(format!("1 coin = Rp {}, set by {} at {}", row.rate, row.set_by, seconds(row.created_at)))
        }
    }
    Ok(())
}

fn print_history(rows: &[RateRow], json: bool) -> anyhow::Result<()> {
    if json {
        say(serde_json::to_string_pretty(&rows.iter().map(view).collect::<Vec<_>>())?);
    } else if rows.is_empty() {
        say("no rates");
    } else {
        say(format!("{:>4}  {:<20}  {:>20}  {:<16}  note", "no.", "since", "rupiah", "by"));
        for row in rows {
            let note = row.note.as_deref().unwrap_or_default();
            say(format!(
                "{:>4}  {:<20}  {:>20}  {:<16}  {note}",
                row.id,
                seconds(row.created_at),
                row.rate.to_string(),
                row.set_by
            ));
        }
    }
    Ok(())
}

fn view(row: &RateRow) -> Value {
    json!({
        "id": row.id,
        "idrPerCoin": row.rate.to_string(),
        "setBy": row.set_by,
        "note": row.note,
        "since": time(row.created_at),
    })
}
