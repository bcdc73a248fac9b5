//! The commands about access: keys of the gateway, the faucet's wallets, partners.

use std::{net::IpAddr, num::NonZeroU32, time::Duration};

use alloy_primitives::Address;
use clap::{Args, Subcommand};
use domain::{KeyId, Permissions, Team, parse_address};
use ipnet::IpNet;
use jiff::{Timestamp, civil::Date, tz::TimeZone};

/// `chainnet keys …`.
#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Make a key and print it, this once.
    Issue(Issue),
    /// List all keys, oldest first, without their secrets.
    List {
        /// Print one JSON array.
        #[arg(long)]
        json: bool,
    },
    /// Take a key back: every gateway refuses it within a second, for good.
    Revoke {
        /// The key's id: what stands between the underscores.
        id: KeyId,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Make a key on the terms of another, which stays good for a while.
    Rotate {
        /// The id of the key to replace.
        id: KeyId,
        /// How long the old key stays good: 0s, 30m, 24h, 7d.
        #[arg(long, value_name = "TIME", default_value = "24h", value_parser = parse_span)]
        overlap: Duration,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Show what keys were used for, by day (UTC).
    Usage {
        /// Only this key.
        id: Option<KeyId>,
        /// How many days back, today included.
        #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=366))]
        days: u32,
        /// Print one JSON array.
        #[arg(long)]
        json: bool,
    },
}

/// `chainnet keys issue`.
#[derive(Debug, Args)]
pub struct Issue {
    /// Whose key it is.
    #[arg(long)]
    pub team: Team,
    /// What it may be used for: rpc, faucet, explorer.
    #[arg(long, value_name = "LIST")]
    pub permissions: Permissions,
    /// What else it is to be.
    #[command(flatten)]
    pub bounds: KeyBounds,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// The bounds of a new key.
#[derive(Debug, Args)]
pub struct KeyBounds {
    /// Where it may be used from: addresses and networks such as 10.0.0.0/8 [default: everywhere].
    #[arg(long, value_name = "NETWORKS", value_delimiter = ',', value_parser = parse_network)]
    pub cidr: Vec<IpNet>,
    /// When it ends: 2027-01-31, 2027-01-31T12:00:00Z, or from now on: 90d [default: never].
    #[arg(long, value_name = "WHEN", value_parser = parse_expiry)]
    pub expires: Option<Expiry>,
    /// Requests it may make in a minute [default: that of the setting].
    #[arg(long, value_name = "NUMBER")]
    pub limit: Option<NonZeroU32>,
}

/// `chainnet allowlist …`.
#[derive(Debug, Subcommand)]
pub enum AllowlistCommand {
    /// Let the faucet pay a wallet.
    Add {
        /// The wallet.
        #[arg(value_parser = parse_wallet)]
        wallet: Address,
        /// Whose wallet it is.
        #[arg(long)]
        team: Team,
        /// Why it is there.
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
    },
    /// Let the faucet pay it no longer.
    Remove {
        /// The wallet.
        #[arg(value_parser = parse_wallet)]
        wallet: Address,
    },
    /// List the wallets, oldest first.
    List {
        /// Print one JSON array.
        #[arg(long)]
        json: bool,
    },
}

/// `chainnet partner …`.
#[derive(Debug, Subcommand)]
pub enum PartnerCommand {
    /// Make a key for a team and let the faucet pay its wallet: both, or neither.
    Add(PartnerAdd),
}

/// `chainnet partner add`.
#[derive(Debug, Args)]
pub struct PartnerAdd {
    /// The partner.
    #[arg(long)]
    pub team: Team,
    /// Its wallet.
    #[arg(long, value_name = "ADDRESS", value_parser = parse_wallet)]
    pub wallet: Address,
    /// What the key may be used for.
    #[arg(long, value_name = "LIST", default_value = "rpc,faucet,explorer")]
    pub permissions: Permissions,
    /// What else the key is to be.
    #[command(flatten)]
    pub bounds: KeyBounds,
    /// Why the wallet is on the list.
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// The end of a key, as it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// At a time.
    At(Timestamp),
    /// So long from now on.
    After(Duration),
}

impl Expiry {
    /// The time itself; none when it is too far away to be written.
    pub(crate) fn time(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::At(time) => Some(time),
            Self::After(span) => now.checked_add(span).ok(),
        }
    }
}

fn parse_expiry(text: &str) -> Result<Expiry, String> {
    if let Ok(span) = parse_span(text) {
        return Ok(Expiry::After(span));
    }
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(Expiry::At(time));
    }
    let midnight = Date::strptime("%Y-%m-%d", text).and_then(|date| date.to_zoned(TimeZone::UTC));
    midnight
        .map(|midnight| Expiry::At(midnight.timestamp()))
        .map_err(|_| "no time: 2027-01-31, 2027-01-31T12:00:00Z or 90d are".to_owned())
}

