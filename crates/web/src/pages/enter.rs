//! The door of a network by invitation: a key is asked for once, and a cookie carries it from then on.

use std::sync::Arc;

use askama::Template;
use axum::{
    body::Bytes,
    extract::State,
    response::{IntoResponse, Response},
};
use hyper::{
    StatusCode,
    header::{self, HeaderValue},
};
use url::form_urlencoded;

use crate::{
    door::KEY_COOKIE,
    frame::{Frame, Section},
    page::{go_to, show_with},
    site::Site,
    visit::Visit,
};

const MONTH: u32 = 30 * 24 * 3600;

words! {
    EnterWords {
        title: "By invitation", "Khusus undangan";
        about: "This is a private network. Enter the API key that your team was given; it needs the permission “explorer”.", "Ini jaringan privat. Masukkan kunci API yang diberikan kepada tim Anda; kunci itu memerlukan izin “explorer”.";
        key: "API key", "Kunci API";
        enter: "Enter", "Masuk";
        refused: "This key does not open the explorer. It may be mistyped, expired or without the permission.", "Kunci ini tidak membuka penjelajah. Mungkin salah ketik, kedaluwarsa, atau tanpa izin.";
    }
}

#[derive(Template)]
#[template(path = "enter.html")]
struct Page {
    frame: Frame,
    w: &'static EnterWords,
    refused: bool,
}

/// The page that asks for a key.
pub(crate) fn ask(site: &Site, visit: &Visit, status: StatusCode, refused: Option<()>) -> Response {
    let w = EnterWords::of(visit.language);
    let frame = Frame::new(site, visit, Section::Elsewhere, w.title);
    let mut page = show_with(status, &Page { frame, w, refused: refused.is_some() })
        .unwrap_or_else(IntoResponse::into_response);
    page.headers_mut()
        .insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"explorer\""));
    page
}

/// `POST /enter` with `key`.
pub(crate) async fn enter(State(site): State<Arc<Site>>, visit: Visit, form: Bytes) -> Response {
    let field = |wanted: &str| {
        let mut fields = form_urlencoded::parse(&form);
        fields.find(|(name, _)| name == wanted).map(|(_, value)| value.trim().to_owned())
    };
    let key = field("key").unwrap_or_default();
    if !site.visitors.accepts(&key, visit.address, site.api.clock.now()) {
        return ask(&site, &visit, StatusCode::UNAUTHORIZED, Some(()));
    }
    let is_https = site.deployment().urls.explorer.scheme() == "https";
    let secure = if is_https { "; Secure" } else { "" };
    let mut response = go_to("/");
    let line = format!("{KEY_COOKIE}={key}; Path=/; Max-Age={MONTH}; SameSite=Lax; HttpOnly{secure}");
    if let Ok(mut line) = HeaderValue::try_from(line) {
        line.set_sensitive(true);
        response.headers_mut().append(header::SET_COOKIE, line);
    }
    response
}
