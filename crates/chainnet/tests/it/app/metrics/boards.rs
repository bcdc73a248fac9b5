//! The dashboard and the alert rules name metrics that the binary serves, and runbooks that are there.

use std::collections::BTreeSet;

use serde_json::Value;
use testkit::HttpClient;

use super::{call_unknown_method, scrape};
use crate::app::{folder, up};

const DASHBOARD: &str = include_str!("../../../../../../deploy/grafana/chainnet.json");
const ALERTS: &str = include_str!("../../../../../../deploy/prometheus/alerts.yaml");
const RUNBOOKS: &str = include_str!("../../../../../../docs/operations.md");

/// Words of the query language, and what Prometheus knows by itself.
const OTHERS: &[&str] = &[
    "sum",
    "max",
    "min",
    "count",
    "rate",
    "increase",
    "changes",
    "by",
    "on",
    "group_left",
    "time",
    "and",
    "le",
    "histogram_quantile",
    "label_values",
    "up",
    "__rate_interval",
];
const LABELS: &[&str] = &[
    "instance", "pool", "node", "kind", "route", "status", "way", "code", "outcome", "state", "role",
    "network", "account", "job",
];

/// The names in an expression, without what stands in quotes, labels' values and times.
fn names(expression: &str) -> BTreeSet<String> {
    let mut bare = String::new();
    for (place, part) in expression.split('"').enumerate() {
        if place % 2 == 0 {
            bare.push_str(part);
        }
    }
    let words = bare.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let words = words.filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase() || c == '_'));
    words.filter(|word| !OTHERS.contains(word) && !LABELS.contains(word)).map(str::to_owned).collect()
}

fn expressions() -> Vec<String> {
    let board: Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = board["panels"].as_array().unwrap();
    let targets = panels.iter().filter_map(|panel| panel["targets"].as_array()).flatten();
    let mut found: Vec<String> = targets.map(|target| target["expr"].as_str().unwrap().to_owned()).collect();
    assert!(found.len() > 40, "{} queries on the dashboard", found.len());
    found.extend(alerts("expr").into_iter().map(|text| text.trim_matches('\'').to_owned()));
    found
}

/// What stands behind a key in each of the rules.
fn alerts(key: &str) -> Vec<&'static str> {
    let beginning = format!("{key}: ");
    ALERTS.lines().filter_map(|line| line.trim_start_matches([' ', '-']).strip_prefix(&beginning)).collect()
}

#[tokio::test]
async fn the_dashboard_and_the_alerts_name_metrics_that_are_served() {
    let data = folder();
    let app = up(data.path()).await;
    call_unknown_method(&app).await;
    let served = scrape(HttpClient::new(app.server().announced("Metrics").unwrap())).await.names();
    // The keeper is a part that may not be built in.
    let has_keeper = served.iter().any(|name| name.starts_with("keeper_"));
    for expression in expressions() {
        let mut asked = names(&expression);
        asked.retain(|name| has_keeper || !name.starts_with("keeper_"));
        if expression.contains("keeper_") && !has_keeper {
            continue;
        }
        assert!(!asked.is_empty() || expression.starts_with("up{"), "nothing is asked: {expression}");
        for name in asked {
            assert!(served.contains(&name), "{name} is not served: {expression}");
        }
    }
}

#[tokio::test]
async fn the_documentation_lists_every_family() {
    let data = folder();
    let app = up(data.path()).await;
    call_unknown_method(&app).await;
    let metrics = scrape(HttpClient::new(app.server().announced("Metrics").unwrap())).await;
    for family in metrics.families.keys() {
        assert!(RUNBOOKS.contains(&format!("`{family}`")), "docs/operations.md does not tell of {family}");
    }
}

#[test]
fn every_alert_has_a_severity_a_summary_and_a_runbook() {
    let rules = alerts("alert").len();
    assert!(rules >= 20, "{rules}");
    for key in ["expr", "for", "severity", "summary", "description", "runbook"] {
        assert_eq!(alerts(key).len(), rules, "{key}");
    }
    let headings: BTreeSet<String> = RUNBOOKS
        .lines()
        .filter_map(|line| line.strip_prefix("### "))
        .map(|heading| heading.to_lowercase().replace(' ', "-"))
        .collect();
    for runbook in alerts("runbook") {
        let (_, anchor) = runbook.split_once('#').unwrap();
        assert!(headings.contains(anchor), "no runbook {anchor} in {headings:?}");
    }
}

#[test]
fn names_are_found_in_expressions() {
    let found =
        names("sum by (le) (rate(api_request_seconds_bucket{route!~\"a|b\", status=\"5xx\"}[5m])) > 1");
    assert_eq!(found, BTreeSet::from(["api_request_seconds_bucket".to_owned()]));
}
