//! The validator set at a head against the registry, for whoever looks without being the keeper.

use std::collections::HashSet;

use alloy_primitives::Address;
use chain::{Agreement, ChainClient, ChainError, Head, contract::ContractError};

use crate::{membership::due_drops, registry::read_members};

/// What is remarkable about the validator set at a head.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SetSurvey {
    /// Validators whose operators are not in the registry any more.
    pub outside: Vec<OutsideValidator>,
    /// Validators that neither proposed nor sealed any of the last blocks.
    pub silent: Vec<Address>,
    /// How many blocks that is; none on a chain that is too young to tell.
    pub looked_at: Option<u64>,
}

/// A validator whose operator is not in the registry any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutsideValidator {
    /// Who registered it.
    pub operator: Address,
    /// The address it seals with.
    pub node: Address,
    /// The registry's name of the operator's standing.
    pub standing: &'static str,
}

/// Compares the set at a head with the registry.
pub async fn survey_set(
    client: &dyn ChainClient,
    registry: Address,
    head: &Head,
) -> Result<SetSurvey, ContractError> {
    let Some(Agreement { validators: set, .. }) = Agreement::of(&head.header) else {
        return Ok(SetSurvey::default());
    };
    let members = read_members(client, registry, head.number()).await?;
    let outside = due_drops(&set, &members).into_iter().map(|due| OutsideValidator {
        operator: due.operator,
        node: due.node,
        standing: due.standing.name(),
    });
    let blocks = two_turns(set.len());
    let looked_at = (head.number() >= blocks).then_some(blocks);
    let live = if looked_at.is_some() { live(client, head, set.len()).await? } else { HashSet::new() };
    let silent = set.into_iter().filter(|node| looked_at.is_some() && !live.contains(node)).collect();
    Ok(SetSurvey { outside: outside.collect(), silent, looked_at })
}

/// Blocks in which every validator has two turns.
fn two_turns(validators: usize) -> u64 {
    u64::try_from(validators.saturating_mul(2)).unwrap_or(u64::MAX)
}

/// Who proposed or sealed one of the last blocks.
pub(crate) async fn live(
    client: &dyn ChainClient,
    head: &Head,
    validators: usize,
) -> Result<HashSet<Address>, ChainError> {
    let number = head.number();
    let mut live = HashSet::new();
    for height in number.saturating_sub(two_turns(validators)).saturating_add(1)..=number {
        let Some(block) = client.block(height).await? else { continue };
        let Some(agreement) = Agreement::of(&block.header) else { continue };
        live.extend(agreement.proposer);
        live.extend(agreement.committers());
    }
    Ok(live)
}
