//! Follows the chain into the store.
