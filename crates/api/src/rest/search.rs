//! `/api/v1/search`: what a text is: a block, a transaction, an account or a validator.

use std::sync::Arc;

use alloy_primitives::{Address, B256};
use axum::extract::State;

use crate::{
    code::Code,
    edge::answer::{Answer, Holds},
    extract::{
        path::{self, BlockName},
        query::Query,
    },
    problem::Problem,
    state::ApiState,
    view::search::{SearchKind, SearchResult, SearchView},
};

/// Characters of the longest text that is searched for.
const LONGEST: usize = 100;
/// Validators whose name contains the text.
const MOST_VALIDATORS: usize = 10;

/// What a hash, number, address or moniker is
#[utoipa::path(
    get, path = "/api/v1/search", tag = "Search",
    params((
        "q" = String, Query, description = "A number, a hash, an address, or part of a validator's name",
        min_length = 1, max_length = 100, example = "1024"
    )),
    responses((status = 200, description = "What it may mean", body = SearchView))
)]
pub(super) async fn search(State(state): State<Arc<ApiState>>, query: Query) -> Result<Answer, Problem> {
    let parameters = query.parameters(&["q"])?;
    let text = parameters.get("q").unwrap_or_default().trim();
    if text.is_empty() || text.chars().count() > LONGEST {
        let detail = format!("`q` is a text of 1 to {LONGEST} characters.");
        return Err(Problem::new(Code::InvalidParameter, detail));
    }
    let head = state.head()?;
    let mut results = Vec::new();
    if let Ok(hash) = path::hash(text) {
        results.extend(find_hash(&state, hash).await?);
    } else if let Ok(address) = path::address(text) {
        results.push(account(&state, address));
    } else if let Some(BlockName::Number(number)) = path::find_block(text)
        && number <= head.number()
    {
        results.push(block(number));
    }
    results.extend(find_validators(&state, text));
    Answer::json(&SearchView { query: text.to_owned(), results }, Holds::Moment)
}

async fn find_hash(state: &ApiState, hash: B256) -> Result<Option<SearchResult>, Problem> {
    if state.chain.transaction(hash).await?.is_some() {
        return Ok(Some(SearchResult {
            kind: SearchKind::Transaction,
            id: hash.to_string(),
            title: "Transaction".to_owned(),
            path: format!("/api/v1/transactions/{hash}"),
        }));
    }
    Ok(state.chain.block_by_hash(hash).await?.map(|found| block(found.number())))
}

fn block(number: u64) -> SearchResult {
    SearchResult {
        kind: SearchKind::Block,
        id: number.to_string(),
        title: format!("Block {number}"),
        path: format!("/api/v1/blocks/{number}"),
    }
}

fn account(state: &ApiState, address: Address) -> SearchResult {
    let address_text = address.to_checksum(None);
    SearchResult {
        kind: SearchKind::Account,
        title: state.label(address).unwrap_or_else(|| "Account".to_owned()),
        path: format!("/api/v1/accounts/{address_text}"),
        id: address_text,
    }
}

/// Validators with this address, or whose name contains the text.
fn find_validators(state: &ApiState, text: &str) -> Vec<SearchResult> {
    let Some(board) = state.boards.borrow().clone() else { return Vec::new() };
    let wanted = text.to_lowercase();
    let address = path::address(text).ok();
    let is_match = |name: &str| !name.is_empty() && name.to_lowercase().contains(&wanted);
    let matching = board.validators.iter().filter(|record| match address {
        Some(address) => record.operator == Some(address) || record.consensus == Some(address),
        None => is_match(&record.moniker),
    });
    let shown = matching.take(MOST_VALIDATORS).map(|record| {
        let address = record.address().to_checksum(None);
        SearchResult {
            kind: SearchKind::Validator,
            title: if record.moniker.is_empty() { "Validator".to_owned() } else { record.moniker.clone() },
            path: format!("/api/v1/validators/{address}"),
            id: address,
        }
    });
    shown.collect()
}
