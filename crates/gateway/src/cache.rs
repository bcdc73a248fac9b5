//! Answers that are kept, and questions that are under way.
//!
//! Two tiers, no lifetimes: the final one holds what can never change, the head's one what holds until the next head and is
//! then dropped as a whole. Who asks what is being asked already waits for that answer; if it does not come, the next one in
//! line asks anew. Keys are kept whole: two questions never share an answer by accident.

use std::sync::Arc;

use bytes::Bytes;
use jsonrpc::Answer;
use quick_cache::{Equivalent, Weighter, sync::Cache};

use crate::refusal::Refusal;

/// Memory of an entry beside what it says.
const ENTRY_BYTES: usize = 128;

/// How long an answer holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Tier {
    /// For ever.
    Final,
    /// As long as this block is the head.
    Head(u64),
}

/// A question.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    line: u32,
    tier: Tier,
    method: u8,
    params: Arc<str>,
}

impl Key {
    pub(crate) fn new(line: u32, tier: Tier, method: u8, params: &str) -> Self {
        Self { line, tier, method, params: params.into() }
    }
}

/// A question that is only looked up.
#[derive(Debug, Hash)]
pub(crate) struct Question<'a> {
    pub(crate) line: u32,
    pub(crate) tier: Tier,
    pub(crate) method: u8,
    pub(crate) params: &'a str,
}

impl Equivalent<Key> for Question<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        (self.line, self.tier, self.method, self.params) == (key.line, key.tier, key.method, &*key.params)
    }
}

impl Question<'_> {
    fn to_key(&self) -> Key {
        Key::new(self.line, self.tier, self.method, self.params)
    }
}

/// What is to be done with an answer that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It holds as long as its tier.
    Keep,
    /// It is for those who wait for it now.
    Share,
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<Key, Answer> for ByBytes {
    fn weight(&self, key: &Key, answer: &Answer) -> u64 {
        let (Answer::Result(json) | Answer::Error(json)) = answer;
        (ENTRY_BYTES + key.params.len() + json.len()) as u64
    }
}

/// The two tiers.
pub(crate) struct Caches {
    lasting: Cache<Key, Answer, ByBytes>,
    passing: Cache<Key, Answer, ByBytes>,
}

impl Caches {
    pub(crate) fn new(final_bytes: u64, head_bytes: u64) -> Self {
        let cache = |bytes: u64| Cache::with_weighter((bytes / 1024).max(64) as usize, bytes, ByBytes);
        Self { lasting: cache(final_bytes), passing: cache(head_bytes) }
    }

    fn tier(&self, tier: Tier) -> &Cache<Key, Answer, ByBytes> {
        match tier {
            Tier::Final => &self.lasting,
            Tier::Head(_) => &self.passing,
        }
    }

    /// What is kept.
    pub(crate) fn get(&self, question: &Question<'_>) -> Option<Answer> {
        self.tier(question.tier).get(question)
    }

    /// Waits for whoever asks already, or asks with these parameters.
    pub(crate) async fn ask<F>(
        &self,
        question: &Question<'_>,
        ask: impl FnOnce(Arc<str>) -> F,
        judge: impl FnOnce(&Answer) -> Verdict,
    ) -> Result<Answer, Refusal>
    where
        F: Future<Output = Result<Answer, Refusal>>,
    {
        let (cache, key) = (self.tier(question.tier), question.to_key());
        // The guard goes to the next in line when it is dropped with nothing in it.
        let place = match cache.get_value_or_guard_async(&key).await {
            Ok(answer) => return Ok(answer),
            Err(place) => place,
        };
        let answer = ask(Arc::clone(&key.params)).await?;
        let verdict = judge(&answer);
        // It may have been dropped with its tier meanwhile; those who wait get it all the same.
        let _ = place.insert(answer.clone());
        if verdict == Verdict::Share {
            cache.remove(&key);
        }
        Ok(answer)
    }

    /// Keeps a result for ever.
    pub(crate) fn keep_final(&self, key: Key, result: Bytes) {
        self.lasting.insert(key, Answer::Result(result));
    }

    /// Keeps an answer that says that there is nothing yet.
    pub(crate) fn keep_missing(&self, question: &Question<'_>, answer: &Answer) {
        self.tier(question.tier).insert(question.to_key(), answer.clone());
    }

    /// Drops what held until the next head.
    pub(crate) fn next_head(&self) {
        self.passing.clear();
    }

    /// Drops everything.
    pub(crate) fn clear(&self) {
        self.lasting.clear();
        self.passing.clear();
    }

    /// Bytes kept, for metrics: for ever, and until the next head.
    pub(crate) fn weights(&self) -> (u64, u64) {
        (self.lasting.weight(), self.passing.weight())
    }
}
