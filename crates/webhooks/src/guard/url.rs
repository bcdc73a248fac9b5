//! Which URLs may be saved.

use url::{Host, Url};

/// Characters of the longest URL.
const LONGEST: usize = 2048;
/// Names that mean something inside only.
const INSIDE: [&str; 5] = ["localhost", "local", "internal", "home.arpa", "onion"];

/// What an operator decides about where webhooks may go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardSettings {
    /// Whether http, addresses, every port and private networks are allowed: for trying things out on one's own machine.
    pub allow_private: bool,
    /// Ports that may be sent to.
    pub ports: Vec<u16>,
    /// Our own hosts, which are not sent to, nor what is below them.
    pub own_hosts: Vec<String>,
}

impl Default for GuardSettings {
    fn default() -> Self {
        Self { allow_private: false, ports: vec![443], own_hosts: Vec::new() }
    }
}

/// Why a URL is not sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UrlRefusal {
    /// More characters than a URL may have.
    #[error("the URL is longer than 2048 characters")]
    TooLong,
    /// Not a URL.
    #[error("this is not a URL")]
    NotUrl,
    /// Not https.
    #[error("the URL must begin with https://")]
    Scheme,
    /// Name and password in the URL.
    #[error("the URL must not carry a user name or a password")]
    UserInfo,
    /// A fragment, which is never sent.
    #[error("the URL must not have a fragment")]
    Fragment,
    /// A port that is not on the list.
    #[error("the URL's port is not allowed")]
    Port,
    /// An address instead of a name, however it is spelled.
    #[error("the host must be a DNS name, not an address")]
    AddressLiteral,
    /// No name that the internet knows.
    #[error("the host must be a public DNS name with a dot")]
    NotPublicName,
    /// One of ours.
    #[error("the host is one of our own")]
    OwnHost,
    /// The name leads to no address.
    #[error("the host has no address")]
    NotResolved,
    /// The name leads to an address that is not of the internet at large.
    #[error("the host resolves to an address that is not public")]
    NotGlobal,
}

impl UrlRefusal {
    /// The stable word for programs.
    pub const fn word(self) -> &'static str {
        match self {
            Self::TooLong => "too_long",
            Self::NotUrl => "not_a_url",
            Self::Scheme => "scheme",
            Self::UserInfo => "user_info",
            Self::Fragment => "fragment",
            Self::Port => "port",
            Self::AddressLiteral => "address_literal",
            Self::NotPublicName => "not_public_name",
            Self::OwnHost => "own_host",
            Self::NotResolved => "not_resolved",
            Self::NotGlobal => "not_public_address",
        }
    }
}

/// Reads a URL that may be sent to, as far as its text tells. A dot behind the host is taken away.
pub(super) fn read(text: &str, settings: &GuardSettings) -> Result<Url, UrlRefusal> {
    if text.chars().count() > LONGEST {
        return Err(UrlRefusal::TooLong);
    }
    // The parser folds every spelling of an address (0x7f.1, 2130706433, ①②⑦.0.0.1), so it goes first.
    let mut url = Url::parse(text).map_err(|_| UrlRefusal::NotUrl)?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(UrlRefusal::UserInfo);
    }
    if url.fragment().is_some() {
        return Err(UrlRefusal::Fragment);
    }
    if settings.allow_private {
        return if matches!(url.scheme(), "http" | "https") { Ok(url) } else { Err(UrlRefusal::Scheme) };
    }
    if url.scheme() != "https" {
        return Err(UrlRefusal::Scheme);
    }
    if !url.port_or_known_default().is_some_and(|port| settings.ports.contains(&port)) {
        return Err(UrlRefusal::Port);
    }
    let name = match url.host() {
        Some(Host::Domain(name)) => name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase(),
        Some(Host::Ipv4(_) | Host::Ipv6(_)) => return Err(UrlRefusal::AddressLiteral),
        None => return Err(UrlRefusal::NotUrl),
    };
    check_name(&name, settings)?;
    url.set_host(Some(&name)).map_err(|_| UrlRefusal::NotUrl)?;
    Ok(url)
}

