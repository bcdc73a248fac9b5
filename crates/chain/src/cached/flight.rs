//! One question under way at a time: whoever asks the same meanwhile waits for the same answer.
//!
//! The waiting is shared, not led: if the first asker gives up, the others carry the question on. An answer, good or bad,
//! is for those who waited; nothing is kept here.

use std::{hash::Hash, sync::Arc};

use alloy_primitives::map::HashMap;
use futures_util::{
    FutureExt,
    future::{BoxFuture, Shared, WeakShared},
};
use parking_lot::Mutex;

use crate::ChainError;

/// Questions that nobody waits for any more are forgotten when this many are listed.
const SWEEP_AT: usize = 256;

type Answer<V> = Result<V, Arc<ChainError>>;
type Flight<V> = BoxFuture<'static, Answer<V>>;

/// The questions under way.
pub(super) struct Flights<K, V: Clone> {
    under_way: Mutex<HashMap<K, WeakShared<Flight<V>>>>,
}

impl<K, V: Clone> Default for Flights<K, V> {
    fn default() -> Self {
        Self { under_way: Mutex::default() }
    }
}

impl<K: Hash + Eq, V: Clone + Send + Sync + 'static> Flights<K, V> {
    /// Joins the question if it is under way, asks it otherwise.
    pub(super) async fn join(
        &self,
        key: K,
        ask: impl FnOnce() -> BoxFuture<'static, Result<V, ChainError>>,
    ) -> Result<V, ChainError> {
        let answer = self.board(key, ask).await;
        answer.map_err(copy)
    }

    fn board(
        &self,
        key: K,
        ask: impl FnOnce() -> BoxFuture<'static, Result<V, ChainError>>,
    ) -> Shared<Flight<V>> {
        let mut under_way = self.under_way.lock();
        let flying = under_way.get(&key).and_then(WeakShared::upgrade);
        // One that has landed was asked before this question was.
        if let Some(flight) = flying.filter(|flight| flight.peek().is_none()) {
            return flight;
        }
        if under_way.len() >= SWEEP_AT {
            under_way.retain(|_, flight| flight.upgrade().is_some_and(|flight| flight.peek().is_none()));
        }
        let flight = ask().map(|answer| answer.map_err(Arc::new)).boxed().shared();
        under_way.extend(flight.downgrade().map(|weak| (key, weak)));
        flight
    }
}

/// The failure of a question that several waited for, for one of them.
fn copy(error: Arc<ChainError>) -> ChainError {
    match &*error {
        ChainError::Unavailable(None) => ChainError::Unavailable(None),
        ChainError::Unavailable(Some(_)) => ChainError::Unavailable(Some(Box::new(SharedCause(error)))),
        ChainError::TimedOut => ChainError::TimedOut,
        ChainError::Reverted { output } => ChainError::Reverted { output: output.clone() },
        ChainError::Refused { code, message } => {
            ChainError::Refused { code: *code, message: message.clone() }
        }
        ChainError::NotUnderstood { method, .. } => {
            ChainError::NotUnderstood { method, source: Box::new(SharedCause(error)) }
        }
    }
}

/// The cause of a failure that several were told of.
#[derive(Debug)]
struct SharedCause(Arc<ChainError>);

impl SharedCause {
    fn cause(&self) -> &(dyn std::error::Error + 'static) {
        let own: &ChainError = &self.0;
        std::error::Error::source(own).unwrap_or(own)
    }
}

impl std::fmt::Display for SharedCause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self.cause(), f)
    }
}

impl std::error::Error for SharedCause {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause().source()
    }
}
