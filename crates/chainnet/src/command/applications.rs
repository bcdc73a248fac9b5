//! `chainnet applications`: reviewing applications to the validator program, in the database itself.

use domain::{ApplicationId, ApplicationState};
use serde_json::{Value, json};
use store::ApplicationRow;
use validators::application::{Application, Applications, Decision, Reviewer};

use crate::{
    cli::{ApplicationsCommand, Review},
    config::Config,
    output::{say, seconds, time},
    process, runtime, wiring,
};

/// Carries out one command.
pub(crate) fn run(config: &Config, command: &ApplicationsCommand) -> anyhow::Result<()> {
    runtime::run_small(async {
        let db = process::open_database(config).await?;
        let applications = Applications::new(db.clone(), config.mail.is_some());
        let result = carry_out(&applications, command).await;
        db.close().await;
        result
    })
}

async fn carry_out(applications: &Applications, command: &ApplicationsCommand) -> anyhow::Result<()> {
    match command {
        ApplicationsCommand::List { state, before, limit, json } => {
            let rows = applications.list(*state, before.as_ref(), *limit).await?;
            print_list(&rows, *json)
        }
        ApplicationsCommand::Show { id, json } => print_one(&applications.get(id).await?, *json),
        ApplicationsCommand::Review(review) => decide(applications, Decision::StartReview, review).await,
        ApplicationsCommand::Approve(review) => decide(applications, Decision::Approve, review).await,
        ApplicationsCommand::Reject(review) => decide(applications, Decision::Reject, review).await,
    }
}

async fn decide(applications: &Applications, decision: Decision, review: &Review) -> anyhow::Result<()> {
    let reviewer = Reviewer { name: &review.by, note: review.note.as_deref() };
    let application = applications.transition(&review.id, decision, reviewer, wiring::clock()()).await?;
    if review.json {
        return print_one(&application, true);
    }
    say(format!("{} is {}", application.row.id, application.row.state));
    Ok(())
}

fn print_list(rows: &[ApplicationRow], json: bool) -> anyhow::Result<()> {
    if json {
        say(serde_json::to_string_pretty(&rows.iter().map(row_view).collect::<Vec<_>>())?);
    } else if rows.is_empty() {
        say("no applications");
    } else {
        say(format!(
            "{:<36}  {:<10}  {:<42}  {:>12}  {:<20}  moniker",
            "id", "state", "operator", "stake", "review due"
        ));
        for row in rows {
            say(format!(
                "{:<36}  {:<10}  {:<42}  {:>12}  {:<20}  {}",
                row.id.as_str(),
                row.state.name(),
                row.operator.to_string(),
                row.stake.to_string(),
                seconds(row.review_due_at),
                row.moniker,
            ));
        }
    }
    Ok(())
}

fn print_one(application: &Application, json: bool) -> anyhow::Result<()> {
    if json {
        say(serde_json::to_string_pretty(&application_view(application))?);
        return Ok(());
    }
    let row = &application.row;
    let lines = [
        ("id", row.id.to_string()),
        ("state", row.state.to_string()),
        ("next step", row.state.next_step().to_owned()),
        ("moniker", row.moniker.clone()),
        ("operator", row.operator.to_string()),
        ("e-mail", row.email.as_str().to_owned()),
        ("stake", row.stake.to_string()),
        ("commission", percent(row.commission_bps)),
        ("website", row.website.clone().unwrap_or_default()),
        ("region", row.region.clone().unwrap_or_default()),
        ("message", row.message.clone().unwrap_or_default()),
        ("submitted", seconds(row.submitted_at)),
        ("review due", seconds(row.review_due_at)),
    ];
    for (name, value) in lines.into_iter().filter(|(_, value)| !value.is_empty()) {
        say(format!("{name:<11} {value}"));
    }
    for step in &application.steps {
        let note = step.note.as_deref().map(|note| format!(": {note}")).unwrap_or_default();
        say(format!("{:<11} {}  {} by {}{note}", "", seconds(step.at), step.state, step.actor));
    }
    Ok(())
}

fn row_view(row: &ApplicationRow) -> Value {
    json!({
        "id": row.id.as_str(),
        "state": row.state.name(),
        "nextStep": row.state.next_step(),
        "moniker": row.moniker,
        "operatorAddress": row.operator.to_string(),
        "email": row.email.as_str(),
        "stakeAmount": row.stake.to_string(),
        "commission": percent(row.commission_bps),
        "website": row.website,
        "region": row.region,
        "message": row.message,
        "submittedAt": time(row.submitted_at),
        "reviewDueAt": time(row.review_due_at),
        "updatedAt": time(row.updated_at),
    })
}

fn application_view(application: &Application) -> Value {
    let steps = application.steps.iter().map(|step| {
        json!({ "state": step.state.name(), "by": step.actor, "note": step.note, "at": time(step.at) })
    });
    let mut view = row_view(&application.row);
    if let Some(view) = view.as_object_mut() {
        view.insert("history".into(), steps.collect());
    }
    view
}

/// Basis points as percent without needless digits.
fn percent(bps: u16) -> String {
    let text = format!("{}.{:02}", bps / 100, bps % 100);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Reads an id on the command line.
pub(crate) fn parse_id(text: &str) -> Result<ApplicationId, String> {
    text.parse().map_err(|_| "an id looks like app_0192f00d…: app_ and 32 hexadecimal digits".to_owned())
}

/// Reads a state on the command line.
pub(crate) fn parse_state(text: &str) -> Result<ApplicationState, String> {
    text.parse().map_err(|_| {
        let states = ApplicationState::ALL.map(ApplicationState::name).join(", ");
        format!("no such state (known: {states})")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commissions_print_without_needless_digits() {
        for (bps, text) in [(0, "0"), (500, "5"), (1250, "12.5"), (2000, "20"), (1005, "10.05")] {
            assert_eq!(percent(bps), text);
        }
    }
}
