//! What calls, events and refusals say, in the words of their contracts: names of parameters with typed values.
//!
//! Known are the network's own contracts, by their artifacts, and the functions and events of tokens. Anything else stays
//! hexadecimal. Nothing is guessed: bytes that are not exactly what an interface describes are not decoded.

mod known;
mod value;

use alloy_dyn_abi::{DynSolValue, EventExt, JsonAbiExt};
use alloy_json_abi::{EventParam, Param};
use alloy_primitives::{LogData, Selector};

pub(crate) use known::Interface;
pub(crate) use value::{Names, Printed};

/// Bytes of the longest data that is taken apart. Parts of encoded data may point at the same bytes again and again, so
/// that what comes out may be as long as the square of what goes in.
const LONGEST: usize = 16 * 1024;

/// A call, an event or an error, taken apart.
#[derive(Debug, Clone)]
pub(crate) struct Decoded {
    /// The contract or standard whose interface has it.
    pub(crate) interface: &'static str,
    /// Its name.
    pub(crate) name: String,
    /// Name and types of its parameters.
    pub(crate) signature: String,
    pub(crate) parameters: Vec<Parameter>,
}

/// A value and what it is.
#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    /// May be empty.
    pub(crate) name: String,
    /// The Solidity type.
    pub(crate) kind: String,
    pub(crate) value: DynSolValue,
    /// Of the network's own contracts, which count in wei.
    pub(crate) is_own: bool,
}

impl Decoded {
    /// The call of a contract. `interface` is that of the contract, where it is known: it wins over others with an equal
    /// selector.
    pub(crate) fn call(input: &[u8], interface: Option<&str>) -> Option<Self> {
        let (selector, data) = split(input)?;
        let candidates = known::functions(selector, interface);
        candidates.into_iter().find_map(|(interface, function)| {
            let values = function.abi_decode_input(data).ok()?;
            Some(Self {
                interface: interface.name,
                name: function.name.clone(),
                signature: function.signature(),
                parameters: named(&function.inputs, values, interface),
            })
        })
    }

    /// An event.
    pub(crate) fn event(log: &LogData, interface: Option<&str>) -> Option<Self> {
        if log.data.len() > LONGEST {
            return None;
        }
        let (topic, count) = (log.topics().first()?, log.topics().len());
        known::events(*topic, interface).into_iter().find_map(|(interface, event)| {
            // Tokens of two standards have equal events that differ in what is indexed.
            if event.inputs.iter().filter(|input| input.indexed).count() + 1 != count {
                return None;
            }
            let decoded = event.decode_log(log).ok()?;
            let (mut indexed, mut body) = (decoded.indexed.into_iter(), decoded.body.into_iter());
            let value = |input: &EventParam| if input.indexed { indexed.next() } else { body.next() };
            let values: Vec<_> = event.inputs.iter().filter_map(value).collect();
            let inputs = event.inputs.iter().zip(values).map(|(input, value)| Parameter {
                name: input.name.clone(),
                kind: input.ty.clone(),
                value,
                is_own: interface.is_own,
            });
            Some(Self {
                interface: interface.name,
                name: event.name.clone(),
                signature: event.signature(),
                parameters: inputs.collect(),
            })
        })
    }

    /// What a contract refused with.
    pub(crate) fn error(output: &[u8]) -> Option<Self> {
        let (selector, data) = split(output)?;
        known::errors(selector).into_iter().find_map(|(interface, error)| {
            let values = error.abi_decode_input(data).ok()?;
            Some(Self {
                interface: interface.name,
                name: error.name.clone(),
                signature: error.signature(),
                parameters: named(&error.inputs, values, interface),
            })
        })
    }
}

fn split(data: &[u8]) -> Option<(Selector, &[u8])> {
    let (selector, rest) = data.split_first_chunk::<4>()?;
    (rest.len() <= LONGEST).then_some((Selector::from(*selector), rest))
}

fn named(inputs: &[Param], values: Vec<DynSolValue>, interface: &Interface) -> Vec<Parameter> {
    let parameters = inputs.iter().zip(values).map(|(input, value)| Parameter {
        name: input.name.clone(),
        kind: input.ty.clone(),
        value,
        is_own: interface.is_own,
    });
    parameters.collect()
}

/// What the interface of a contract of the network offers, as signatures with the names of parameters.
pub(crate) fn interface(name: &str) -> Option<&'static Interface> {
    known::interface(name)
}

#[cfg(test)]
mod tests;
