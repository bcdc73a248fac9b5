//! What a caller looks for in logs.

use std::borrow::Cow;

use alloy_primitives::{Address, B256};
use serde::{Deserialize, Serialize};

use crate::{head::Served, pin::quantity, refusal::Refusal, warm::WarmLog};

/// Most addresses or topics of one filter, over all positions.
const MAX_TERMS: usize = 1_000;
/// A log has at most four topics.
const MAX_TOPICS: usize = 4;

pub(super) const BAD_FILTER: Refusal = Refusal::InvalidParams { reason: "bad_filter" };
const BAD_RANGE: Refusal = Refusal::InvalidParams { reason: "bad_range" };

/// Which logs, wherever they are.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub(crate) struct LogFilter {
    /// Any of these; all if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    address: Vec<Address>,
    /// By position: any of these; all if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "with_nulls")]
    topics: Vec<Vec<B256>>,
}

/// Which blocks a filter is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blocks {
    /// From one to the other, both included; the last may be the served head by name.
    Range { from: Bound, to: Bound },
    /// One block by its hash.
    Hash(B256),
}

/// An end of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    /// Whatever is served when it is asked.
    Head,
    /// A height.
    Number(u64),
}

impl Bound {
    /// The height while this head is served.
    pub(crate) fn at(self, head: &Served) -> u64 {
        match self {
            Self::Head => head.number,
            Self::Number(number) => number,
        }
    }
}

