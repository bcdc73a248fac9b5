//! Who a request comes from: the address, for lists of networks, and the client, for limits.
//!
//! `X-Forwarded-For` is written by whoever sends it, so it is read from the right, and only as long as the one who wrote
//! an entry is a proxy that the operator trusts.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http1::Headers;
use ipnet::IpNet;

const X_FORWARDED_FOR: &str = "x-forwarded-for";

/// A client that is counted as one: an IPv4 address, or an IPv6 network of 64 bits, which is what one household or one
/// rented machine gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Client {
    /// An IPv4 address, also when it was written as an IPv6 one.
    V4(Ipv4Addr),
    /// The first 64 bits of an IPv6 address.
    V6([u8; 8]),
}

impl From<IpAddr> for Client {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::V4(address),
            IpAddr::V6(address) => Self::V6(prefix(address)),
        }
    }
}

fn prefix(address: Ipv6Addr) -> [u8; 8] {
    let [a, b, c, d, e, f, g, h, ..] = address.octets();
    [a, b, c, d, e, f, g, h]
}

/// The address of whoever made a request that arrived from `peer`. `Client::from` makes of it what is counted.
pub fn client_address<H: Headers>(peer: IpAddr, headers: &H, trusted: &[IpNet]) -> IpAddr {
    let is_trusted = |address: IpAddr| trusted.iter().any(|net| net.contains(&address));
    let mut address = peer.to_canonical();
    if trusted.is_empty() || !is_trusted(address) {
        return address;
    }
    let lines = headers.lines(X_FORWARDED_FOR).rev();
    let entries = lines.map_while(|line| str::from_utf8(line).ok()).flat_map(|line| line.rsplit(','));
    for entry in entries {
        // An entry that is no address was not written by a proxy we know: stop at the last good one.
        let Some(forwarded) = parse(entry.trim()) else { break };
        address = forwarded;
        if !is_trusted(address) {
            break;
        }
    }
    address
}

/// Whether requests from a peer may be those of many clients: it is a proxy that the operator trusts.
pub fn is_trusted_proxy(peer: IpAddr, trusted: &[IpNet]) -> bool {
    let peer = peer.to_canonical();
    trusted.iter().any(|net| net.contains(&peer))
}

/// An address as proxies write it: bare, with a port, or in brackets.
fn parse(entry: &str) -> Option<IpAddr> {
    let bare = entry.parse::<IpAddr>().ok();
    let with_port = || entry.parse::<std::net::SocketAddr>().ok().map(|address| address.ip());
    let in_brackets = || entry.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    bare.or_else(with_port).or_else(in_brackets).map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;

    fn from(peer: &str, forwarded: &[&str], trusted: &[&str]) -> Client {
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append(X_FORWARDED_FOR, line.parse().unwrap());
        }
        let trusted: Vec<IpNet> = trusted.iter().map(|net| net.parse().unwrap()).collect();
        client_address(peer.parse().unwrap(), &headers, &trusted).into()
    }

    fn of(address: &str) -> Client {
        address.parse::<IpAddr>().unwrap().into()
    }

    #[test]
    fn a_stranger_cannot_say_who_it_is() {
        assert_eq!(from("203.0.113.7", &["198.51.100.1"], &[]), of("203.0.113.7"));
        assert_eq!(from("203.0.113.7", &["198.51.100.1"], &["10.0.0.0/8"]), of("203.0.113.7"));
    }

    #[test]
    fn behind_trusted_proxies_the_last_untrusted_entry_counts() {
        let proxies = &["10.0.0.0/8", "fd00::/8"][..];
        assert_eq!(from("10.0.0.1", &["198.51.100.1"], proxies), of("198.51.100.1"));
        assert_eq!(from("10.0.0.1", &["1.1.1.1, 198.51.100.1, 10.0.0.2"], proxies), of("198.51.100.1"));
        assert_eq!(from("10.0.0.1", &["1.1.1.1", "198.51.100.1"], proxies), of("198.51.100.1"));
        assert_eq!(from("::ffff:10.0.0.1", &["198.51.100.1:4711"], proxies), of("198.51.100.1"));
        assert_eq!(from("fd00::1", &["[2001:db8::1]"], proxies), of("2001:db8::1"));
    }

    #[test]
    fn rubbish_in_the_header_stops_the_walk() {
        let proxies = &["10.0.0.0/8"][..];
        assert_eq!(from("10.0.0.1", &["198.51.100.1, unknown"], proxies), of("10.0.0.1"));
        assert_eq!(from("10.0.0.1", &["198.51.100.1, x, 10.0.0.2"], proxies), of("10.0.0.2"));
        assert_eq!(from("10.0.0.1", &[], proxies), of("10.0.0.1"));
    }

    #[test]
    fn ipv6_counts_by_its_first_64_bits_and_mapped_ipv4_as_ipv4() {
        assert_eq!(of("2001:db8:1:2::1"), of("2001:db8:1:2:ffff::9"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("::ffff:203.0.113.7"), of("203.0.113.7"));
    }

    #[test]
    fn addresses_are_whole_and_canonical_for_lists_of_networks() {
        let address = |text: &str| client_address(text.parse().unwrap(), &HeaderMap::new(), &[]).to_string();
        assert_eq!(address("::ffff:203.0.113.7"), "203.0.113.7");
        assert_eq!(address("2001:db8:1:2::9"), "2001:db8:1:2::9");
    }
}
