//! Where a node is reached, as an operator writes it.
//!
//! `http://host:8545` or `https://…`; `ws://…` or `wss://…` when HTTP answers at the same address; and
//! `http://host:8545|ws://host:8546` when WebSocket has an address of its own, as with Besu. User name and password
//! become an `Authorization` header. What is shown of an address never goes beyond its host and port, because paths and
//! queries carry keys too.

use std::{fmt, str::FromStr};

use base64::{Engine, prelude::BASE64_STANDARD};
use hyper::{Uri, header::HeaderValue};

/// Splits the two addresses of one node; not a character of URLs.
const SEPARATOR: char = '|';

/// Where one node is reached.
#[derive(Clone, PartialEq, Eq)]
pub struct NodeUrl {
    pub(super) http: Endpoint,
    pub(super) websocket: WebSocketAddress,
}

/// Where the node's heads are fed from.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum WebSocketAddress {
    /// Perhaps where HTTP is; many nodes answer both on one port.
    Perhaps(Endpoint),
    /// Here, says the operator.
    Given(Endpoint),
}

impl WebSocketAddress {
    pub(super) fn endpoint(&self) -> &Endpoint {
        match self {
            Self::Perhaps(endpoint) | Self::Given(endpoint) => endpoint,
        }
    }
}

/// An address of the network and what to ask for there.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Endpoint {
    pub(super) tls: bool,
    /// Name or address; IPv6 in brackets.
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) path_and_query: String,
    pub(super) authorization: Option<HeaderValue>,
}

impl Endpoint {
    /// What goes into the `Host` header.
    pub(super) fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

/// Why a text is not the address of a node.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NodeUrlError {
    /// Not a URL with a scheme and a host.
    #[error("{url:?} is not a URL; a node is written as http://host:port")]
    Malformed {
        /// The text without its secrets.
        url: String,
    },
    /// A scheme that no node speaks.
    #[error("{url:?} does not start with http, https, ws or wss")]
    Scheme {
        /// The text without its secrets.
        url: String,
    },
    /// User name and password cannot be sent.
    #[error("the user name or password of {url:?} cannot be sent in a header")]
    Credentials {
        /// The text without its secrets.
        url: String,
    },
    /// Two addresses that are not one of HTTP and one of WebSocket.
    #[error("{url:?} does not name one http and one ws address of a node")]
    Pair {
        /// The text without its secrets.
        url: String,
    },
}

impl FromStr for NodeUrl {
    type Err = NodeUrlError;

    fn from_str(text: &str) -> Result<Self, NodeUrlError> {
        let Some((first, second)) = text.split_once(SEPARATOR) else {
            let (_, http) = parse(text)?;
            return Ok(match protocol(text)? {
                Protocol::Http => Self { websocket: WebSocketAddress::Perhaps(http.clone()), http },
                Protocol::WebSocket => Self { websocket: WebSocketAddress::Given(http.clone()), http },
            });
        };
        match (parse(first)?, parse(second)?) {
            ((Protocol::Http, http), (Protocol::WebSocket, websocket))
            | ((Protocol::WebSocket, websocket), (Protocol::Http, http)) => {
                Ok(Self { http, websocket: WebSocketAddress::Given(websocket) })
            }
            ((Protocol::Http, _), (Protocol::Http, _))
            | ((Protocol::WebSocket, _), (Protocol::WebSocket, _)) => {
                Err(NodeUrlError::Pair { url: format!("{}{SEPARATOR}{}", redacted(first), redacted(second)) })
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Protocol {
    Http,
    WebSocket,
}

fn protocol(url: &str) -> Result<Protocol, NodeUrlError> {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme.trim().to_ascii_lowercase());
    match scheme.as_deref() {
        Some("http" | "https") => Ok(Protocol::Http),
        Some("ws" | "wss") => Ok(Protocol::WebSocket),
        Some(_) => Err(NodeUrlError::Scheme { url: redacted(url) }),
        None => Err(NodeUrlError::Malformed { url: redacted(url) }),
    }
}

fn parse(text: &str) -> Result<(Protocol, Endpoint), NodeUrlError> {
    let text = text.trim();
    let protocol = protocol(text)?;
    let malformed = || NodeUrlError::Malformed { url: redacted(text) };
    let uri: Uri = text.parse().map_err(|_| malformed())?;
    let authority = uri.authority().filter(|authority| !authority.host().is_empty()).ok_or_else(malformed)?;
    let scheme = uri.scheme_str().unwrap_or_default();
    let tls = scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("wss");
    // `host:99999` has an authority but no port.
    let host_and_port = authority.as_str().rsplit_once('@').map_or(authority.as_str(), |(_, rest)| rest);
    if authority.port_u16().is_none() && host_and_port != authority.host() {
        return Err(malformed());
    }
    let authorization = match authority.as_str().rsplit_once('@') {
        Some((credentials, _)) => Some(
            basic_authorization(credentials)
                .ok_or_else(|| NodeUrlError::Credentials { url: redacted(text) })?,
        ),
        None => None,
    };
    let endpoint = Endpoint {
        tls,
        host: authority.host().to_owned(),
        port: authority.port_u16().unwrap_or(if tls { 443 } else { 80 }),
        path_and_query: uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string),
        authorization,
    };
    Ok((protocol, endpoint))
}

/// RFC 7617, from the percent-encoded form of a URL.
fn basic_authorization(credentials: &str) -> Option<HeaderValue> {
    let (user, password) = credentials.split_once(':').unwrap_or((credentials, ""));
    let mut plain = percent_decoded(user)?;
    plain.push(b':');
    plain.extend(percent_decoded(password)?);
    let mut value = HeaderValue::from_str(&format!("Basic {}", BASE64_STANDARD.encode(plain))).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn percent_decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                u8::try_from(digit(bytes.next())? * 16 + digit(bytes.next())?).ok()?
            }
            plain => plain,
        });
    }
    Some(decoded)
}

