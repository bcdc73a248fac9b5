//! `chainnet keys`: the keys of the gateway, in the database itself.

use access::{IssuedKey, KeyTerms, Keys};
use anyhow::Context;
use domain::{KeyId, Permission, Permissions, Team};
use ipnet::IpNet;
use jiff::Timestamp;
use serde_json::{Value, json};
use store::{KeyRow, KeyUsageRow};

use crate::{
    cli::{Issue, KeyBounds, KeysCommand},
    config::Config,
    output::{say, seconds, time},
    process, runtime,
};

const DAY_MS: u64 = 86_400_000;

/// Carries out one command.
pub(crate) fn run(config: &Config, command: &KeysCommand) -> anyhow::Result<()> {
    runtime::run_small(async {
        let db = process::open_database(config).await?;
        let result = carry_out(config, &Keys::new(db.clone()), command).await;
        db.close().await;
        result
    })
}

async fn carry_out(config: &Config, keys: &Keys, command: &KeysCommand) -> anyhow::Result<()> {
    let now = Timestamp::now();
    match command {
        KeysCommand::Issue(Issue { team, permissions, bounds, json }) => {
            let terms = terms(config, team, *permissions, bounds, now)?;
            print_issued(&keys.issue(&terms, now).await?, now, *json)
        }
        KeysCommand::List { json } => print_list(&keys.list().await?, now, *json),
        KeysCommand::Revoke { id, json } => {
            keys.revoke(id, now).await?;
            print_revoked(keys, id, now, *json).await
        }
        KeysCommand::Rotate { id, overlap, json } => {
            let issued = keys.rotate(id, *overlap, now).await?;
            print_issued(&issued, now, *json)
        }
        KeysCommand::Usage { id, days, json } => {
            print_usage(&keys.usage(id.as_ref(), *days, now).await?, *json)
        }
    }
}

/// What the command line says of a new key, with the defaults of the configuration.
pub(super) fn terms(
    config: &Config,
    team: &Team,
    permissions: Permissions,
    bounds: &KeyBounds,
    now: Timestamp,
) -> anyhow::Result<KeyTerms> {
    let expires_at = match bounds.expires {
        Some(expiry) => Some(expiry.time(now).context("the expiry is too far away")?),
        None => None,
    };
    Ok(KeyTerms {
        team: team.clone(),
        permissions,
        networks: bounds.cidr.clone(),
        requests_per_minute: bounds.limit.unwrap_or(config.access.key_rate_limit),
        expires_at,
    })
}

/// Shows a new key, this once.
pub(super) fn print_issued(issued: &IssuedKey, now: Timestamp, json: bool) -> anyhow::Result<()> {
    if json {
        say(serde_json::to_string_pretty(&issued_view(issued, now))?);
        return Ok(());
    }
    let row = &issued.row;
    say(format!("{:<12} {}", "key", issued.text.expose()));
    say(format!("{:<12} {}", "id", row.id));
    say(format!("{:<12} {}", "team", row.team));
    say(format!("{:<12} {}", "permissions", row.permissions));
    say(format!("{:<12} {} requests per minute", "limit", row.requests_per_minute));
    say(format!("{:<12} {}", "from", networks(&row.networks)));
    say(format!("{:<12} {}", "expires", row.expires_at.map_or("never".to_owned(), seconds)));
    say("Keep the key now: it is not shown again.");
    Ok(())
}

async fn print_revoked(keys: &Keys, id: &KeyId, now: Timestamp, json: bool) -> anyhow::Result<()> {
    if !json {
        say(format!("{id} is revoked"));
        return Ok(());
    }
    let rows = keys.list().await?;
    let row = rows.iter().find(|row| row.id == *id).context("the key is gone")?;
    say(serde_json::to_string_pretty(&row_view(row, now))?);
    Ok(())
}

fn print_list(rows: &[KeyRow], now: Timestamp, json: bool) -> anyhow::Result<()> {
    if json {
        say(serde_json::to_string_pretty(&rows.iter().map(|row| row_view(row, now)).collect::<Vec<_>>())?);
    } else if rows.is_empty() {
        say("no keys");
    } else {
        say(format!(
            "{:<23}  {:<8}  {:<20}  {:<19}  {:>7}  {:<20}  from",
            "id", "state", "team", "permissions", "per min", "expires"
        ));
        for row in rows {
            say(format!(
                "{:<23}  {:<8}  {:<20}  {:<19}  {:>7}  {:<20}  {}",
                row.id,
                state(row, now),
                row.team,
                row.permissions,
                row.requests_per_minute,
                row.expires_at.map_or("never".to_owned(), seconds),
                networks(&row.networks),
            ));
        }
    }
    Ok(())
}

fn print_usage(rows: &[KeyUsageRow], json: bool) -> anyhow::Result<()> {
    if json {
        say(serde_json::to_string_pretty(&rows.iter().map(usage_view).collect::<Vec<_>>())?);
    } else if rows.is_empty() {
        say("no usage");
    } else {
        say(format!("{:<23}  {:<10}  {:>12}  {:>12}  {:>12}", "id", "day", "requests", "denied", "units"));
        for KeyUsageRow { key, day, usage } in rows {
            say(format!(
                "{key:<23}  {:<10}  {:>12}  {:>12}  {:>12}",
                date(*day),
                usage.requests,
                usage.denied,
                usage.units
            ));
        }
    }
    Ok(())
}

fn issued_view(issued: &IssuedKey, now: Timestamp) -> Value {
    let mut view = row_view(&issued.row, now);
    if let Some(view) = view.as_object_mut() {
        view.insert("key".into(), issued.text.expose().into());
    }
    view
}

fn row_view(row: &KeyRow, now: Timestamp) -> Value {
    json!({
        "id": row.id.as_str(),
        "state": state(row, now),
        "team": row.team.as_str(),
        "permissions": row.permissions.iter().map(Permission::name).collect::<Vec<_>>(),
        "requestsPerMinute": row.requests_per_minute,
        "networks": row.networks.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "createdAt": time(row.created_at),
        "expiresAt": row.expires_at.and_then(time),
        "revokedAt": row.revoked_at.and_then(time),
        "replacedBy": row.replaced_by.as_ref().map(ToString::to_string),
    })
}

fn usage_view(row: &KeyUsageRow) -> Value {
    json!({
        "id": row.key.as_str(),
        "day": date(row.day),
        "requests": row.usage.requests,
        "denied": row.usage.denied,
        "units": row.usage.units,
    })
}

/// Where a key stands, in a word. One that was replaced is good until it expires.
fn state(row: &KeyRow, now: Timestamp) -> &'static str {
    let now = u64::try_from(now.as_millisecond()).unwrap_or_default();
    match row {
        KeyRow { revoked_at: Some(_), .. } => "revoked",
        KeyRow { expires_at: Some(end), .. } if *end <= now => "expired",
        KeyRow { replaced_by: Some(_), .. } => "replaced",
        KeyRow { .. } => "active",
    }
}

fn networks(networks: &[IpNet]) -> String {
    if networks.is_empty() {
        return "everywhere".to_owned();
    }
    networks.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// A day since 1970 as a date.
fn date(day: u64) -> String {
    let midnight = time(day.saturating_mul(DAY_MS)).unwrap_or_default();
    midnight.split('T').next().unwrap_or_default().to_owned()
}
