//! Language and colours, chosen by buttons that work without a script.

use axum::{body::Bytes, response::Response};
use hyper::header::{self, HeaderValue};
use url::form_urlencoded;

use crate::{
    failure::{Failure, Malformed},
    page::go_to,
    visit::{LANGUAGE_COOKIE, THEME_COOKIE, Theme},
    words::Language,
};

const YEAR: u32 = 365 * 24 * 3600;

/// `POST /preferences` with `lang` or `theme`, and `back`: the place to come back to.
pub(crate) async fn change(form: Bytes) -> Result<Response, Failure> {
    let mut back = "/".to_owned();
    let mut cookies = Vec::new();
    for (name, value) in form_urlencoded::parse(&form) {
        match &*name {
            "lang" => {
                let language =
                    Language::from_tag(&value).ok_or(Failure::Malformed(Malformed::Parameter("lang")))?;
                cookies.push((LANGUAGE_COOKIE, language.tag()));
            }
            "theme" => {
                let theme =
                    Theme::from_name(&value).ok_or(Failure::Malformed(Malformed::Parameter("theme")))?;
                cookies.push((THEME_COOKIE, theme.name()));
            }
            // Whether that is a page of ours is for the redirect to say.
            "back" => back = value.into_owned(),
            _ => {}
        }
    }
    let mut response = go_to(&back);
    for (name, value) in cookies {
        let line = format!("{name}={value}; Path=/; Max-Age={YEAR}; SameSite=Lax; HttpOnly");
        if let Ok(line) = HeaderValue::try_from(line) {
            response.headers_mut().append(header::SET_COOKIE, line);
        }
    }
    Ok(response)
}