/// A text that may be a URL, without anything that may be secret: what stands before the last `@` and after the host.
fn redacted(text: &str) -> String {
    let text = text.trim();
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), text),
    };
    let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    format!("{scheme}{host}")
}

impl fmt::Display for NodeUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.http.tls { "https" } else { "http" };
        write!(f, "{scheme}://{}", self.http.authority())
    }
}

impl fmt::Debug for NodeUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NodeUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn url(text: &str) -> NodeUrl {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn an_http_address_may_also_feed_heads() {
        let node = url("http://127.0.0.1:8545");
        assert_eq!(node.to_string(), "http://127.0.0.1:8545");
        assert!(matches!(&node.websocket, WebSocketAddress::Perhaps(at) if *at == node.http));
        assert_eq!(url("https://rpc.example/v3/key?x=1").http.path_and_query, "/v3/key?x=1");
        assert_eq!(url("https://rpc.example").http.port, 443);
        assert_eq!(url("http://[::1]:8545").http.authority(), "[::1]:8545");
    }

    #[test]
    fn a_websocket_address_is_asked_by_http_too() {
        let node = url("wss://node.example:8546/feed");
        assert_eq!(node.to_string(), "https://node.example:8546");
        assert!(matches!(node.websocket, WebSocketAddress::Given(_)));
    }

    #[test]
    fn a_node_may_have_two_addresses_in_any_order() {
        for text in ["http://a:8545|ws://a:8546", "ws://a:8546|http://a:8545"] {
            let node = url(text);
            assert_eq!((node.http.port, node.websocket.endpoint().port), (8545, 8546));
        }
        let error = "http://a:1|http://a:2".parse::<NodeUrl>().expect_err("two http addresses");
        assert!(matches!(error, NodeUrlError::Pair { .. }));
    }

    #[test]
    fn credentials_are_sent_but_never_shown() {
        let node = url("https://user:p%40ss@node.example:1/secret?key=secret");
        let header = node.http.authorization.clone().expect("a header");
        assert_eq!(header.to_str().expect("text"), "Basic dXNlcjpwQHNz");
        assert!(header.is_sensitive());
        for shown in [node.to_string(), format!("{node:?}")] {
            assert!(!shown.contains("ss") || !shown.contains("secret"), "{shown}");
            assert!(!shown.contains("user") && !shown.contains("secret"), "{shown}");
        }
    }

    #[test]
    fn a_bad_address_is_named_without_its_secrets() {
        for bad in ["", "node", "node:8545", "ftp://node", "http://", "http://host:99999", "http://h ost"] {
            assert!(bad.parse::<NodeUrl>().is_err(), "{bad}");
        }
        for bad in ["ftp://user:pass/word@host/secret", "user:pass@host", "http://user:pass@ho st/secret"] {
            let shown = bad.parse::<NodeUrl>().expect_err(bad).to_string();
            assert!(shown.contains("ho") && !shown.contains("pass") && !shown.contains("secret"), "{shown}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_an_address_or_an_error(text in ".*", scheme in "(http|https|ws|wss)://") {
            let _ = text.parse::<NodeUrl>();
            let _ = format!("{scheme}{text}").parse::<NodeUrl>();
        }
    }
}
