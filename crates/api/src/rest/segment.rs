//! The variable part of a path.

use axum::{
    extract::{FromRequestParts, Path},
    http::request::Parts,
};

/// The variable part of a path as text. One that is not UTF-8 is empty, which nothing accepts.
pub(crate) struct Segment(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for Segment {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Self::Rejection> {
        let text = Path::<String>::from_request_parts(parts, state).await.map(|Path(text)| text);
        Ok(Self(text.unwrap_or_default()))
    }
}