fn parse_span(text: &str) -> Result<Duration, String> {
    let refuse = || "no span of time: 0s, 30m, 24h or 7d are".to_owned();
    let units = [('s', 1), ('m', 60), ('h', 3_600), ('d', 86_400)];
    let (number, seconds): (&str, u64) = units
        .into_iter()
        .find_map(|(unit, seconds)| text.strip_suffix(unit).map(|number| (number, seconds)))
        .ok_or_else(refuse)?;
    // A number may have a sign where it is parsed, but not here.
    let number: Option<u64> = number.parse().ok().filter(|_| !number.starts_with('+'));
    number.and_then(|number| number.checked_mul(seconds)).map(Duration::from_secs).ok_or_else(refuse)
}

/// A network; a bare address is a network of one, and bits behind the network do not count.
fn parse_network(text: &str) -> Result<IpNet, String> {
    let text = text.trim();
    if let Ok(address) = text.parse::<IpAddr>() {
        return Ok(IpNet::from(address.to_canonical()));
    }
    let network = text.parse::<IpNet>().map_err(|_| "neither an address nor a network".to_owned())?;
    Ok(network.trunc())
}

pub(super) fn parse_wallet(text: &str) -> Result<Address, String> {
    parse_address(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_a_number_and_a_unit() {
        for (text, seconds) in [("0s", 0), ("90s", 90), ("30m", 1_800), ("24h", 86_400), ("7d", 604_800)] {
            assert_eq!(parse_span(text), Ok(Duration::from_secs(seconds)));
        }
        for text in [
            "",
            "d",
            "7",
            "7w",
            "-1d",
            "1.5h",
            "7dd",
            "d7",
            "99999999999999999999d",
            "999999999999999999d",
            "7é",
        ] {
            assert!(parse_span(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_expiry_is_a_date_a_time_or_a_span() {
        let now = Timestamp::UNIX_EPOCH;
        for (text, seconds) in [("1970-01-02", 86_400), ("1970-01-01T00:00:07Z", 7), ("1d", 86_400)] {
            let time = parse_expiry(text).unwrap().time(now).unwrap();
            assert_eq!(time.as_second(), seconds, "{text}");
        }
        for text in ["", "tomorrow", "1970-13-01", "1970-01-01T00:00:07"] {
            assert!(parse_expiry(text).is_err(), "{text}");
        }
        assert_eq!(parse_expiry("999999999999d").unwrap().time(now), None);
    }

    #[test]
    fn networks_are_written_without_the_bits_behind_them() {
        for (text, network) in
            [("10.1.2.3/8", "10.0.0.0/8"), ("::1", "::1/128"), ("::ffff:1.2.3.4", "1.2.3.4/32")]
        {
            assert_eq!(parse_network(text).unwrap().to_string(), network);
        }
        assert!(parse_network("10.0.0.0/33").is_err() && parse_network("example.org").is_err());
    }
}
