//! The world state: a Merkle-Patricia trie whose nodes are kept by hash, so that every sealed block's state
//! stays readable and provable, and the changes that a block makes to it.

use std::{collections::BTreeMap, sync::Arc};

use alloy_primitives::{Address, B256, Bytes, U256, map::HashMap};

mod apply;
mod reads;
#[cfg(test)]
mod tests;
mod trie;
mod update;
mod view;

use reads::Reads;

/// Where trie nodes and contract code are found by their hash.
pub trait NodeSource: Send + Sync {
    /// RLP of the trie node with this hash.
    fn node(&self, hash: B256) -> Result<Bytes, StateError>;
    /// Contract code with this hash.
    fn code(&self, hash: B256) -> Result<Bytes, StateError>;
}

/// Why the state could not be read.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// A node that the trie refers to is not in the store.
    #[error("trie node {0} is missing from the store")]
    MissingNode(B256),
    /// Code that an account refers to is not in the store.
    #[error("contract code {0} is missing from the store")]
    MissingCode(B256),
    /// A stored node does not decode.
    #[error("trie node {0} is corrupt")]
    CorruptNode(B256),
    /// The account or storage value at this trie key does not decode.
    #[error("the trie value at key {0} is corrupt")]
    CorruptValue(B256),
    /// The store failed to read.
    #[error("the store could not be read")]
    Unreadable(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// An account's own fields; storage hangs off `storage_root`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Account {
    /// Number of transactions sent (or contracts created, for a contract).
    pub nonce: u64,
    /// Balance in wei.
    pub balance: U256,
    /// Root of the account's storage trie.
    pub storage_root: B256,
    /// Hash of the account's code.
    pub code_hash: B256,
}

/// The state after one block. Cheap to clone, safe to read from any thread.
#[derive(Clone)]
pub struct StateView {
    root: B256,
    source: Arc<dyn NodeSource>,
    reads: Option<Arc<Reads>>,
}

/// What a block changes, by account.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StateDiff {
    /// Accounts that differ from the parent state.
    pub accounts: BTreeMap<Address, AccountDiff>,
    /// Code created by the block, by hash.
    pub code: BTreeMap<B256, Bytes>,
}

/// What a block changes in one account.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccountDiff {
    /// The account's new fields; `None` when it no longer exists.
    pub account: Option<AccountFields>,
    /// The account was destroyed or created anew in this block: its old storage is gone before `storage` applies.
    pub wiped: bool,
    /// New values of storage slots; zero removes the slot.
    pub storage: HashMap<U256, U256>,
}

/// The fields of an account that execution decides (its storage root follows from the trie).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccountFields {
    /// See [`Account::nonce`].
    pub nonce: u64,
    /// See [`Account::balance`].
    pub balance: U256,
    /// See [`Account::code_hash`].
    pub code_hash: B256,
}

/// The trie after a [`StateDiff`].
#[derive(Debug, Clone)]
pub struct StateUpdate {
    /// Root after the change.
    pub root: B256,
    /// New nodes by hash.
    pub nodes: Vec<(B256, Bytes)>,
    /// Nodes that the change left behind. Older states need them, so they are to be kept, but nothing that follows
    /// will read them often.
    pub replaced: Vec<B256>,
}
