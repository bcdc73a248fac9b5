//! The members of a JSON body, read one by one, so that every fault is named and not only the first.

use std::{borrow::Cow, str::FromStr};

use domain::FieldFailure;
use serde_json::{Map, Value};

use crate::{code::Code, problem::Problem};

/// The members of a body, and what is wrong with those that were read.
pub(crate) struct Members {
    members: Map<String, Value>,
    faults: Vec<FieldFailure>,
}

/// A word and a sentence about what is wrong with a member.
pub(crate) type Fault = (&'static str, Cow<'static, str>);

impl Members {
    /// Reads a body and refuses members that are not among `known`.
    pub(crate) fn read(bytes: &[u8], known: &[&str]) -> Result<Self, Problem> {
        let members: Map<String, Value> = serde_json::from_slice(bytes)
            .map_err(|_| Problem::new(Code::InvalidJson, "The body is not a JSON object."))?;
        let unknown = members.keys().filter(|name| !known.contains(&name.as_str()));
        let unknown: Vec<FieldFailure> = unknown
            .map(|name| FieldFailure {
                field: name.clone().into(),
                code: "unknown_field",
                message: "is not a field of this resource".into(),
            })
            .collect();
        if unknown.is_empty() {
            return Ok(Self { members, faults: Vec::new() });
        }
        Err(Problem::new(Code::UnknownField, Code::UnknownField.meaning()).with_fields(unknown))
    }

    /// A member that must be there. None if it is not, or is not what it should be.
    pub(crate) fn required<T>(
        &mut self,
        field: &'static str,
        read: impl FnOnce(&Value) -> Result<T, Fault>,
    ) -> Option<T> {
        if self.members.get(field).is_none_or(Value::is_null) {
            self.fault(field, ("required", "is required".into()));
        }
        self.optional(field, read)
    }

    /// A member that may be left out, or null.
    pub(crate) fn optional<T>(
        &mut self,
        field: &'static str,
        read: impl FnOnce(&Value) -> Result<T, Fault>,
    ) -> Option<T> {
        let value = self.members.remove(field).filter(|value| !value.is_null())?;
        read(&value).map_err(|fault| self.fault(field, fault)).ok()
    }

    /// What was read, unless something was wrong.
    pub(crate) fn finish<T>(self, read: Option<T>) -> Result<T, Problem> {
        match read {
            Some(read) if self.faults.is_empty() => Ok(read),
            Some(_) | None => {
                let detail = "Fields of the body are missing or not acceptable; see errors.";
                Err(Problem::new(Code::ValidationFailed, detail).with_fields(self.faults))
            }
        }
    }

    fn fault(&mut self, field: &'static str, (code, message): Fault) {
        self.faults.push(FieldFailure { field: field.into(), code, message });
    }
}

/// A string that is read further.
pub(crate) fn text<T: FromStr>(value: &Value, refuse: impl FnOnce(T::Err) -> Fault) -> Result<T, Fault> {
    let text = value.as_str().ok_or(("wrong_type", "must be a string".into()))?;
    text.parse().map_err(refuse)
}

/// A whole number that is read further; `range` says what would be right. One that is not written as such, like `1.0` or
/// `1e3`, is refused.
pub(crate) fn integer<T: TryFrom<u64>>(
    value: &Value,
    range: impl Into<Cow<'static, str>>,
) -> Result<T, Fault> {
    if !value.is_u64() && !value.is_i64() {
        return Err(("wrong_type", "must be a whole number".into()));
    }
    let number = value.as_u64().and_then(|number| T::try_from(number).ok());
    number.ok_or_else(|| ("out_of_range", range.into()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_fault_is_named() {
        let body = json!({ "a": "x", "b": null, "c": 7, "d": -1, "e": 1.5, "f": "1" }).to_string();
        let mut members = Members::read(body.as_bytes(), &["a", "b", "c", "d", "e", "f"]).unwrap();
        let number = |value: &Value| integer::<u8>(value, "must be from 0 to 255");
        assert_eq!(members.optional("c", number), Some(7));
        for field in ["b", "g"] {
            assert_eq!(members.required(field, number), None);
            assert_eq!(members.optional(field, number), None);
        }
        for field in ["a", "d", "e", "f"] {
            assert_eq!(members.optional(field, number), None);
        }
        let problem = members.finish(Some(())).unwrap_err();
        assert_eq!(problem.code(), Code::ValidationFailed);
        let body: Value = serde_json::from_slice(&problem.to_json("")).unwrap();
        let faults: Vec<(&str, &str)> = body["errors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|fault| (fault["field"].as_str().unwrap(), fault["code"].as_str().unwrap()))
            .collect();
        let expected = [
            ("b", "required"),
            ("g", "required"),
            ("a", "wrong_type"),
            ("d", "out_of_range"),
            ("e", "wrong_type"),
            ("f", "wrong_type"),
        ];
        assert_eq!(faults, expected);
    }

    #[test]
    fn what_is_no_object_and_what_is_unknown_is_refused() {
        let code = |body: &str| Members::read(body.as_bytes(), &["a"]).map(drop).unwrap_err().code();
        assert_eq!(
            (code("[]"), code("{"), code("")),
            (Code::InvalidJson, Code::InvalidJson, Code::InvalidJson)
        );
        assert_eq!(code(r#"{"A":1}"#), Code::UnknownField);
    }
}
