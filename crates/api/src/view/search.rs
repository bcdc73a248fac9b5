//! What a search found.

use serde::Serialize;
use utoipa::ToSchema;

/// What a text may mean.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SearchView {
    /// The text that was searched for.
    #[schema(example = "1024")]
    pub(crate) query: String,
    /// What it may mean, best first; empty when nothing was found.
    pub(crate) results: Vec<SearchResult>,
}

/// One thing that a text may mean.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SearchResult {
    /// What it is.
    pub(crate) kind: SearchKind,
    /// Its number, hash or address.
    #[schema(example = "1024")]
    pub(crate) id: String,
    /// What people call it.
    #[schema(example = "Block 1024")]
    pub(crate) title: String,
    /// Where it is.
    #[schema(example = "/api/v1/blocks/1024")]
    pub(crate) path: String,
}

/// What a search finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SearchKind {
    /// A block.
    Block,
    /// A transaction.
    Transaction,
    /// An account.
    Account,
    /// A validator.
    Validator,
}
