//! From what a crate of the same floor announces to the worker's bell.

use std::sync::Arc;

use tokio::sync::{Notify, watch};

/// Rings whenever a watched value changes, until nobody can change it any more.
pub async fn ring_on_change<T: Send + Sync>(mut watched: watch::Receiver<T>, bell: Arc<Notify>) {
    while watched.changed().await.is_ok() {
        bell.notify_one();
    }
}
