//! Addresses of servers: URLs that are checked once, kept as they were written, and compared by nobody.

use std::{fmt, net::IpAddr};

use serde::{Deserialize, Serialize};
use url::{Host, Url};

/// An `http`, `https`, `ws` or `wss` URL without a fragment. Printed as it was written, without a slash at its end.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WebUrl {
    text: String,
    url: Url,
}

/// Why a text is not the URL of a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebUrlError {
    /// Not a URL at all.
    #[error("`{text}` is not a URL")]
    NotUrl {
        /// What was given.
        text: String,
        /// The parser's reason.
        #[source]
        source: url::ParseError,
    },
    /// A URL of something else.
    #[error("the URL begins with `{0}:` (allowed: http, https, ws, wss)")]
    Scheme(String),
    /// A part of a page.
    #[error("the URL has a fragment")]
    Fragment,
}

impl WebUrl {
    /// The URL as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// `http`, `https`, `ws` or `wss`.
    pub fn scheme(&self) -> &str {
        self.url.scheme()
    }

    /// Whether what is sent there stays on this machine.
    pub fn is_loopback(&self) -> bool {
        match self.url.host() {
            Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Some(Host::Ipv4(address)) => IpAddr::V4(address).is_loopback(),
            Some(Host::Ipv6(address)) => IpAddr::V6(address).is_loopback(),
            None => false,
        }
    }

    /// Whether nobody on the way can read or change what is sent there.
    pub fn is_private(&self) -> bool {
        matches!(self.scheme(), "https" | "wss") || self.is_loopback()
    }

    /// Scheme, host and port: what a browser calls the origin.
    pub fn origin(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    /// Host name or address; IPv6 in brackets.
    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// The port, where one is named.
    pub fn port(&self) -> Option<u16> {
        self.url.port()
    }
}

impl TryFrom<String> for WebUrl {
    type Error = WebUrlError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let url = Url::parse(&text).map_err(|source| WebUrlError::NotUrl { text: text.clone(), source })?;
        if !matches!(url.scheme(), "http" | "https" | "ws" | "wss") {
            return Err(WebUrlError::Scheme(url.scheme().to_owned()));
        }
        if url.fragment().is_some() {
            return Err(WebUrlError::Fragment);
        }
        Ok(Self { text: text.trim_end_matches('/').to_owned(), url })
    }
}

impl std::str::FromStr for WebUrl {
    type Err = WebUrlError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::try_from(text.to_owned())
    }
}

impl From<WebUrl> for String {
    fn from(url: WebUrl) -> Self {
        url.text
    }
}

impl fmt::Display for WebUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> WebUrl {
        text.parse().unwrap()
    }

    #[test]
    fn urls_are_kept_as_they_were_written() {
        assert_eq!(url("http://127.0.0.1:8540").to_string(), "http://127.0.0.1:8540");
        assert_eq!(url("https://rpc.example.org/v1/").to_string(), "https://rpc.example.org/v1");
    }

    #[test]
    fn other_things_are_refused_with_the_reason() {
        for (text, reason) in [
            ("", "not a URL"),
            ("127.0.0.1:8540", "not a URL"),
            ("http://", "not a URL"),
            ("http://a b", "not a URL"),
            ("ftp://example.org", "http, https, ws, wss"),
            ("file:///etc/passwd", "http, https, ws, wss"),
            ("https://example.org/#top", "fragment"),
        ] {
            let error = text.parse::<WebUrl>().unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn only_this_machine_is_loopback() {
        for text in ["http://127.0.0.1:1", "http://127.1.2.3", "http://localhost:1", "ws://[::1]:1"] {
            assert!(url(text).is_loopback() && url(text).is_private(), "{text}");
        }
        for text in ["http://10.0.0.1", "http://localhost.example.org", "http://[::2]"] {
            assert!(!url(text).is_loopback() && !url(text).is_private(), "{text}");
        }
        assert!(url("https://example.org").is_private());
    }
}
