//! Answers to one wallet or one payer: rendered once, never kept by the edge.

use axum::response::Response;
use bytes::Bytes;
use hyper::{StatusCode, header::HeaderValue};
use serde::Serialize;
use store::portal::KeptAnswer;

use crate::{code::Code, edge::answer::private, problem::Problem};

/// A JSON answer.
pub(crate) fn json(status: StatusCode, view: &impl Serialize) -> Result<Response, Problem> {
    Ok(private(status, render(view)?))
}

/// A view as bytes.
pub(super) fn render(view: &impl Serialize) -> Result<Bytes, Problem> {
    serde_json::to_vec(view)
        .map(Bytes::from)
        .map_err(|error| Problem::new(Code::Internal, Code::Internal.meaning()).with_cause(error))
}

/// The answer that a request got when it was first made.
pub(super) fn replayed(answer: KeptAnswer) -> Response {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK);
    let mut response = private(status, answer.body);
    response.headers_mut().insert("idempotent-replayed", HeaderValue::from_static("true"));
    response
}
