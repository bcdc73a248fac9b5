//! What a text may mean: a block, a transaction, an account or a validator. The same for REST and for the pages.

use std::sync::Arc;

use alloy_primitives::{Address, B256};
use chain::ChainError;
use validators::board::ValidatorRecord;

use crate::{
    extract::path::{BlockName, find_block, find_hash},
    state::ApiState,
};

/// Characters of the longest text that is searched for.
pub const LONGEST: usize = 100;
/// Validators whose name contains the text.
const MOST_VALIDATORS: usize = 10;

/// Something that a text may mean.
#[derive(Debug, Clone)]
pub enum Found {
    /// The block at this height.
    Block(u64),
    /// The transaction with this hash.
    Transaction(B256),
    /// The account with this address; any address has one.
    Account(Address),
    /// A validator with this address, or whose name contains the text.
    Validator(Arc<ValidatorRecord>),
}

/// What a text may mean, where `head` is the newest block. Only for hashes a node is asked.
pub async fn search(state: &ApiState, text: &str, head: u64) -> Result<Vec<Found>, ChainError> {
    let mut found = Vec::new();
    let address = domain::parse_address(text).ok();
    if let Some(hash) = find_hash(text) {
        found.extend(by_hash(state, hash).await?);
    } else if let Some(address) = address {
        found.push(Found::Account(address));
    } else if let Some(BlockName::Number(number)) = find_block(text)
        && number <= head
    {
        found.push(Found::Block(number));
    }
    found.extend(by_name(state, text, address));
    Ok(found)
}

async fn by_hash(state: &ApiState, hash: B256) -> Result<Option<Found>, ChainError> {
    if state.chain.transaction(hash).await?.is_some() {
        return Ok(Some(Found::Transaction(hash)));
    }
    Ok(state.chain.block_by_hash(hash).await?.map(|block| Found::Block(block.number())))
}

fn by_name(state: &ApiState, text: &str, address: Option<Address>) -> Vec<Found> {
    let Some(board) = state.boards.borrow().clone() else { return Vec::new() };
    let wanted = text.to_lowercase();
    let is_match = |name: &str| !name.is_empty() && name.to_lowercase().contains(&wanted);
    let matching = board.validators.iter().filter(|record| match address {
        Some(address) => record.operator == Some(address) || record.consensus == Some(address),
        None => is_match(&record.moniker),
    });
    matching.take(MOST_VALIDATORS).cloned().map(Found::Validator).collect()
}