fn check_name(name: &str, settings: &GuardSettings) -> Result<(), UrlRefusal> {
    let is_below =
        |parent: &str| name.strip_suffix(parent).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    let has_empty_label = name.split('.').any(str::is_empty);
    if !name.contains('.') || has_empty_label || INSIDE.iter().any(|inside| is_below(inside)) {
        return Err(UrlRefusal::NotPublicName);
    }
    if settings.own_hosts.iter().any(|own| !own.is_empty() && is_below(&own.to_ascii_lowercase())) {
        return Err(UrlRefusal::OwnHost);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn strict() -> GuardSettings {
        GuardSettings { own_hosts: vec!["chainnet.example".to_owned()], ..GuardSettings::default() }
    }

    #[test]
    fn good_urls_pass_and_lose_the_dot_behind_the_host() {
        for (text, read_as) in [
            ("https://shop.example.org/hooks?a=b", "https://shop.example.org/hooks?a=b"),
            ("https://SHOP.example.org.:443/", "https://shop.example.org/"),
            ("https://bücher.example.org/", "https://xn--bcher-kva.example.org/"),
            ("https://notchainnet.example/", "https://notchainnet.example/"),
        ] {
            assert_eq!(read(text, &strict()).map(String::from), Ok(read_as.to_owned()), "{text}");
        }
        let more = GuardSettings { ports: vec![443, 8443], ..strict() };
        assert!(read("https://shop.example.org:8443/", &more).is_ok());
    }

    #[test]
    fn every_other_url_is_refused_with_its_reason() {
        let long = format!("https://shop.example.org/{}", "a".repeat(2048));
        for (text, refusal) in [
            (long.as_str(), UrlRefusal::TooLong),
            ("", UrlRefusal::NotUrl),
            ("shop.example.org", UrlRefusal::NotUrl),
            ("https://", UrlRefusal::NotUrl),
            ("https://1.2.3.4.5/", UrlRefusal::NotUrl),
            ("http://shop.example.org/", UrlRefusal::Scheme),
            ("ftp://shop.example.org/", UrlRefusal::Scheme),
            ("file:///etc/passwd", UrlRefusal::Scheme),
            ("https://user@shop.example.org/", UrlRefusal::UserInfo),
            ("https://:secret@shop.example.org/", UrlRefusal::UserInfo),
            ("https://shop.example.org/#top", UrlRefusal::Fragment),
            ("https://shop.example.org:8443/", UrlRefusal::Port),
            ("https://shop.example.org:80/", UrlRefusal::Port),
            ("https://localhost/", UrlRefusal::NotPublicName),
            ("https://localhost./", UrlRefusal::NotPublicName),
            ("https://a.localhost/", UrlRefusal::NotPublicName),
            ("https://printer.local/", UrlRefusal::NotPublicName),
            ("https://metadata.google.internal/", UrlRefusal::NotPublicName),
            ("https://router.home.arpa/", UrlRefusal::NotPublicName),
            ("https://abc.onion/", UrlRefusal::NotPublicName),
            ("https://intranet/", UrlRefusal::NotPublicName),
            ("https://shop.example.org../", UrlRefusal::NotPublicName),
            ("https://chainnet.example/", UrlRefusal::OwnHost),
            ("https://rpc.ChainNet.example./", UrlRefusal::OwnHost),
        ] {
            assert_eq!(read(text, &strict()).map(String::from), Err(refusal), "{text}");
        }
    }

    #[test]
    fn addresses_are_refused_in_every_spelling() {
        for host in [
            "127.0.0.1",
            "8.8.8.8",
            "2130706433",
            "0x7f.1",
            "0177.0.0.1",
            "127.1",
            "0x7f000001",
            "①②⑦.0.0.1",
            "127.0.0.1.",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "[2606:4700::1111]",
            "017700000001",
            "%31%32%37.0.0.1",
        ] {
            let read = read(&format!("https://{host}/"), &strict());
            assert_eq!(read.map(String::from), Err(UrlRefusal::AddressLiteral), "{host}");
        }
    }

    #[test]
    fn trying_out_may_be_done_anywhere() {
        let open = GuardSettings { allow_private: true, ..strict() };
        for text in ["http://127.0.0.1:4711/hook", "http://localhost:80/", "https://[::1]:8443/"] {
            assert!(read(text, &open).is_ok(), "{text}");
        }
        assert_eq!(read("ftp://127.0.0.1/", &open), Err(UrlRefusal::Scheme));
        assert_eq!(read("http://u:p@127.0.0.1/", &open), Err(UrlRefusal::UserInfo));
    }

    proptest! {
        /// Whatever passes is https to a name with a dot on a port of the list, and reads the same again.
        #[test]
        fn what_passes_is_what_it_should_be(
            scheme in "(https?|HTTPS|wss|file)?:?/{0,3}",
            host in "([a-z0-9@:%.\\[\\]\\\\\\-_①。]|localhost|127\\.|0x|internal|\\.){0,16}",
            rest in "[:/?#@.a-z0-9%]{0,12}",
        ) {
            let Ok(url) = read(&format!("{scheme}{host}{rest}"), &strict()) else { return Ok(()) };
            prop_assert_eq!(url.scheme(), "https");
            prop_assert_eq!(url.port_or_known_default(), Some(443));
            let Some(Host::Domain(name)) = url.host() else { panic!("no name: {url}") };
            prop_assert!(name.contains('.') && !name.ends_with('.') && !name.starts_with('.'));
            prop_assert!(name.parse::<std::net::IpAddr>().is_err());
            prop_assert!(url.username().is_empty() && url.password().is_none() && url.fragment().is_none());
            let text = url.to_string();
            prop_assert_eq!(read(&text, &strict()).map(String::from), Ok(text));
        }

        #[test]
        fn no_text_is_too_odd_to_be_judged(text in "\\PC{0,80}") {
            let _ = read(&text, &strict());
        }
    }
}
