//! A refusal on its way out: made from any failure, rendered as `application/problem+json` (RFC 9457) by the edge.
//!
//! A handler returns it through `?`. It rides in the response's extensions, because only the edge knows the request's
//! id, and because the edge logs a cause once.

use std::{borrow::Cow, error::Error, sync::Arc};

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use domain::{Failure, FailureKind, FieldFailure};
use hyper::StatusCode;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::code::Code;

/// Seconds after which a chain or a database that did not answer may be asked again: one block.
const RETRY_SECONDS: u64 = 2;

/// A refusal.
#[derive(Debug, Clone)]
pub struct Problem {
    code: Code,
    detail: Cow<'static, str>,
    fields: Vec<FieldFailure>,
    retry_after: Option<u64>,
    members: Map<String, Value>,
    cause: Option<Arc<dyn Error + Send + Sync>>,
}

impl Problem {
    /// A refusal with its code; `detail` tells this caller what is wrong here.
    pub fn new(code: Code, detail: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            detail: detail.into(),
            fields: Vec::new(),
            retry_after: None,
            members: Map::new(),
            cause: None,
        }
    }

    /// A failure of another crate. A code that the table lacks is shown as an internal error, and logged.
    fn from_failure(failure: impl Failure) -> Self {
        let known = Code::from_word(failure.code());
        let code = known.unwrap_or(match failure.kind() {
            FailureKind::Unavailable => Code::DatabaseUnavailable,
            FailureKind::Malformed
            | FailureKind::Invalid
            | FailureKind::Unauthenticated
            | FailureKind::Forbidden
            | FailureKind::NotFound
            | FailureKind::Conflict
            | FailureKind::Limited
            | FailureKind::Internal => Code::Internal,
        });
        let mut problem = if code == Code::Internal {
            Self::new(code, code.meaning())
        } else {
            Self::new(code, failure.detail()).with_fields(failure.fields().to_vec())
        };
        if code.status() == 503 {
            problem.retry_after = Some(RETRY_SECONDS);
        }
        problem.with_cause(failure)
    }

    /// The fields that were refused.
    pub fn with_fields(mut self, fields: Vec<FieldFailure>) -> Self {
        self.fields = fields;
        self
    }

    /// When trying again may help.
    pub fn with_retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// A member that this refusal has beside those that all have, such as what would help.
    pub fn with_member(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.members.insert(name.to_owned(), value.into());
        self
    }

    /// When the same claim of the faucet may succeed.
    pub(crate) fn with_next_claim_at(self, at: Timestamp) -> Self {
        self.with_member("nextClaimAt", at.to_string())
    }

    /// What the log shall tell, and the caller not.
    pub fn with_cause(mut self, cause: impl Error + Send + Sync + 'static) -> Self {
        self.cause = Some(Arc::new(cause));
        self
    }

    /// The code.
    pub fn code(&self) -> Code {
        self.code
    }

    /// What the caller is told.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// Seconds to wait before trying again.
    pub(crate) fn retry_after(&self) -> Option<u64> {
        self.retry_after
    }

    /// The status of the answer.
    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// The cause and everything behind it, for the log.
    pub(crate) fn chain(&self) -> Option<String> {
        let mut text = String::new();
        let mut next: Option<&(dyn Error + 'static)> = self.cause.as_deref().map(|cause| cause as _);
        while let Some(error) = next {
            if !text.is_empty() {
                text.push_str(": ");
            }
            text.push_str(&error.to_string());
            next = error.source();
        }
        (!text.is_empty()).then_some(text)
    }

    /// The body.
    pub(crate) fn to_json(&self, request_id: &str) -> Bytes {
        let body = ProblemView {
            r#type: format!("/api/v1/docs#{}", self.code),
            title: self.code.title(),
            status: self.code.status(),
            detail: &self.detail,
            code: self.code.word(),
            request_id,
            members: &self.members,
            errors: self
                .fields
                .iter()
                .map(|field| FieldView { field: &field.field, code: field.code, message: &field.message })
                .collect(),
        };
        // JSON always serialises.
        serde_json::to_vec(&body).map(Bytes::from).unwrap_or_default()
    }
}

impl<F: Failure> From<F> for Problem {
    fn from(failure: F) -> Self {
        Self::from_failure(failure)
    }
}

impl Problem {
    /// No node answers.
    pub(crate) fn chain_unavailable() -> Self {
        Self::new(Code::ChainUnavailable, "No node of the chain answers; try again in a moment.")
            .with_retry_after(RETRY_SECONDS)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// A refusal as it is sent.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProblemView<'a> {
    r#type: String,
    title: &'a str,
    status: u16,
    detail: &'a str,
    code: &'a str,
    request_id: &'a str,
    #[serde(flatten)]
    members: &'a Map<String, Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<FieldView<'a>>,
}

#[derive(Serialize)]
struct FieldView<'a> {
    field: &'a str,
    code: &'a str,
    message: &'a str,
}
