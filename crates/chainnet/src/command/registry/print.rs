//! What the commands print: for people line by line, for programs as one object.

use alloy_primitives::Address;
use contracts::bindings::registry::IPlatformValidatorRegistry::Validator;
use domain::Wei;
use serde_json::{Map, Value, json};

use super::{
    Prepared,
    plan::Plan,
    safe::SafeTransaction,
    send::Mined,
    state::{State, standing, time},
};
use crate::{cli::SendOptions, output::say};

type Changes = [(&'static str, String, String)];

/// Where the program stands, and everybody who registered.
pub(super) fn status(state: &State, records: &[Validator], json: bool) -> anyhow::Result<()> {
    if json {
        let validators: Vec<Value> = records.iter().map(record_view).collect();
        say(serde_json::to_string_pretty(&json!({
            "phase": state.phase,
            "current": state.members.to_string(),
            "max": state.slots.to_string(),
            "target": state.target.to_string(),
            "openSlots": state.open_slots().to_string(),
            "communityOpen": state.is_open,
            "totalStaked": Wei(state.staked).to_string(),
            "penalties": Wei(state.penalties).to_string(),
            "validators": validators,
        }))?);
        return Ok(());
    }
    let registration = if state.is_open { "open to anybody" } else { "for approved operators" };
    say(format!("phase         {}", state.phase));
    say(format!("slots         {} of {} taken, {} open", state.members, state.slots, state.open_slots()));
    say(format!("target        {}", state.target));
    say(format!("registration  {registration}"));
    say(format!("staked        {}", Wei(state.staked)));
    say(format!("penalties     {}", Wei(state.penalties)));
    for record in records {
        say(format!(
            "{}  {:<8}  {:>12}  slashes {}  {}",
            record.operator,
            standing(record.status),
            Wei(record.stake).to_string(),
            record.slashCount,
            record.moniker
        ));
    }
    Ok(())
}

/// Everything about one operator.
pub(super) fn operator(operator: Address, state: &State, json: bool) -> anyhow::Result<()> {
    if json {
        let mut view = record_view(&state.record);
        if let Some(view) = view.as_object_mut() {
            view.insert("operator".to_owned(), json!(operator.to_string()));
            view.insert("approved".to_owned(), json!(state.is_approved));
        }
        say(serde_json::to_string_pretty(&view)?);
        return Ok(());
    }
    say(format!("{:<17} {operator}", "operator"));
    // The fields of the program come first; these are the operator's own.
    for (name, value) in state.fields().into_iter().skip_while(|(name, _)| *name != "approved") {
        say(format!("{name:<17} {value}"));
    }
    Ok(())
}

fn record_view(record: &Validator) -> Value {
    let moment = |secs: u64| (secs != 0).then(|| time(secs));
    json!({
        "operator": record.operator.to_string(),
        "consensusAddress": record.consensus.to_string(),
        "moniker": record.moniker,
        "website": record.website,
        "status": standing(record.status),
        "stake": Wei(record.stake).to_string(),
        "rewards": Wei(record.rewards).to_string(),
        "commissionBps": record.commissionBps,
        "slashCount": record.slashCount,
        "registeredAt": moment(record.registeredAt),
        "jailedUntil": moment(record.jailedUntil),
        "withdrawableAt": moment(record.withdrawableAt),
    })
}

/// The call itself.
pub(super) fn call(plan: &Plan, prepared: &Prepared, registry: Address) -> Map<String, Value> {
    let fields = [
        ("call", plan.call.clone()),
        ("from", prepared.sender.address().to_string()),
        ("to", registry.to_string()),
        ("value", Wei(plan.value).to_string()),
        ("data", plan.input.to_string()),
        ("gas", prepared.gas.to_string()),
    ];
    fields.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect()
}

pub(super) fn dry_run(
    view: &mut Map<String, Value>,
    prepared: &Prepared,
    how: SendOptions,
) -> anyhow::Result<()> {
    view.insert("sent".to_owned(), json!(false));
    finish(view, &prepared.before.changes(&prepared.expected), how, "nothing was sent; it would change")
}

pub(super) fn outcome(
    view: &mut Map<String, Value>,
    mined: &Mined,
    changes: &Changes,
    how: SendOptions,
) -> anyhow::Result<()> {
    view.insert("sent".to_owned(), json!(true));
    view.insert("transaction".to_owned(), json!(mined.hash));
    view.insert("block".to_owned(), json!(mined.block));
    view.insert("gasUsed".to_owned(), json!(mined.gas_used));
    finish(view, changes, how, "it changed")
}

pub(super) fn safe(
    view: &mut Map<String, Value>,
    transaction: &SafeTransaction,
    prepared: &Prepared,
    how: SendOptions,
) -> anyhow::Result<()> {
    view.insert("sent".to_owned(), json!(false));
    let owners: Vec<String> = transaction.owners.iter().map(ToString::to_string).collect();
    let nothing = Address::ZERO.to_string();
    let fields = json!({
        "safe": transaction.safe.to_string(),
        "to": transaction.to.to_string(),
        "value": transaction.value.to_string(),
        "data": transaction.data,
        "operation": 0,
        "safeTxGas": "0",
        "baseGas": "0",
        "gasPrice": "0",
        "gasToken": nothing,
        "refundReceiver": nothing,
        "nonce": transaction.nonce.to_string(),
        "safeTxHash": transaction.hash,
        "owners": owners,
        "threshold": transaction.threshold.to_string(),
    });
    view.insert("safeTransaction".to_owned(), fields);
    let heading = format!(
        "nothing was sent: {} of the Safe's owners have to sign safeTxHash; it would change",
        transaction.threshold
    );
    finish(view, &prepared.before.changes(&prepared.expected), how, &heading)
}

fn finish(
    view: &mut Map<String, Value>,
    changes: &Changes,
    how: SendOptions,
    heading: &str,
) -> anyhow::Result<()> {
    if how.json {
        let changes: Vec<Value> = changes
            .iter()
            .map(|(field, before, after)| json!({ "field": field, "before": before, "after": after }))
            .collect();
        view.insert("changes".to_owned(), changes.into());
        say(serde_json::to_string_pretty(view)?);
        return Ok(());
    }
    print_fields(view, "");
    say(format!("{heading}:"));
    for (field, before, after) in changes {
        say(format!("  {field:<17} {before} → {after}"));
    }
    if changes.is_empty() {
        say("  nothing");
    }
    Ok(())
}

/// What a reader looks for first; the rest comes after it, by name.
const FIRST: [&str; 8] = ["call", "from", "to", "value", "data", "gas", "transaction", "block"];

fn print_fields(view: &Map<String, Value>, indent: &str) {
    let place = |name: &str| FIRST.iter().position(|first| *first == name).unwrap_or(FIRST.len());
    let mut fields: Vec<_> = view.iter().collect();
    fields.sort_by_key(|(name, _)| place(name));
    for (name, value) in fields {
        match value {
            Value::Object(fields) => {
                say(format!("{indent}{name}"));
                print_fields(fields, "  ");
            }
            Value::Array(items) => {
                for item in items {
                    say(format!("{indent}{name:<14} {}", item.as_str().unwrap_or_default()));
                }
            }
            Value::String(text) => say(format!("{indent}{name:<14} {text}")),
            Value::Null | Value::Bool(_) | Value::Number(_) => say(format!("{indent}{name:<14} {value}")),
        }
    }
}
