//! A head as `newHeads` shows it, cut out of the block that the node answered.

use std::{collections::VecDeque, fmt};

use alloy_primitives::B256;
use serde::{
    Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::warm::WarmBlock;

/// Members of a block that are no part of its header.
const BODY: [&str; 3] = ["transactions", "uncles", "withdrawals"];
/// Blocks recognised when they are told of again. `evm_revert` goes back further only to start afresh.
const REMEMBERED: usize = 256;

/// A new head, rendered.
pub(crate) struct HeadNews(String);

impl HeadNews {
    pub(super) fn new(block: &WarmBlock) -> Self {
        Self(header(&block.json).unwrap_or_else(|error| {
            // The follower has read it, so it is JSON; should it ever not be, the operator sees the reason.
            tracing::error!(%error, number = block.number, "could not cut the header out of a block");
            "null".to_owned()
        }))
    }

    /// The header's JSON.
    pub(crate) fn json(&self) -> &str {
        &self.0
    }
}

/// The members of a block's header, in the node's own bytes and order.
fn header(block: &[u8]) -> Result<String, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_slice(block);
    let header = reader.deserialize_map(HeaderVisitor)?;
    reader.end().map(|()| header)
}

struct HeaderVisitor;

impl<'de> Visitor<'de> for HeaderVisitor {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a block")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<String, A::Error> {
        let mut json = String::with_capacity(2048);
        while let Some((name, value)) = map.next_entry::<&RawValue, &RawValue>()? {
            if BODY.iter().any(|member| name.get().trim_matches('"') == *member) {
                continue;
            }
            json.push(if json.is_empty() { '{' } else { ',' });
            json.push_str(name.get());
            json.push(':');
            json.push_str(value.get());
        }
        json.push_str(if json.is_empty() { "{}" } else { "}" });
        Ok(json)
    }
}

/// The blocks that were told of last.
#[derive(Default)]
pub(super) struct Told(VecDeque<B256>);

impl Told {
    /// Whether this block is news.
    pub(super) fn note(&mut self, hash: B256) -> bool {
        if self.0.contains(&hash) {
            return false;
        }
        if self.0.len() == REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back(hash);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_the_block_without_its_body_byte_for_byte() {
        let block =
            br#"{"number":"0x7", "hash":"0xaa","transactions":[{"uncles":1}],"size": "0x1","uncles":[]}"#;
        assert_eq!(header(block).expect("a header"), r#"{"number":"0x7","hash":"0xaa","size":"0x1"}"#);
        assert!(header(b"[]").is_err());
        assert!(header(b"{} {}").is_err());
    }

    #[test]
    fn a_block_is_news_once() {
        let mut told = Told::default();
        let hash = |number: usize| B256::left_padding_from(&number.to_be_bytes());
        for number in 0..=REMEMBERED {
            assert!(told.note(hash(number)));
            assert!(!told.note(hash(number)));
        }
        assert_eq!(told.0.len(), REMEMBERED);
        assert!(told.note(hash(0)), "the oldest is forgotten");
    }
}
