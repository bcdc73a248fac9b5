//! A filter as it is kept between polls.

use std::fmt;

use alloy_primitives::B128;
use serde::{Deserialize, Serialize};

use crate::feed::Moment;

/// A filter's name: 128 random bits, so that nobody comes across another's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FilterId(u128);

impl FilterId {
    pub(super) fn random() -> Self {
        Self(u128::from_be_bytes(B128::random().0))
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("0x")?;
        // `from_str_radix` alone would take a sign.
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        u128::from_str_radix(digits, 16).ok().filter(|_| is_hex).map(Self)
    }
}

impl fmt::Display for FilterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// What a filter collects, and from where on at the next poll.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Collecting {
    /// Logs that match the filter, which is kept as the caller wrote it, from this block on.
    Logs { filter: String, next: u64 },
    /// Block hashes, from this block on.
    Blocks { next: u64 },
    /// Hashes of transactions heard of after this moment.
    Pending { since: Moment },
}

/// A filter and whose it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Installed {
    pub(super) owner: String,
    /// How often it was polled, by which two polls at once are noticed.
    pub(super) polls: u64,
    pub(super) collecting: Collecting,
}

impl Installed {
    /// The filter after one more poll.
    pub(super) fn moved_to(&self, collecting: Collecting) -> Self {
        Self { owner: self.owner.clone(), polls: self.polls + 1, collecting }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ids_are_read_back(id in any::<u128>()) {
            prop_assert_eq!(FilterId::parse(&FilterId(id).to_string()), Some(FilterId(id)));
        }

        #[test]
        fn any_text_is_an_id_or_none(text in ".{0,50}") {
            let _ = FilterId::parse(&text);
        }
    }

    #[test]
    fn other_texts_are_no_ids() {
        for text in ["", "0x", "1", "0x+1", "0x100000000000000000000000000000000", "0xg"] {
            assert_eq!(FilterId::parse(text), None, "{text}");
        }
    }
}
