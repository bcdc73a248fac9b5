//! A page as an answer.

use askama::Template;
use axum::{
    body::Body,
    response::{IntoResponse, Redirect, Response},
};
use hyper::{
    StatusCode,
    header::{self, HeaderValue},
};

use crate::failure::Failure;

const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");

/// What most handlers answer with.
pub(crate) type Shown = Result<Response, Failure>;

/// A page that was found.
pub(crate) fn show(template: &impl Template) -> Shown {
    show_with(StatusCode::OK, template)
}

/// A page with another status.
pub(crate) fn show_with(status: StatusCode, template: &impl Template) -> Shown {
    let mut response = Response::new(Body::from(template.render()?));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HTML);
    Ok(response)
}

/// To another page of ours, after a form; to the home page if `place` is not certain to be one.
pub(crate) fn go_to(place: &str) -> Response {
    Redirect::to(if is_local(place) { place } else { "/" }).into_response()
}

/// To the proper name of this machine.
pub(crate) fn go_to_origin(url: &str) -> Response {
    Redirect::to(url).into_response()
}

/// Whether every browser takes a place for a page of this server: a path of plain characters whose first part is neither empty
/// nor dots. Browsers drop tabs and line breaks, take `\` for `/`, and resolve dots, so that only what is known to be harmless
/// is let through.
fn is_local(place: &str) -> bool {
    let Some(rest) = place.strip_prefix('/') else { return false };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~%?&=+:@!$'()*,;".contains(&byte);
    let first = rest.bytes().next();
    rest.bytes().all(is_plain) && first.is_none_or(|byte| byte.is_ascii_alphanumeric() || byte == b'?')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The `url` crate resolves as browsers do.
        #[test]
        fn what_is_local_stays_on_this_server(place in "[/\\\\.%?#:@a2e \\t\\n\\r\u{0}\u{feff}-]{0,12}") {
            if is_local(&place) {
                let base = url::Url::parse("https://explorer.example/somewhere/else").unwrap();
                let resolved = base.join(&place).unwrap();
                prop_assert_eq!(resolved.origin(), base.origin());
            }
        }
    }
}
