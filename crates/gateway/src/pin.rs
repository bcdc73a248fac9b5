//! Pinning: `latest`, `safe`, `finalized` and a missing block parameter become the number of the served head.
//!
//! IBFT blocks are final at once, so the three names mean the same block; Besu knows no `safe` and `finalized` on such a
//! chain. Pinned to a number, a read has one answer for ever, and a batch sees one block.

use std::borrow::Cow;

use jsonrpc::Elements;
use serde::Deserialize;

use crate::{cache::Tier, head::Served};

/// A read whose block is settled.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Pinned<'a> {
    /// The parameters to send on, which are also the key under which the answer is kept.
    pub(crate) params: Cow<'a, str>,
    /// How long the answer holds; nothing if it may change at any moment.
    pub(crate) tier: Option<Tier>,
    /// The block that a node must have.
    pub(crate) at: u64,
}

/// Whether a read at the served head is kept beyond it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtHead {
    /// For ever: it is about the block itself.
    Lasting,
    /// Until the next head: most readers want the state of the newest block, and nobody asks for it again later.
    Passing,
}

/// What a block parameter names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Head,
    Number(u64),
    /// A block by its hash.
    Hash,
    /// What waits to be mined, or something that only the node can judge.
    Other,
}

/// Settles the block of a read with its block parameter at this position.
pub(crate) fn pin<'a>(
    text: &'a str,
    elements: &Elements<'a>,
    block: usize,
    at_head: AtHead,
    head: &Served,
) -> Pinned<'a> {
    let named = match elements.get(block) {
        None if elements.count() == block => Named::Head,
        // Parameters before it are missing: the node says which.
        None => Named::Other,
        Some("null") => Named::Head,
        Some(json) => read_block(json),
    };
    let passing = match at_head {
        AtHead::Lasting => Tier::Final,
        AtHead::Passing => Tier::Head(head.number),
    };
    match named {
        Named::Head => {
            let params = with_block(elements, block, head.quoted());
            Pinned { params: params.into(), tier: Some(passing), at: head.number }
        }
        Named::Number(number) if number <= head.number => {
            Pinned { params: compact(text, elements), tier: Some(Tier::Final), at: number }
        }
        Named::Hash => Pinned { params: compact(text, elements), tier: Some(Tier::Final), at: head.number },
        Named::Number(_) | Named::Other => {
            Pinned { params: Cow::Borrowed(text), tier: None, at: head.number }
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BlockObject<'a> {
    #[serde(default, borrow)]
    block_number: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    block_hash: Option<Cow<'a, str>>,
}

fn read_block(json: &str) -> Named {
    if json.starts_with('{') {
        // EIP-1898.
        return match serde_json::from_str::<BlockObject<'_>>(json) {
            Ok(BlockObject { block_number: Some(number), block_hash: None }) => read_number(&number),
            Ok(BlockObject { block_number: None, block_hash: Some(_) }) => Named::Hash,
            Ok(_) | Err(_) => Named::Other,
        };
    }
    match json {
        "\"latest\"" | "\"safe\"" | "\"finalized\"" => Named::Head,
        "\"earliest\"" => Named::Number(0),
        _ => match serde_json::from_str::<Cow<'_, str>>(json) {
            Ok(text) if text.len() == 66 => Named::Hash,
            Ok(text) => read_number(&text),
            Err(_) => Named::Other,
        },
    }
}

fn read_number(text: &str) -> Named {
    match quantity(text) {
        Some(number) => Named::Number(number),
        None => Named::Other,
    }
}

/// A number as Ethereum writes it.
pub(crate) fn quantity(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x")?;
    // A sign would do for Rust.
    if digits.starts_with('+') { None } else { u64::from_str_radix(digits, 16).ok() }
}

/// The parameters without blanks between them, so that one question has one key however it is written.
pub(crate) fn compact<'a>(text: &'a str, elements: &Elements<'a>) -> Cow<'a, str> {
    let joined: usize = elements.iter().map(|element| element.len() + 1).sum();
    let is_compact = text.len() <= joined + 1 || text.len() == 2;
    let is_whole = elements.iter().count() == elements.count();
    if is_compact || !is_whole { Cow::Borrowed(text) } else { Cow::Owned(join(elements.iter())) }
}

