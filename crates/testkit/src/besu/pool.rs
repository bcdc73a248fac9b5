//! What Besu says of its pool where our own node says something else.

use std::collections::BTreeMap;

use alloy_primitives::{Address, U64};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::RpcClient;

/// Pooled transactions by sender and nonce, as our node lists them.
type BySender = BTreeMap<Address, BTreeMap<String, Value>>;

#[derive(Deserialize)]
struct Content {
    pending: BySender,
    queued: BySender,
}

/// Raises an account's pending nonce to the one after its highest pooled transaction: Besu does not look for gaps below it.
pub(super) async fn raise_pending_nonce(node: &RpcClient, account: &Value, nonce: &mut Value) {
    let Ok(account) = serde_json::from_value::<Address>(account.clone()) else { return };
    let Ok(content) = node.call::<Content>("txpool_content", json!([])).await else { return };
    let pooled = [content.pending, content.queued].into_iter().filter_map(|mut half| half.remove(&account));
    let nonces = pooled.flatten().filter_map(|(nonce, _)| nonce.parse::<u64>().ok());
    let mined = serde_json::from_value::<U64>(nonce.clone()).unwrap_or_default();
    let next = nonces.map(|nonce| nonce.saturating_add(1)).max().unwrap_or(0);
    *nonce = json!(mined.max(U64::from(next)));
}
