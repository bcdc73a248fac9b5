//! Answers that are kept: final ones as long as there is room, others until the head they were made at is replaced.
//!
//! The head of an IBFT 2.0 chain goes back in one case only, `evm_revert` on the devnet; then everything is forgotten.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use alloy_primitives::B256;
use chain::{ChainClient, Head};
use parking_lot::Mutex;
use quick_cache::{Weighter, sync::Cache};
use tokio::sync::watch;

use super::answer::{Answer, Holds, Rendered};

/// Requests with a longer path and query are answered, but their answers are not kept.
const LONGEST_KEY: usize = 512;
const EXPECTED_ANSWERS: usize = 8 * 1024;

/// Kept answers by path and query, or by another text that names a question.
pub(crate) struct AnswerCache {
    answers: Cache<Box<str>, Answer, ByBytes>,
    chain: Arc<dyn ChainClient>,
    heads: watch::Receiver<Option<Arc<Head>>>,
    /// The first bytes of the last head's hash, to see without a lock that nothing changed.
    last_mark: AtomicU64,
    last_number: Mutex<u64>,
    /// Times the chain went back.
    era: AtomicU64,
}

/// Between which two steps back of the chain something was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Era(u64);

#[derive(Clone)]
struct ByBytes;

impl Weighter<Box<str>, Answer> for ByBytes {
    fn weight(&self, key: &Box<str>, answer: &Answer) -> u64 {
        key.len() as u64 + answer.rendered.weight()
    }
}

impl AnswerCache {
    /// A cache of at most `bytes`.
    pub(crate) fn new(chain: Arc<dyn ChainClient>, bytes: u64) -> Self {
        let heads = chain.heads();
        let answers = Cache::with_weighter(EXPECTED_ANSWERS, bytes, ByBytes);
        let (last_mark, last_number, era) = Default::default();
        Self { answers, chain, heads, last_mark, last_number, era }
    }

    /// To be taken before anything is read for an answer that may be kept.
    pub(crate) fn era(&self) -> Era {
        Era(self.era.load(Ordering::Acquire))
    }

    /// The kept answer to a question, if it still holds.
    pub(crate) fn find(&self, question: &str) -> Option<Arc<Rendered>> {
        let head = self.observe();
        let answer = self.answers.get(question)?;
        let holds = match answer.holds {
            Holds::Final | Holds::Process => true,
            // A chain that cannot be reached may have moved on: what depends on its head is not known any more.
            Holds::Head(hash) => Some(hash) == head && self.chain.is_reachable(),
            Holds::Moment | Holds::Never => false,
        };
        holds.then_some(answer.rendered)
    }

    /// Keeps an answer that was made in `era`, if it is one to keep.
    pub(crate) fn keep(&self, question: &str, answer: &Answer, era: Era) {
        let is_current = match answer.holds {
            Holds::Final | Holds::Process => true,
            Holds::Head(hash) => Some(hash) == self.observe(),
            Holds::Moment | Holds::Never => false,
        };
        if is_current && question.len() <= LONGEST_KEY && era == self.era() {
            self.answers.insert(question.into(), answer.clone());
        }
    }

    /// The hash of the served head; forgets everything when it went back.
    pub(super) fn observe(&self) -> Option<B256> {
        let (number, hash) = {
            let head = self.heads.borrow();
            let head = head.as_ref()?;
            (head.number(), head.hash)
        };
        let mark = hash.first_chunk().map_or(0, |start| u64::from_be_bytes(*start));
        if self.last_mark.load(Ordering::Acquire) != mark {
            let mut last_number = self.last_number.lock();
            if number <= *last_number && self.last_mark.load(Ordering::Acquire) != mark {
                self.era.fetch_add(1, Ordering::AcqRel);
                self.answers.clear();
            }
            *last_number = number;
            self.last_mark.store(mark, Ordering::Release);
        }
        Some(hash)
    }

    /// Watches the head, so that a chain that went back and grew again between two requests is noticed.
    pub(super) async fn follow(&self) {
        let mut heads = self.heads.clone();
        while heads.changed().await.is_ok() {
            self.observe();
        }
    }
}
