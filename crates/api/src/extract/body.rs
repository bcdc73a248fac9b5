//! JSON bodies: of bounded size, of the right type, and JSON.

use axum::body::Body;
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::{HeaderMap, header};

use crate::{code::Code, problem::Problem};

/// Reads a body of at most `most` bytes that says it is JSON.
pub(crate) async fn json(headers: &HeaderMap, body: Body, most: usize) -> Result<Bytes, Problem> {
    check_json(headers)?;
    bytes(body, most).await
}

/// Refuses a body that does not say it is JSON.
pub(crate) fn check_json(headers: &HeaderMap) -> Result<(), Problem> {
    if is_json(headers) {
        return Ok(());
    }
    Err(Problem::new(Code::UnsupportedMediaType, "Send the body as application/json."))
}

/// Reads a body of at most `most` bytes.
pub(crate) async fn bytes(body: Body, most: usize) -> Result<Bytes, Problem> {
    let too_large = || Problem::new(Code::BodyTooLarge, format!("The body can have at most {most} bytes."));
    match Limited::new(body, most).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large()),
        Err(_cut_off) => Err(Problem::new(Code::InvalidJson, "The body ended early.")),
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    media_type.is_some_and(|media_type| {
        let essence = media_type.split(';').next().unwrap_or_default().trim();
        essence.eq_ignore_ascii_case("application/json")
    })
}
