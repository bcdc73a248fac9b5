//! One part of a path.

use axum::{
    extract::{FromRequestParts, Path},
    http::request::Parts,
};

use crate::failure::Failure;

/// Characters of a text that a page repeats to whoever sent it.
const LONGEST_SHOWN: usize = 90;

/// The variable part of a path, decoded. What cannot be decoded is no page.
#[derive(Debug, Clone)]
pub(crate) struct Segment(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for Segment {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        path.map(|Path(text)| Self(text)).map_err(|_| Failure::NoPage)
    }
}

/// A text as it may be repeated to whoever sent it.
pub(crate) fn repeated(text: &str) -> String {
    match text.char_indices().nth(LONGEST_SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
