//! The members of a JSON object that somebody sent: every one that is unknown, missing or of another type is named.

use std::borrow::Cow;

use axum::body::Body;
use domain::FieldFailure;
use hyper::HeaderMap;
use serde_json::{Map, Value};

use super::{body, object};
use crate::{code::Code, problem::Problem};

/// Bytes of a body that asks for one thing.
pub(crate) const MOST_BYTES: usize = 16 * 1024;

/// What is wrong with a member: a word and a sentence.
pub(crate) type Fault = (&'static str, &'static str);

/// The members of a body that have not been read yet, and what was wrong with those that have.
pub(crate) struct Members {
    members: Map<String, Value>,
    faults: Vec<FieldFailure>,
}

impl Members {
    /// Reads a body that has no other members than `known`.
    pub(crate) async fn read(headers: &HeaderMap, body: Body, known: &[&str]) -> Result<Self, Problem> {
        let bytes = body::json(headers, body, MOST_BYTES).await?;
        Self::parse(&bytes, known)
    }

    /// The same with bytes that are there.
    pub(crate) fn parse(bytes: &[u8], known: &[&str]) -> Result<Self, Problem> {
        let members = object::parse(bytes)?;
        let unknown = members.keys().filter(|name| !known.contains(&name.as_str()));
        let unknown: Vec<FieldFailure> = unknown
            .map(|name| FieldFailure {
                field: name.clone().into(),
                code: "unknown_field",
                message: "is not a field that is known here".into(),
            })
            .collect();
        if unknown.is_empty() {
            return Ok(Self { members, faults: Vec::new() });
        }
        Err(Problem::new(Code::UnknownField, Code::UnknownField.meaning()).with_fields(unknown))
    }

    /// A member that must be there. What is wrong with it is kept, and a value of no meaning returned.
    pub(crate) fn required<T: Default>(
        &mut self,
        field: &'static str,
        read: fn(Value) -> Result<T, Fault>,
    ) -> T {
        let value = self.members.remove(field).filter(|value| !value.is_null());
        let read = value.map_or(Err(("required", "is required")), read);
        read.unwrap_or_else(|(code, message)| {
            self.refuse(field, code, message);
            T::default()
        })
    }

    /// A member that may be left out, or null.
    pub(crate) fn optional<T>(
        &mut self,
        field: &'static str,
        read: fn(Value) -> Result<T, Fault>,
    ) -> Option<T> {
        let value = self.members.remove(field).filter(|value| !value.is_null())?;
        let read = read(value);
        read.map_err(|(code, message)| self.refuse(field, code, message)).ok()
    }

    /// Names a member that is not acceptable.
    pub(crate) fn refuse(
        &mut self,
        field: &'static str,
        code: &'static str,
        message: impl Into<Cow<'static, str>>,
    ) {
        self.faults.push(FieldFailure { field: field.into(), code, message: message.into() });
    }

    /// Refuses the body if something was wrong with it.
    pub(crate) fn finish(self) -> Result<(), Problem> {
        if self.faults.is_empty() {
            return Ok(());
        }
        let detail = "Fields of the body are missing or not acceptable; see errors.";
        Err(Problem::new(Code::ValidationFailed, detail).with_fields(self.faults))
    }
}

/// A string.
pub(crate) fn text(value: Value) -> Result<String, Fault> {
    match value {
        Value::String(text) => Ok(text),
        _ => Err(("wrong_type", "must be a string")),
    }
}

/// A number of any kind.
pub(crate) fn number(value: Value) -> Result<f64, Fault> {
    value.as_f64().ok_or(("wrong_type", "must be a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(body: &str) -> (Code, Vec<(String, String)>) {
        let read = Members::parse(body.as_bytes(), &["name", "note"]).and_then(|mut members| {
            members.required("name", text);
            members.optional("note", text);
            members.finish()
        });
        let problem = read.unwrap_err();
        let shown: Value = serde_json::from_slice(&problem.to_json("")).unwrap();
        let fields = shown["errors"].as_array().cloned().unwrap_or_default();
        let word = |field: &Value, name: &str| field[name].as_str().unwrap().to_owned();
        (problem.code(), fields.iter().map(|field| (word(field, "field"), word(field, "code"))).collect())
    }

    #[test]
    fn every_fault_of_a_body_is_named() {
        let fault = |field: &str, code: &str| (field.to_owned(), code.to_owned());
        let name = |code| fault("name", code);
        assert_eq!(faults("{}"), (Code::ValidationFailed, vec![name("required")]));
        assert_eq!(faults(r#"{"name":null}"#), (Code::ValidationFailed, vec![name("required")]));
        let both = vec![name("wrong_type"), fault("note", "wrong_type")];
        assert_eq!(faults(r#"{"name":1,"note":[]}"#), (Code::ValidationFailed, both));
        let unknown = vec![fault("x", "unknown_field")];
        assert_eq!(faults(r#"{"name":"a","x":1}"#), (Code::UnknownField, unknown));
        for body in ["", "[]", "\"name\"", "{\"name\":\"a\""] {
            assert_eq!(faults(body), (Code::InvalidJson, Vec::new()), "{body}");
        }
    }
}
