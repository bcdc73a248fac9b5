//! Any text as the URL of a webhook, and any bytes as the address that its name leads to.
//!
//! What passes is https to a public name on an allowed port and reads the same again; no address that only we can reach is
//! taken for one of the internet at large, whatever clothes it wears.

#![no_main]

#[allow(dead_code, reason = "a part of the file is fuzzed")]
#[path = "../../crates/webhooks/src/guard/address.rs"]
mod address;
#[allow(dead_code, reason = "a part of the file is fuzzed")]
#[path = "../../crates/webhooks/src/guard/url.rs"]
mod guarded;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use guarded::GuardSettings;
use libfuzzer_sys::fuzz_target;
use url::Host;

fuzz_target!(|data: &[u8]| {
    if let Ok(bytes) = <[u8; 4]>::try_from(data) {
        let v4 = Ipv4Addr::from(bytes);
        assert_eq!(address::is_global(v4.into()), address::is_global(v4.to_ipv6_mapped().into()));
        let is_inside = v4.is_private() || v4.is_loopback() || v4.is_link_local() || v4.is_unspecified();
        assert!(!(is_inside && address::is_global(v4.into())), "{v4}");
    }
    if let Ok(bytes) = <[u8; 16]>::try_from(data) {
        let v6 = Ipv6Addr::from(bytes);
        let is_inside = v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local() || v6.is_multicast();
        assert!(!(is_inside && address::is_global(v6.into())), "{v6}");
    }
    let Ok(text) = std::str::from_utf8(data) else { return };
    let strict = GuardSettings { own_hosts: vec!["chainnet.example".to_owned()], ..GuardSettings::default() };
    let Ok(url) = guarded::read(text, &strict) else { return };
    assert_eq!((url.scheme(), url.port_or_known_default()), ("https", Some(443)));
    assert!(url.username().is_empty() && url.password().is_none() && url.fragment().is_none());
    let Some(Host::Domain(name)) = url.host() else { panic!("an address passed: {url}") };
    assert!(name.contains('.') && !name.ends_with('.') && name.parse::<IpAddr>().is_err(), "{url}");
    assert!(name != "chainnet.example" && !name.ends_with(".chainnet.example"), "{url}");
    assert_eq!(guarded::read(url.as_str(), &strict).as_ref(), Ok(&url), "it reads otherwise the second time");
});
