//! One request as it stands in a message, and what may be wrong with it.
//!
//! Members have exactly the names of the specification, letter by letter after escapes are resolved; a second member of
//! the same name is refused, because two readers could choose differently. Members of other names are passed over: wallets
//! add their own, and nothing of an envelope is sent on. `jsonrpc` must be `"2.0"`, as geth has it and every client sends it.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{MAX_DEPTH, MAX_ID_BYTES, MAX_METHOD_BYTES, Params, depth::is_deeper_than};

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request<'a> {
    /// The caller's id, byte for byte: a string, a number or null. Nothing in a notification, which gets no answer.
    pub id: Option<&'a str>,
    /// The method's name, escapes resolved.
    pub method: Cow<'a, str>,
    /// The parameters.
    pub params: Params<'a>,
}

/// Something that is JSON and no request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadRequest<'a> {
    /// The caller's id, if it is a usable one.
    pub id: Option<&'a str>,
    /// What is wrong.
    pub fault: Fault,
}

/// What is wrong with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It is not an object.
    NoObject,
    /// A member is there twice.
    Repeated,
    /// `jsonrpc` is not `"2.0"`.
    Version,
    /// The id is not a string, a number or null, or it is too long.
    Id,
    /// The method is missing, not a string, or too long to be one.
    Method,
    /// The parameters are neither a list nor an object.
    Params,
    /// The parameters are nested too deeply.
    Depth,
}

impl Fault {
    /// A word for programs.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NoObject => "not_an_object",
            Self::Repeated => "repeated_member",
            Self::Version => "bad_version",
            Self::Id => "bad_id",
            Self::Method => "bad_method",
            Self::Params => "bad_params",
            Self::Depth => "too_deep",
        }
    }
}

/// An element of a message: a request, or what stands in its place.
pub(crate) struct Element<'a>(pub(crate) Result<Request<'a>, BadRequest<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for Element<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ElementVisitor).map(Self)
    }
}

struct ElementVisitor;

const NO_OBJECT: BadRequest<'static> = BadRequest { id: None, fault: Fault::NoObject };

impl<'de> Visitor<'de> for ElementVisitor {
    type Value = Result<Request<'de>, BadRequest<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC request")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Members::read(map).map(Members::into_request)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Err(NO_OBJECT))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Err(NO_OBJECT))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Err(NO_OBJECT))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Err(NO_OBJECT))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Err(NO_OBJECT))
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(Err(NO_OBJECT))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Err(NO_OBJECT))
    }
}

/// The members that matter, as text.
#[derive(Default)]
pub(crate) struct Members<'a> {
    version: Option<&'a str>,
    id: Option<&'a str>,
    method: Option<&'a str>,
    params: Option<&'a str>,
    is_repeated: bool,
}

/// A string, borrowed where it has no escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> Members<'a> {
    pub(crate) fn read<A: MapAccess<'a>>(mut map: A) -> Result<Self, A::Error> {
        let mut members = Self::default();
        while let Some(Text(name)) = map.next_key()? {
            let place = match name.as_ref() {
                "jsonrpc" => &mut members.version,
                "id" => &mut members.id,
                "method" => &mut members.method,
                "params" => &mut members.params,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            members.is_repeated |= place.replace(map.next_value::<&RawValue>()?.get()).is_some();
        }
        Ok(members)
    }

    pub(crate) fn into_request(self) -> Result<Request<'a>, BadRequest<'a>> {
        // Which of two ids is meant cannot be known, so none is echoed.
        if self.is_repeated {
            return Err(BadRequest { id: None, fault: Fault::Repeated });
        }
        if self.id.is_some_and(|id| !is_id(id)) {
            return Err(BadRequest { id: None, fault: Fault::Id });
        }
        let bad = |fault| BadRequest { id: self.id, fault };
        let version = self.version.and_then(text).ok_or(bad(Fault::Version))?;
        if version != "2.0" {
            return Err(bad(Fault::Version));
        }
        let method = self.method.and_then(text).filter(|name| name.len() <= MAX_METHOD_BYTES);
        let method = method.ok_or(bad(Fault::Method))?;
        let params = match self.params {
            None | Some("null") => Params::None,
            Some(list) if list.starts_with('[') => Params::List(list),
            Some(named) if named.starts_with('{') => Params::Named(named),
            Some(_) => return Err(bad(Fault::Params)),
        };
        if is_deeper_than(params.text(), MAX_DEPTH) {
            return Err(bad(Fault::Depth));
        }
        Ok(Request { id: self.id, method, params })
    }
}

/// What a JSON string says.
fn text(json: &str) -> Option<Cow<'_, str>> {
    let inside = json.strip_prefix('"')?.strip_suffix('"')?;
    if !inside.contains('\\') {
        return Some(inside.into());
    }
    serde_json::from_str::<Text<'_>>(json).ok().map(|text| text.0)
}

fn is_id(json: &str) -> bool {
    let is_scalar = matches!(json.as_bytes().first(), Some(b'"' | b'-' | b'0'..=b'9' | b'n'));
    is_scalar && json.len() <= MAX_ID_BYTES
}
