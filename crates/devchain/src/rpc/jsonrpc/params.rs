//! Positional parameters, read one by one where a method wants them.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::rpc::error::{Param, RpcError};

/// No method takes more.
const MAX_PARAMS: usize = 4;

/// The parameters of a request, not parsed yet.
#[derive(Clone, Copy)]
pub(crate) struct Params<'a>(Option<&'a RawValue>);

impl<'a> Params<'a> {
    pub(crate) fn new(raw: Option<&'a RawValue>) -> Self {
        Self(raw)
    }

    /// The parameters' text, for a call that has to outlive the message.
    pub(crate) fn raw(self) -> Option<&'a RawValue> {
        self.0
    }

    /// Splits the array into its elements. Absent and null mean none.
    pub(crate) fn split(self) -> Result<Positional<'a>, RpcError> {
        match self.0.map(RawValue::get) {
            None | Some("null" | "[]") => Ok(Positional { values: [None; MAX_PARAMS] }),
            Some(text) if text.starts_with('[') => {
                serde_json::from_str(text).map_err(|_| RpcError::InvalidParams(Param::Count))
            }
            // Named parameters exist in JSON-RPC, but in no Ethereum method.
            Some(_) => Err(RpcError::InvalidParams(Param::Any)),
        }
    }
}

/// Parameters by position, each still text.
pub(crate) struct Positional<'a> {
    values: [Option<&'a RawValue>; MAX_PARAMS],
}

impl<'a> Positional<'a> {
    /// The parameter's text; null counts as absent.
    pub(crate) fn text(&self, index: usize) -> Option<&'a str> {
        self.values.get(index).copied().flatten().map(RawValue::get).filter(|text| *text != "null")
    }

    /// The parameter if it is there.
    pub(crate) fn optional<T: Deserialize<'a>>(
        &self,
        index: usize,
        param: Param,
    ) -> Result<Option<T>, RpcError> {
        self.text(index)
            .map(|text| serde_json::from_str(text).map_err(|_| RpcError::InvalidParams(param)))
            .transpose()
    }

    /// The parameter, which must be there.
    pub(crate) fn required<T: Deserialize<'a>>(&self, index: usize, param: Param) -> Result<T, RpcError> {
        self.optional(index, param)?.ok_or(RpcError::InvalidParams(param))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Positional<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Elements)
    }
}

struct Elements;

impl<'de> Visitor<'de> for Elements {
    type Value = Positional<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {MAX_PARAMS} parameters")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut values = [None; MAX_PARAMS];
        for value in &mut values {
            match seq.next_element::<&RawValue>()? {
                Some(raw) => *value = Some(raw),
                None => return Ok(Positional { values }),
            }
        }
        Ok(Positional { values })
    }
}
