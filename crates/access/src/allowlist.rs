//! Addresses that may use what is not for the world: the operator's own machines.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;

/// Networks that count as internal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InternalAllowlist(Vec<IpNet>);

impl InternalAllowlist {
    /// These networks and no others; with none, nobody is internal.
    pub fn new(networks: Vec<IpNet>) -> Self {
        Self(networks)
    }

    /// The networks.
    pub fn networks(&self) -> &[IpNet] {
        &self.0
    }

    /// Whether an address is internal. Behind proxies this must be the client's address and not the proxy's.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }
}

impl Default for InternalAllowlist {
    /// This machine.
    fn default() -> Self {
        let loopback_v4 = ipnet::Ipv4Net::new_assert(Ipv4Addr::new(127, 0, 0, 0), 8);
        Self(vec![loopback_v4.into(), IpNet::from(IpAddr::from(Ipv6Addr::LOCALHOST))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_internal_by_default_however_it_is_written() {
        let list = InternalAllowlist::default();
        for (address, is_internal) in [
            ("127.0.0.1", true),
            ("127.9.9.9", true),
            ("::1", true),
            ("::ffff:127.0.0.1", true),
            ("10.0.0.1", false),
            ("128.0.0.1", false),
            ("::2", false),
        ] {
            assert_eq!(list.contains(address.parse().unwrap()), is_internal, "{address}");
        }
    }

    #[test]
    fn a_list_replaces_the_default() {
        let list = InternalAllowlist::new(vec!["10.0.0.0/8".parse().unwrap()]);
        assert!(list.contains("10.1.2.3".parse().unwrap()) && !list.contains("127.0.0.1".parse().unwrap()));
        assert!(!InternalAllowlist::new(Vec::new()).contains("127.0.0.1".parse().unwrap()));
    }
}
