//! The words of the audit log: who did it, and from where.

use std::{fmt, net::IpAddr, str::FromStr};

use super::{DeveloperKeyId, NotADeveloperKeyId};

/// What an actor that is a key begins with.
const KEY: &str = "key:";

/// Who did something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Actor {
    /// The wallet itself, in a session.
    Wallet,
    /// A program with this key of the wallet.
    Key(DeveloperKeyId),
    /// An operator, on the command line.
    Operator,
    /// Nobody in particular: it followed from something else.
    System,
}

/// The text names nobody who can have done something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown actor `{0}`")]
pub struct UnknownActor(String);

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wallet => f.write_str("wallet"),
            Self::Key(id) => write!(f, "{KEY}{id}"),
            Self::Operator => f.write_str("operator"),
            Self::System => f.write_str("system"),
        }
    }
}

impl FromStr for Actor {
    type Err = UnknownActor;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = |_: NotADeveloperKeyId| UnknownActor(text.to_owned());
        match text {
            "wallet" => Ok(Self::Wallet),
            "operator" => Ok(Self::Operator),
            "system" => Ok(Self::System),
            _ => match text.strip_prefix(KEY) {
                Some(id) => id.parse().map(Self::Key).map_err(unknown),
                None => Err(UnknownActor(text.to_owned())),
            },
        }
    }
}

/// The network that an address is of, without the part that tells its neighbours apart: `203.0.113.0/24`,
/// `2001:db8:1::/48`.
pub fn origin_of(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => {
            let [a, b, c, _] = address.octets();
            format!("{a}.{b}.{c}.0/24")
        }
        IpAddr::V6(address) => {
            let [a, b, c, ..] = address.segments();
            format!("{}/48", std::net::Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actors_print_and_read_back() {
        let key = "7Kq2mXc9TzPa".parse().unwrap();
        for actor in [Actor::Wallet, Actor::Key(key), Actor::Operator, Actor::System] {
            assert_eq!(actor.to_string().parse(), Ok(actor));
        }
        assert_eq!(Actor::Key(key).to_string(), "key:7Kq2mXc9TzPa");
        assert!("key:".parse::<Actor>().is_err() && "root".parse::<Actor>().is_err());
    }

    #[test]
    fn an_origin_is_a_network_and_not_a_person() {
        let origin = |text: &str| origin_of(text.parse().unwrap());
        assert_eq!(origin("203.0.113.7"), "203.0.113.0/24");
        assert_eq!(origin("::ffff:203.0.113.7"), "203.0.113.0/24");
        assert_eq!(origin("2001:db8:1:2::9"), "2001:db8:1::/48");
    }
}
