//! The envelope of a request, borrowed from the message.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::Params;
use crate::rpc::error::RpcError;

/// One request as it stands in the message.
pub(crate) struct Request<'a> {
    /// The caller's id, byte for byte; `None` in a notification.
    pub(crate) id: Option<&'a RawValue>,
    /// The method's name.
    pub(crate) method: Cow<'a, str>,
    /// The parameters, not looked at yet.
    pub(crate) params: Params<'a>,
}

impl<'a> Request<'a> {
    /// Reads an object that is known to be JSON.
    ///
    /// On failure the id is still given back, if it is a usable one, so that the caller can match the error.
    pub(crate) fn read(text: &'a str) -> Result<Self, (Option<&'a RawValue>, RpcError)> {
        let envelope: Envelope<'a> =
            serde_json::from_str(text).map_err(|_| (None, RpcError::InvalidRequest))?;
        let id = match envelope.id {
            Some(id) if !is_scalar_id(id) => return Err((None, RpcError::InvalidRequest)),
            other => other,
        };
        let method = envelope
            .method
            .and_then(|raw| serde_json::from_str::<Name<'a>>(raw.get()).ok())
            .ok_or((id, RpcError::InvalidRequest))?;
        Ok(Self { id, method: method.0, params: Params::new(envelope.params) })
    }
}

/// Ids are strings, numbers or null; anything else is no id.
fn is_scalar_id(id: &RawValue) -> bool {
    matches!(id.get().as_bytes().first(), Some(b'"' | b'-' | b'0'..=b'9' | b'n'))
}

#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// The members that matter; of a repeated one the last counts, unknown ones are passed over.
#[derive(Default)]
struct Envelope<'a> {
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Envelope<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members)
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC request object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut envelope = Envelope::default();
        while let Some(Name(member)) = map.next_key()? {
            match member.as_ref() {
                "id" => envelope.id = Some(map.next_value()?),
                "method" => envelope.method = Some(map.next_value()?),
                "params" => envelope.params = Some(map.next_value()?),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(envelope)
    }
}
