//! Pages of invoices that were rendered before and have not changed since.
//!
//! Whatever changes anything of a wallet moves its revision on in the same transaction. The revision is read first and the page
//! after it, so a kept page is as old as its revision says, or newer.

use std::sync::Arc;

use alloy_primitives::Address;
use bytes::Bytes;
use quick_cache::{Weighter, sync::Cache};

/// Memory for kept pages.
const MOST_BYTES: u64 = 8 * 1024 * 1024;
/// Pages that the cache is laid out for.
const USUAL_PAGES: usize = 1_000;

/// A page that somebody asked for: of a wallet, by the text of the query.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Question {
    wallet: Address,
    query: Arc<str>,
}

/// A page, and the revision of the wallet before it was read.
#[derive(Debug, Clone)]
struct Kept {
    revision: u64,
    page: Bytes,
}

#[derive(Clone)]
struct PageWeight;

impl Weighter<Question, Kept> for PageWeight {
    fn weight(&self, question: &Question, kept: &Kept) -> u64 {
        (question.query.len() + kept.page.len() + size_of::<(Question, Kept)>()) as u64
    }
}

/// Rendered pages of invoices.
pub struct InvoicePages {
    pages: Cache<Question, Kept, PageWeight>,
}

impl Default for InvoicePages {
    fn default() -> Self {
        Self { pages: Cache::with_weighter(USUAL_PAGES, MOST_BYTES, PageWeight) }
    }
}

impl InvoicePages {
    /// The page, if it is known at this revision of the wallet.
    pub(super) fn find(&self, wallet: Address, query: &str, revision: u64) -> Option<Bytes> {
        let kept = self.pages.get(&Question { wallet, query: query.into() })?;
        (kept.revision == revision).then_some(kept.page)
    }

    /// Keeps a page that was read after this revision.
    pub(super) fn keep(&self, wallet: Address, query: &str, revision: u64, page: Bytes) {
        self.pages.insert(Question { wallet, query: query.into() }, Kept { revision, page });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_counts_for_its_wallet_its_query_and_its_revision_alone() {
        let pages = InvoicePages::default();
        let (one, other) = (Address::repeat_byte(1), Address::repeat_byte(2));
        pages.keep(one, "limit=20", 7, Bytes::from_static(b"page"));
        assert_eq!(pages.find(one, "limit=20", 7), Some(Bytes::from_static(b"page")));
        for (wallet, query, revision) in [(other, "limit=20", 7), (one, "limit=21", 7), (one, "limit=20", 8)]
        {
            assert_eq!(pages.find(wallet, query, revision), None);
        }
    }
}
