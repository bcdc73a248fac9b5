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

/// To another page, after a form.
pub(crate) fn go_to(place: &str) -> Response {
    Redirect::to(place).into_response()
}