/// A filter and where it is applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogQuery {
    pub(crate) filter: LogFilter,
    pub(crate) blocks: Blocks,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    fn into_vec(self) -> Vec<T> {
        match self {
            Self::One(one) => vec![one],
            Self::Many(many) => many,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire<'a> {
    #[serde(default, borrow)]
    from_block: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    to_block: Option<Cow<'a, str>>,
    #[serde(default)]
    block_hash: Option<B256>,
    #[serde(default)]
    address: Option<OneOrMany<Address>>,
    #[serde(default)]
    topics: Option<Vec<Option<OneOrMany<Option<B256>>>>>,
}

impl LogQuery {
    /// Reads a filter object.
    pub(crate) fn read(json: &str) -> Result<Self, Refusal> {
        // A list would do for serde, which fills fields in their order.
        if !json.starts_with('{') {
            return Err(BAD_FILTER);
        }
        let wire: Wire<'_> = serde_json::from_str(json).map_err(|_| BAD_FILTER)?;
        let blocks = match (wire.block_hash, wire.from_block, wire.to_block) {
            (Some(hash), None, None) => Blocks::Hash(hash),
            (Some(_), _, _) => return Err(BAD_RANGE),
            (None, from, to) => Blocks::Range { from: bound(from)?, to: bound(to)? },
        };
        let address = wire.address.map(OneOrMany::into_vec).unwrap_or_default();
        let topics: Vec<_> = wire.topics.unwrap_or_default().into_iter().map(alternatives).collect();
        let terms = address.len() + topics.iter().map(Vec::len).sum::<usize>();
        if topics.len() > MAX_TOPICS || terms > MAX_TERMS {
            return Err(BAD_FILTER);
        }
        Ok(Self { filter: LogFilter { address, topics }, blocks })
    }
}

/// The alternatives at one position; a null among them lets everything through.
fn alternatives(topic: Option<OneOrMany<Option<B256>>>) -> Vec<B256> {
    let listed = topic.map(OneOrMany::into_vec).unwrap_or_default();
    listed.into_iter().collect::<Option<Vec<_>>>().unwrap_or_default()
}

fn bound(text: Option<Cow<'_, str>>) -> Result<Bound, Refusal> {
    match text.as_deref() {
        // Logs of what waits to be mined do not exist.
        None | Some("latest" | "safe" | "finalized" | "pending") => Ok(Bound::Head),
        Some("earliest") => Ok(Bound::Number(0)),
        Some(number) => quantity(number).map(Bound::Number).ok_or(BAD_RANGE),
    }
}

impl LogFilter {
    /// Whether a log is looked for.
    pub(crate) fn matches(&self, log: &WarmLog) -> bool {
        let by_address = self.address.is_empty() || self.address.contains(&log.address);
        by_address
            && self.topics.len() <= log.topics.len()
            && self.topics.iter().zip(&log.topics).all(|(any, topic)| any.is_empty() || any.contains(topic))
    }

    /// The contracts whose logs are looked for; all if there are none.
    pub(crate) fn addresses(&self) -> &[Address] {
        &self.address
    }

    /// The first topics that are looked for, which name events; all if there are none.
    pub(crate) fn events(&self) -> &[B256] {
        self.topics.first().map_or(&[], Vec::as_slice)
    }

    /// The members of a filter object, without braces, for a node.
    pub(super) fn members(&self) -> String {
        let json = serde_json::to_string(self).unwrap_or_default();
        json.trim_start_matches('{').trim_end_matches('}').to_owned()
    }
}

fn with_nulls<S: serde::Serializer>(topics: &[Vec<B256>], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(topics.iter().map(|any| Some(any).filter(|any| !any.is_empty())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topic(byte: u8) -> B256 {
        B256::with_last_byte(byte)
    }

    fn log(address: u8, topics: &[u8]) -> WarmLog {
        let topics = topics.iter().map(|byte| topic(*byte)).collect();
        WarmLog { address: Address::with_last_byte(address), topics, json: Default::default() }
    }

    fn read(json: &str) -> LogQuery {
        LogQuery::read(json).expect(json)
    }

    #[test]
    fn filters_match_as_nodes_match() {
        let address = Address::with_last_byte(1);
        let (one, two) = (topic(1), topic(2));
        let everything = read("{}").filter;
        assert!(everything.matches(&log(7, &[])) && everything.matches(&log(1, &[1, 2, 3])));
        let by_address = read(&format!(r#"{{"address":"{address}"}}"#)).filter;
        assert!(by_address.matches(&log(1, &[])) && !by_address.matches(&log(2, &[])));
        let second = read(&format!(r#"{{"topics":[null,["{one}","{two}"]]}}"#)).filter;
        assert!(second.matches(&log(1, &[9, 2])) && !second.matches(&log(1, &[2])));
        assert!(!second.matches(&log(1, &[2, 3])));
        let wild = read(&format!(r#"{{"topics":[["{one}",null]]}}"#)).filter;
        assert!(wild.matches(&log(1, &[9])) && !wild.matches(&log(1, &[])));
    }

    #[test]
    fn ranges_are_read_by_name_and_number() {
        let range = |from, to| Blocks::Range { from, to };
        assert_eq!(read("{}").blocks, range(Bound::Head, Bound::Head));
        let named = read(r#"{"fromBlock":"earliest","toBlock":"finalized"}"#);
        assert_eq!(named.blocks, range(Bound::Number(0), Bound::Head));
        assert_eq!(read(r#"{"fromBlock":"0xa"}"#).blocks, range(Bound::Number(10), Bound::Head));
        assert_eq!(read(&format!(r#"{{"blockHash":"{}"}}"#, topic(1))).blocks, Blocks::Hash(topic(1)));
        for json in [
            r#"{"fromBlock":"10"}"#,
            r#"{"fromBlock":7}"#,
            r#"{"address":"0x1"}"#,
            r#"{"topics":[["x"]]}"#,
            r#"{"topics":[null,null,null,null,null]}"#,
            r#"{"fromBlock":"0x1","fromBlock":"0x2"}"#,
            "[]",
            "7",
        ] {
            assert!(LogQuery::read(json).is_err(), "{json}");
        }
    }

    #[test]
    fn what_is_sent_on_is_written_anew() {
        let address = Address::with_last_byte(1);
        let filter =
            read(&format!(r#"{{ "topics":[null,"{}"], "address": ["{address}"], "x":1 }}"#, topic(1)));
        let expected = format!(r#""address":["{address:#x}"],"topics":[null,["{:#x}"]]"#, topic(1));
        assert_eq!(filter.filter.members(), expected);
        assert_eq!(read("{}").filter.members(), "");
    }
}
