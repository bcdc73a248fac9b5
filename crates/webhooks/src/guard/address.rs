//! Which addresses belong to the internet at large. Everything else may be ours, or a neighbour's, and is not sent to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

const fn v4(a: u8, b: u8, c: u8, d: u8, bits: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), bits)
}

const fn v6(a: u16, b: u16, c: u16, bits: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0), bits)
}

/// IPv4 networks that are not global (IANA special-purpose registry).
const DENIED_V4: &[Ipv4Net] = &[
    v4(0, 0, 0, 0, 8),
    v4(10, 0, 0, 0, 8),
    // Shared by carriers.
    v4(100, 64, 0, 0, 10),
    v4(127, 0, 0, 0, 8),
    // Link-local, and where clouds keep their secrets.
    v4(169, 254, 0, 0, 16),
    v4(172, 16, 0, 0, 12),
    v4(192, 0, 0, 0, 24),
    v4(192, 0, 2, 0, 24),
    // 6to4 relays.
    v4(192, 88, 99, 0, 24),
    v4(192, 168, 0, 0, 16),
    v4(198, 18, 0, 0, 15),
    v4(198, 51, 100, 0, 24),
    v4(203, 0, 113, 0, 24),
    v4(224, 0, 0, 0, 4),
    // Reserved, and broadcast.
    v4(240, 0, 0, 0, 4),
];

/// The only part of IPv6 that is given out. `::/96` (IPv4-compatible), `64:ff9b::/96` and `64:ff9b:1::/48` (NAT64),
/// `100::/64` (discard), `5f00::/16`, `fc00::/7`, `fe80::/10`, `fec0::/10` and `ff00::/8` are outside.
const GIVEN_OUT_V6: Ipv6Net = v6(0x2000, 0, 0, 3);

/// What in it is not global.
const DENIED_V6: &[Ipv6Net] = &[
    // Teredo, benchmarks, ORCHID and the other protocols.
    v6(0x2001, 0, 0, 23),
    v6(0x2001, 0xdb8, 0, 32),
    // 6to4: an IPv4 address inside.
    v6(0x2002, 0, 0, 16),
    v6(0x3fff, 0, 0, 20),
];

/// Whether an address is one that anybody on the internet can have.
pub(crate) fn is_global(address: IpAddr) -> bool {
    // An IPv4 address in IPv6 clothes is judged as what it is.
    match address.to_canonical() {
        IpAddr::V4(address) => !DENIED_V4.iter().any(|net| net.contains(&address)),
        IpAddr::V6(address) => {
            GIVEN_OUT_V6.contains(&address) && !DENIED_V6.iter().any(|net| net.contains(&address))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn judge(text: &str) -> bool {
        is_global(text.parse().unwrap())
    }

    /// First and last address of every range, and their neighbours outside.
    #[test]
    fn ranges_end_where_they_should() {
        for (before, first, last, after) in [
            ("", "0.0.0.0", "0.255.255.255", "1.0.0.0"),
            ("9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"),
            ("100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"),
            ("126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"),
            ("169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"),
            ("172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"),
            ("191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"),
            ("192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"),
            ("192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0"),
            ("192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"),
            ("198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"),
            ("198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"),
            ("203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"),
            ("223.255.255.255", "224.0.0.0", "255.255.255.255", ""),
            ("", "::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2000::"),
            ("2000:ffff::", "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::"),
            ("2001:db7:ffff::", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::"),
            ("2001:ffff::", "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::"),
            ("3ffe:ffff::", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::"),
            ("3fff:ffff::", "4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""),
        ] {
            assert!(!judge(first), "{first}");
            assert!(!judge(last), "{last}");
            for outside in [before, after] {
                assert!(outside.is_empty() || judge(outside), "{outside}");
            }
        }
    }

    #[test]
    fn known_tricks_are_refused() {
        for text in [
            "::1",
            "::",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::ffff:0:0",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2002:7f00:1::",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
            "2001:10::1",
            "2001:20::1",
        ] {
            assert!(!judge(text), "{text}");
        }
        for text in ["8.8.8.8", "1.1.1.1", "::ffff:8.8.8.8", "2606:4700:4700::1111", "2a00:1450:4001::1"] {
            assert!(judge(text), "{text}");
        }
    }

    proptest! {
        /// What the standard library calls private in any way never passes, however it is dressed.
        #[test]
        fn no_private_address_passes(bits: u32) {
            let address = Ipv4Addr::from_bits(bits);
            let is_special = address.is_private() || address.is_loopback() || address.is_link_local()
                || address.is_broadcast() || address.is_documentation() || address.is_unspecified()
                || address.is_multicast();
            let dressed = [
                IpAddr::V4(address),
                IpAddr::V6(address.to_ipv6_mapped()),
            ];
            for dressed in dressed {
                prop_assert!(!(is_special && is_global(dressed)), "{dressed}");
            }
            let [a, b, c, d] = address.octets().map(u16::from);
            let (high, low) = ((a << 8) | b, (c << 8) | d);
            // An IPv4 address inside an IPv6 one never passes at all.
            for hidden in [
                address.to_ipv6_compatible(),
                Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, high, low),
                Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
                Ipv6Addr::new(0x2001, 0, high, low, 0, 0, !high, !low),
            ] {
                prop_assert!(!is_global(hidden.into()), "{hidden}");
            }
        }

        #[test]
        fn no_private_ipv6_address_passes(bits: u128) {
            let address = Ipv6Addr::from_bits(bits);
            let is_special = address.is_loopback() || address.is_unspecified() || address.is_multicast()
                || address.is_unique_local() || address.is_unicast_link_local();
            prop_assert!(!(is_special && is_global(address.into())), "{address}");
        }
    }
}