fn with_block(elements: &Elements<'_>, block: usize, number: &str) -> String {
    let before = elements.iter().take(block);
    let after = elements.iter().skip(block + 1);
    join(before.chain([number]).chain(after))
}

fn join<'a>(elements: impl Iterator<Item = &'a str>) -> String {
    let mut params = String::with_capacity(256);
    params.push('[');
    for (index, element) in elements.enumerate() {
        if index > 0 {
            params.push(',');
        }
        params.push_str(element);
    }
    params.push(']');
    params
}

#[cfg(test)]
mod tests {
    use jsonrpc::Params;

    use super::*;

    fn pinned(text: &str, block: usize, at_head: AtHead) -> (String, Option<Tier>, u64) {
        let elements = Params::List(text).elements().expect("a list");
        let head = Served::new(26, 0);
        let pinned = pin(text, &elements, block, at_head, &head);
        (pinned.params.into_owned(), pinned.tier, pinned.at)
    }

    #[test]
    fn names_of_the_head_become_its_number() {
        for name in ["\"latest\"", "\"safe\"", "\"finalized\"", "null"] {
            let (params, tier, at) = pinned(&format!("[{{\"to\":\"0x1\"}}, {name}]"), 1, AtHead::Passing);
            assert_eq!(params, r#"[{"to":"0x1"},"0x1a"]"#);
            assert_eq!((tier, at), (Some(Tier::Head(26)), 26));
        }
        let (params, tier, _) = pinned(r#"["0x1"]"#, 1, AtHead::Passing);
        assert_eq!((params.as_str(), tier), (r#"["0x1","0x1a"]"#, Some(Tier::Head(26))));
        let (params, tier, _) = pinned(r#"["latest",false]"#, 0, AtHead::Lasting);
        assert_eq!((params.as_str(), tier), (r#"["0x1a",false]"#, Some(Tier::Final)));
        let (params, ..) = pinned(r#"["0x1","latest",{"0x2":{}}]"#, 1, AtHead::Passing);
        assert_eq!(params, r#"["0x1","0x1a",{"0x2":{}}]"#);
    }

    #[test]
    fn older_blocks_hold_for_ever_and_newer_ones_are_the_nodes_to_judge() {
        let hash = format!("\"0x{}\"", "a".repeat(64));
        for (block, tier, at) in [
            ("\"0x5\"", Some(Tier::Final), 5),
            ("\"0x1a\"", Some(Tier::Final), 26),
            ("\"earliest\"", Some(Tier::Final), 0),
            ("{\"blockNumber\":\"0x5\"}", Some(Tier::Final), 5),
            ("{\"blockHash\":\"0x5\",\"requireCanonical\":true}", Some(Tier::Final), 26),
            (&hash, Some(Tier::Final), 26),
            ("\"0x1b\"", None, 26),
            ("\"pending\"", None, 26),
            ("\"0x+5\"", None, 26),
            ("\"5\"", None, 26),
            ("5", None, 26),
            ("{\"blockNumber\":\"0x5\",\"blockHash\":\"0x5\"}", None, 26),
        ] {
            let text = format!("[\"0x1\",{block}]");
            assert_eq!(pinned(&text, 1, AtHead::Passing), (text.clone(), tier, at), "{block}");
        }
        assert_eq!(pinned("[]", 1, AtHead::Passing), ("[]".to_owned(), None, 26));
    }

    #[test]
    fn blanks_do_not_make_another_question() {
        for (text, expected) in [("[ \"0x1\" ,  \"0x5\" ]", "[\"0x1\",\"0x5\"]"), ("[]", "[]"), ("[ ]", "[]")]
        {
            let elements = Params::List(text).elements().expect("a list");
            assert_eq!(compact(text, &elements), expected);
        }
    }
}
