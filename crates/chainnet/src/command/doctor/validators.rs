//! The validator set against the registry, and who of it gives no sign of life.

use chain::{ChainClient, Head};
use keeper::{SetSurvey, survey_set};

use crate::{config::Config, finding::Finding};

const CHECK: &str = "validators";

/// Whether everybody in the set is in the registry, and runs.
pub(super) async fn examine(config: &Config, client: &dyn ChainClient, head: &Head) -> Finding {
    let registry = config.deployment().contracts.platform_validator_registry;
    match survey_set(client, registry, head).await {
        Ok(survey) => judge(&survey),
        Err(error) => {
            let found = format!("the registry cannot be read: {:#}", anyhow::Error::from(error));
            Finding::fail(CHECK, found, "look into the node's log")
        }
    }
}

fn judge(survey: &SetSurvey) -> Finding {
    let outside = survey.outside.iter().map(|one| {
        format!(
            "{} of {} is in the validator set, but {} in the registry",
            one.node, one.operator, one.standing
        )
    });
    let outside: Vec<String> = outside.collect();
    if !outside.is_empty() {
        let advice = "vote them out with `chainnet validator vote NODE --drop`, or let the keeper: KEEPER_AUTO_VOTE=true";
        return Finding::fail(CHECK, outside.join("; "), advice);
    }
    let Some(blocks) = survey.looked_at else {
        return Finding::ok(CHECK, "all of the set are in the registry; the chain is too young for more");
    };
    if survey.silent.is_empty() {
        return Finding::ok(CHECK, "all of the set are in the registry and run");
    }
    let silent: Vec<String> = survey.silent.iter().map(ToString::to_string).collect();
    let found = format!("no sign of life in the last {blocks} blocks: {}", silent.join(", "));
    Finding::warn(
        CHECK,
        found,
        "start these validators' nodes: without two thirds of the set the chain stands still",
    )
}
