//! A visit: who looks at a page, how they like it, and which page it is.

use std::{convert::Infallible, net::IpAddr};

use axum::{extract::FromRequestParts, http::request::Parts};
use hyper::{
    HeaderMap, Uri,
    header::{self, HeaderValue},
};
use url::form_urlencoded;

use crate::{door::RpcKey, words::Language};

/// The cookie with the chosen language.
pub(crate) const LANGUAGE_COOKIE: &str = "chainnet_lang";
/// The cookie with the chosen colours.
pub(crate) const THEME_COOKIE: &str = "chainnet_theme";

/// The colours that somebody chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Theme {
    /// As the system has it.
    #[default]
    System,
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

impl Theme {
    /// The name in cookies and markup.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// The theme with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        [Self::System, Self::Light, Self::Dark].into_iter().find(|theme| theme.name() == name)
    }
}

/// Who looks at a page, and how they like it.
#[derive(Debug, Clone)]
pub(crate) struct Visit {
    pub(crate) language: Language,
    pub(crate) theme: Theme,
    /// Path and query, to come back to.
    pub(crate) place: String,
    /// The visitor's network address.
    pub(crate) address: IpAddr,
    /// The request's id, by which it is found in the log.
    pub(crate) id: HeaderValue,
    /// The visitor's key, where it is good for JSON-RPC.
    pub(crate) rpc_key: Option<RpcKey>,
}

impl Visit {
    pub(crate) fn new(headers: &HeaderMap, uri: &Uri, address: IpAddr, id: HeaderValue) -> Self {
        let accepted = || {
            let line = headers.get(header::ACCEPT_LANGUAGE)?.to_str().ok()?;
            Language::accepted(line)
        };
        let chosen = cookie(headers, LANGUAGE_COOKIE).and_then(Language::from_tag);
        Self {
            language: chosen.or_else(accepted).unwrap_or_default(),
            theme: cookie(headers, THEME_COOKIE).and_then(Theme::from_name).unwrap_or_default(),
            place: uri.path_and_query().map_or("/", |place| place.as_str()).to_owned(),
            address,
            id,
            rpc_key: None,
        }
    }

    /// The request's id, as text.
    pub(crate) fn id(&self) -> &str {
        self.id.to_str().unwrap_or_default()
    }

    /// A parameter of the query; the first of its name, and none if it is empty.
    pub(crate) fn parameter(&self, name: &str) -> Option<String> {
        let (_, query) = self.place.split_once('?')?;
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        let value = pairs.find(|(found, _)| found == name).map(|(_, value)| value.trim().to_owned());
        value.filter(|value| !value.is_empty())
    }
}

/// Handlers get the visit that [`crate::Explorer`] has put into the request.
impl<S: Send + Sync> FromRequestParts<S> for Visit {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let visit = parts.extensions.get::<Self>().cloned();
        Ok(visit.unwrap_or_else(|| {
            Self::new(
                &parts.headers,
                &parts.uri,
                IpAddr::from([0, 0, 0, 0]),
                HeaderValue::from_static("none"),
            )
        }))
    }
}

/// The value of a cookie.
pub(crate) fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut cookies = lines.flat_map(|line| line.split(';')).filter_map(|cookie| cookie.split_once('='));
    cookies.find(|(found, _)| found.trim() == name).map(|(_, value)| value.trim())
}
