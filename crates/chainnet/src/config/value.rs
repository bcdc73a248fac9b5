//! How the text of a setting becomes a value. A refusal says what is wrong; what is allowed is said by the table.

use std::{
    fmt::{self, Display},
    net::IpAddr,
    num::NonZeroU32,
    path::PathBuf,
    str::FromStr,
};

use chain::remote::NodeUrl;
use domain::{Network, WebUrl, Wei};
use ipnet::IpNet;

use super::secret::{SecretKey, SecretUrl};

/// How log lines look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// Whose pages may read answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origins {
    /// Anybody's.
    Any,
    /// Those of these origins, `scheme://host[:port]`.
    Only(Vec<String>),
}

impl Display for Origins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Only(origins) => f.write_str(&listed(origins)),
        }
    }
}

fn parsed<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

pub(super) fn network(text: &str) -> Result<Network, String> {
    text.parse().map_err(|_| "no such network".to_owned())
}

pub(super) fn path(text: &str) -> Result<PathBuf, String> {
    Ok(PathBuf::from(text))
}

pub(super) fn host(text: &str) -> Result<IpAddr, String> {
    parsed(text)
}

pub(super) fn port(text: &str) -> Result<u16, String> {
    parsed(text)
}

/// Zero would refuse every request; whoever wants no limit says a large number.
pub(super) fn limit(text: &str) -> Result<NonZeroU32, String> {
    parsed(text)
}

pub(super) fn drain(text: &str) -> Result<u32, String> {
    match parsed(text)? {
        seconds @ 0..=300 => Ok(seconds),
        _ => Err("more than five minutes".to_owned()),
    }
}

pub(super) fn log_format(text: &str) -> Result<LogFormat, String> {
    match text {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        _ => Err("no such format".to_owned()),
    }
}

pub(super) fn log_filter(text: &str) -> Result<String, String> {
    tracing_subscriber::EnvFilter::try_new(text).map_err(|error| error.to_string())?;
    Ok(text.to_owned())
}

/// The items of a list, in order.
fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty())
}

pub(super) fn nodes(text: &str) -> Result<Vec<NodeUrl>, String> {
    let nodes = items(text).map(parsed).collect::<Result<Vec<NodeUrl>, _>>()?;
    if nodes.is_empty() { Err("no URL in it".to_owned()) } else { Ok(nodes) }
}

pub(super) fn database(text: &str) -> Result<SecretUrl, String> {
    let known = ["sqlite:", "postgres://", "postgresql://"];
    if known.iter().any(|scheme| text.starts_with(scheme) && text.len() > scheme.len()) {
        Ok(SecretUrl::new(text))
    } else {
        Err("no such database".to_owned())
    }
}

pub(super) fn redis(text: &str) -> Result<SecretUrl, String> {
    match text.strip_prefix("redis://").or_else(|| text.strip_prefix("rediss://")) {
        Some(place) if !place.is_empty() => Ok(SecretUrl::new(text)),
        Some(_) | None => Err("no such server".to_owned()),
    }
}

pub(super) fn coin(text: &str) -> Result<Wei, String> {
    parsed(text)
}

/// A price of gas, in wei. One coin for a unit of gas can only be a slip.
pub(super) fn gas_price(text: &str) -> Result<u64, String> {
    match parsed(text)? {
        price @ 0..=1_000_000_000_000_000_000 => Ok(price),
        _ => Err("more than a coin".to_owned()),
    }
}

/// Below the gas of a transfer nothing would be taken.
pub(super) fn gas_cap(text: &str) -> Result<u64, String> {
    match parsed(text)? {
        cap @ 21_000.. => Ok(cap),
        _ => Err("less than a transfer needs".to_owned()),
    }
}

pub(super) fn private_key(text: &str) -> Result<SecretKey, String> {
    text.strip_prefix("0x").ok_or("no 0x")?;
    text.parse().map(SecretKey::new).map_err(|_| "no key".to_owned())
}

pub(super) fn switch(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| "neither true nor false".to_owned())
}

