//! The error object of an answer.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;

/// An `error` object of ours.
#[derive(Debug, Clone, Serialize)]
pub struct ErrorObject {
    /// JSON-RPC error code.
    pub code: i64,
    /// For people.
    pub message: Cow<'static, str>,
    /// For programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<RawValue>>,
}

impl ErrorObject {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The same with data. What cannot be written as JSON is left out.
    #[must_use]
    pub fn with_data(mut self, data: &impl Serialize) -> Self {
        self.data = serde_json::value::to_raw_value(data).ok();
        self
    }

    /// The object as JSON.
    pub fn to_json(&self) -> Vec<u8> {
        // A number, a string and JSON: writing them to memory cannot fail.
        serde_json::to_vec(self).unwrap_or_default()
    }
}
