//! What a transaction said: its input, its events and its refusal, decoded where the words are known.

use alloy_consensus::Transaction as _;
use alloy_primitives::{Address, Log, hex};
use api::meaning;
use chain::Transaction;

use crate::{
    decode::{self, Decoded, Printed},
    failure::{Failure, Malformed},
    parts::AddressLink,
    site::Site,
};

/// Bytes of raw data that are shown.
const LONGEST_RAW: usize = 4_096;
/// Bytes of raw data of one event that are shown.
const LONGEST_EVENT: usize = 512;
/// Events of a page.
const MOST_EVENTS: usize = 25;
/// Bytes of markup that events may take, so that the page stays light whatever a contract says.
const EVENTS_BYTES: usize = 24_000;

/// The names that the network knows.
pub(super) struct Names<'a>(pub(super) &'a Site);

impl decode::Names for Names<'_> {
    fn link(&self, address: Address) -> AddressLink {
        self.0.address_link(address)
    }

    fn symbol(&self) -> &str {
        self.0.symbol()
    }
}

/// A value with its name and type.
pub(super) struct Value {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) value: Printed,
}

/// Something decoded.
pub(super) struct Words {
    pub(super) interface: &'static str,
    pub(super) name: String,
    pub(super) signature: String,
    pub(super) values: Vec<Value>,
}

impl Words {
    fn of(decoded: Decoded, names: &Names<'_>) -> Self {
        let values = decoded.parameters.iter().map(|parameter| Value {
            name: parameter.name.clone(),
            kind: parameter.kind.clone(),
            value: Printed::new(parameter, names),
        });
        Self {
            interface: decoded.interface,
            values: values.collect(),
            name: decoded.name,
            signature: decoded.signature,
        }
    }

    fn markup_bytes(&self) -> usize {
        self.values.iter().map(|value| value.value.len() + value.name.len() + value.kind.len() + 60).sum()
    }
}

/// Bytes as text, cut if they are many.
pub(super) struct Raw {
    pub(super) text: String,
    pub(super) is_cut: bool,
}

impl Raw {
    fn of(bytes: &[u8], longest: usize) -> Self {
        let shown = bytes.get(..longest).unwrap_or(bytes);
        Self { text: hex::encode_prefixed(shown), is_cut: shown.len() < bytes.len() }
    }
}

/// The input of a transaction.
pub(super) struct Said {
    pub(super) is_empty: bool,
    pub(super) is_creation: bool,
    pub(super) words: Option<Words>,
    /// The signature of a function whose values could not be read.
    pub(super) signature: Option<&'static str>,
    pub(super) raw: Raw,
}

impl Said {
    /// `to_name` is what the network knows the called contract as.
    pub(super) fn of(transaction: &Transaction, to_name: Option<&str>, names: &Names<'_>) -> Self {
        let (input, is_creation) = (transaction.input(), transaction.to().is_none());
        let words = Decoded::call(input, to_name).filter(|_| !is_creation);
        let selector = input.first_chunk().copied().filter(|_| !is_creation);
        Self {
            is_empty: input.is_empty(),
            is_creation,
            words: words.map(|decoded| Words::of(decoded, names)),
            signature: selector.and_then(meaning::function),
            raw: Raw::of(input, LONGEST_RAW),
        }
    }
}

/// Why a contract refused.
pub(super) struct Refusal {
    pub(super) words: Option<Words>,
    /// What could be read without knowing the contract; empty when there was nothing.
    pub(super) text: String,
}

impl Refusal {
    pub(super) fn of(output: &[u8], names: &Names<'_>) -> Self {
        Self {
            words: Decoded::error(output).map(|decoded| Words::of(decoded, names)),
            text: if output.is_empty() { String::new() } else { meaning::revert_reason(output) },
        }
    }
}

/// An event.
pub(super) struct Event {
    pub(super) place: usize,
    pub(super) contract: AddressLink,
    pub(super) words: Option<Words>,
    pub(super) topics: Vec<String>,
    pub(super) data: Raw,
}

impl Event {
    fn of(place: usize, log: &Log, names: &Names<'_>) -> Self {
        let name = names.0.api.label(log.address);
        Self {
            place,
            contract: names.0.address_link(log.address).pictured(),
            words: Decoded::event(&log.data, name.as_deref()).map(|decoded| Words::of(decoded, names)),
            topics: log.data.topics().iter().map(ToString::to_string).collect(),
            data: Raw::of(&log.data.data, LONGEST_EVENT),
        }
    }

    fn markup_bytes(&self) -> usize {
        let words = self.words.as_ref().map_or(0, Words::markup_bytes);
        500 + words + self.topics.len() * 80 + self.data.text.len()
    }
}

/// Events, as many as a page has room for.
pub(super) struct Events {
    pub(super) count: usize,
    pub(super) events: Vec<Event>,
    /// Where the next page begins.
    pub(super) next: Option<usize>,
    pub(super) is_first: bool,
}

impl Events {
    pub(super) fn of(logs: &[Log], from: usize, names: &Names<'_>) -> Result<Self, Failure> {
        if from > 0 && from >= logs.len() {
            return Err(Failure::Malformed(Malformed::Parameter("from")));
        }
        let mut events = Vec::new();
        let mut bytes = 0;
        for (place, log) in logs.iter().enumerate().skip(from).take(MOST_EVENTS) {
            let event = Event::of(place, log, names);
            bytes += event.markup_bytes();
            if bytes > EVENTS_BYTES && !events.is_empty() {
                break;
            }
            events.push(event);
        }
        let end = from + events.len();
        Ok(Self {
            count: logs.len(),
            events,
            next: Some(end).filter(|end| *end < logs.len()),
            is_first: from == 0,
        })
    }
}