pub(super) fn sender(text: &str) -> Result<String, String> {
    let address = text.rsplit_once('<').map_or(text, |(_, address)| address.trim_end_matches('>'));
    match address.split_once('@') {
        Some((name, host)) if !name.is_empty() && !host.is_empty() && !host.contains('@') => {
            Ok(text.to_owned())
        }
        _ => Err("no e-mail address".to_owned()),
    }
}

pub(super) fn origins(text: &str) -> Result<Origins, String> {
    if text.trim() == "*" {
        return Ok(Origins::Any);
    }
    let origins = items(text).map(|item| {
        let url: WebUrl = parsed(item)?;
        if url.origin() == url.as_str() {
            Ok(url.origin())
        } else {
            Err(format!("`{item}` is not an origin"))
        }
    });
    Ok(Origins::Only(origins.collect::<Result<_, String>>()?))
}

/// Networks; a bare address is a network of one.
pub(super) fn networks(text: &str) -> Result<Vec<IpNet>, String> {
    items(text)
        .map(|item| match item.parse::<IpAddr>() {
            Ok(address) => Ok(IpNet::from(address)),
            Err(_) => {
                item.parse::<IpNet>().map_err(|_| format!("`{item}` is neither an address nor a network"))
            }
        })
        .collect()
}

/// A list as it is written in a variable.
pub(super) fn listed<T: Display>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_separated_by_commas_and_may_have_spaces() {
        assert_eq!(nodes("http://a:1, http://b:2 ,").unwrap().len(), 2);
        assert!(nodes(" , ").is_err());
        assert_eq!(listed(&networks("10.0.0.0/8,::1").unwrap()), "10.0.0.0/8,::1/128");
        assert!(networks("10.0.0.0/33").unwrap_err().contains("10.0.0.0/33"));
        assert_eq!(networks("").unwrap(), []);
    }

    #[test]
    fn an_origin_has_no_path() {
        assert_eq!(origins("*").unwrap(), Origins::Any);
        let two = Origins::Only(vec!["https://a.example".to_owned(), "http://localhost:3000".to_owned()]);
        assert_eq!(origins("https://a.example,http://localhost:3000").unwrap(), two);
        for text in ["https://a.example/page", "a.example", "https://a.example,*"] {
            assert!(origins(text).is_err(), "{text}");
        }
    }

    #[test]
    fn databases_are_told_by_their_scheme_and_senders_by_their_at() {
        assert!(database("sqlite:x.db").is_ok() && database("postgres://h/d").is_ok());
        for text in ["mysql://h/d", "x.db", "postgres://", ""] {
            assert!(database(text).is_err(), "{text}");
        }
        assert!(sender("a@b.c").is_ok() && sender("Net <a@b.c>").is_ok() && sender("nobody").is_err());
    }

    #[test]
    fn redis_is_told_by_its_scheme_and_a_key_by_its_form() {
        for text in ["redis://:secret@host:6379/0", "rediss://:secret@host:6380/0"] {
            assert!(redis(text).is_ok(), "{text}");
        }
        for text in ["redis://", "rediss://", "redisss://host", "host:6379", ""] {
            assert!(redis(text).is_err(), "{text}");
        }
        let key = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
        assert!(private_key(&format!("0x{key}")).is_ok());
        assert!(private_key(key).is_err() && private_key("0x12").is_err());
        assert!(coin("0.5").is_ok() && coin("-1").is_err());
    }

    #[test]
    fn a_price_of_gas_is_in_wei_and_a_cap_leaves_room_for_a_transfer() {
        assert_eq!((gas_price("0"), gas_price("1000000000")), (Ok(0), Ok(1_000_000_000)));
        assert!(gas_price("1 gwei").is_err() && gas_price("1000000000000000001").is_err());
        assert!(gas_cap("20999").is_err() && gas_cap("21000").is_ok());
    }

    #[test]
    fn a_limit_of_nothing_is_refused() {
        assert!(limit("0").is_err() && limit("-1").is_err() && limit("1").is_ok());
    }
}
