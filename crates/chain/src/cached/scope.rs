//! Answers that hold as long as one block is the head.

use std::{hash::Hash, sync::Arc};

use alloy_primitives::{Address, B256, Bytes, U256};
use futures_util::FutureExt;
use quick_cache::{Weighter, sync::Cache};

use super::flight::Flights;
use crate::{Account, ChainError, Head};

/// Memory of a kept answer beside what it says.
const ENTRY_BYTES: usize = 160;

/// Answers to one kind of question, each with the hash of the head that it was given at: an answer that arrives after
/// the head has moved on is kept under the old one and found by nobody.
pub(super) struct HeadScope<Q, V: Clone> {
    kept: Arc<Cache<(B256, Q), V, ByBytes>>,
    flights: Flights<(B256, Q), V>,
}

impl<Q, V> HeadScope<Q, V>
where
    Q: Hash + Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
    ByBytes: Weighter<(B256, Q), V>,
{
    pub(super) fn new(bytes: u64) -> Self {
        Self { kept: Arc::new(Cache::with_weighter(64, bytes, ByBytes)), flights: Flights::default() }
    }

    /// Forgets everything, for a new head.
    pub(super) fn clear(&self) {
        self.kept.clear();
    }

    /// The answer at this head, from memory or by asking.
    pub(super) async fn read<F>(
        &self,
        head: &Head,
        question: Q,
        ask: impl FnOnce() -> F,
    ) -> Result<V, ChainError>
    where
        F: Future<Output = Result<V, ChainError>> + Send + 'static,
    {
        let key = (head.hash, question);
        if let Some(known) = self.kept.get(&key) {
            return Ok(known);
        }
        let (kept, kept_key) = (Arc::clone(&self.kept), key.clone());
        let asking = || {
            let asked = ask();
            async move {
                let answer = asked.await?;
                kept.insert(kept_key, answer.clone());
                Ok(answer)
            }
            .boxed()
        };
        self.flights.join(key, asking).await
    }
}

#[derive(Clone)]
pub(super) struct ByBytes;

impl Weighter<(B256, Address), Account> for ByBytes {
    fn weight(&self, _: &(B256, Address), account: &Account) -> u64 {
        (ENTRY_BYTES + account.code.len()) as u64
    }
}

impl Weighter<(B256, (Address, Bytes)), Bytes> for ByBytes {
    fn weight(&self, (_, (_, input)): &(B256, (Address, Bytes)), output: &Bytes) -> u64 {
        (ENTRY_BYTES + input.len() + output.len()) as u64
    }
}

impl Weighter<(B256, ()), U256> for ByBytes {
    fn weight(&self, _: &(B256, ()), _: &U256) -> u64 {
        ENTRY_BYTES as u64
    }
}
