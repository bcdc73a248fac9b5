//! `/api/v1/search`: what a text is: a block, a transaction, an account or a validator.

use std::sync::Arc;

use axum::extract::State;

use crate::{
    code::Code,
    edge::answer::{Answer, Holds},
    extract::query::Query,
    problem::Problem,
    search::{self, Found, LONGEST},
    state::ApiState,
    view::search::{SearchKind, SearchResult, SearchView},
};

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
    let found = search::search(&state, text, head.number()).await?;
    let results = found.into_iter().map(|found| result(&state, found)).collect();
    Answer::json(&SearchView { query: text.to_owned(), results }, Holds::Moment)
}

fn result(state: &ApiState, found: Found) -> SearchResult {
    match found {
        Found::Block(number) => SearchResult {
            kind: SearchKind::Block,
            id: number.to_string(),
            title: format!("Block {number}"),
            path: format!("/api/v1/blocks/{number}"),
        },
        Found::Transaction(hash) => SearchResult {
            kind: SearchKind::Transaction,
            id: hash.to_string(),
            title: "Transaction".to_owned(),
            path: format!("/api/v1/transactions/{hash}"),
        },
        Found::Account(address) => {
            let text = address.to_checksum(None);
            SearchResult {
                kind: SearchKind::Account,
                title: state.label(address).unwrap_or_else(|| "Account".to_owned()),
                path: format!("/api/v1/accounts/{text}"),
                id: text,
            }
        }
        Found::Validator(record) => {
            let address = record.address().to_checksum(None);
            let name = Some(record.moniker.clone()).filter(|name| !name.is_empty());
            SearchResult {
                kind: SearchKind::Validator,
                title: name.unwrap_or_else(|| "Validator".to_owned()),
                path: format!("/api/v1/validators/{address}"),
                id: address,
            }
        }
    }
}
