//! A limit that is the same for everybody who is counted, such as requests of a client to the REST API.

use std::{fmt, hash::Hash, num::NonZeroU32};

use domain::portal::{DeveloperKeyId, InvoiceToken};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::{
    Allowance, Limiter, Quota, Subject, local,
    table::{Record, Table},
    window::{self, MINUTE_MS, Window},
};
use crate::Client;

/// Whoever or whatever is counted, as one number among its kind.
pub trait Counted: Copy + Eq + Hash {
    /// The number.
    fn number(self) -> u128;
}

impl Counted for Client {
    fn number(self) -> u128 {
        match self {
            // As IPv6 writes an IPv4 address, which is no network of 64 bits.
            Self::V4(address) => address.to_ipv6_mapped().to_bits(),
            Self::V6(network) => u128::from(u64::from_be_bytes(network)) << 64,
        }
    }
}

impl Counted for InvoiceToken {
    /// Whoever knows a token may look at the invoice, so that no other process is told it.
    fn number(self) -> u128 {
        let digest = Sha256::digest(self.as_bytes());
        digest.iter().take(16).fold(0, |number, byte| number << 8 | u128::from(*byte))
    }
}

impl Counted for DeveloperKeyId {
    fn number(self) -> u128 {
        self.as_str().bytes().fold(0, |number, byte| number << 8 | u128::from(byte))
    }
}

/// Where limits that are the same for everybody are counted.
#[derive(Clone, Default)]
pub struct Counting {
    /// None: in this process alone.
    shared: Option<Limiter>,
}

impl Counting {
    /// With all processes that this limiter shares its limits with.
    pub fn shared(limiter: Limiter) -> Self {
        Self { shared: Some(limiter) }
    }

    /// A limiter of so many requests per minute for each who is counted; with 0 it grants none. `purpose` tells limits of the
    /// same clients apart.
    pub fn limiter<K: Counted>(&self, purpose: &'static str, per_minute: u32) -> UniformLimiter<K> {
        let kind = match (&self.shared, NonZeroU32::new(per_minute)) {
            (Some(limiter), Some(limit)) => {
                Kind::Shared { limiter: limiter.clone(), quota: Quota::per_minute(limit), purpose }
            }
            (_, _) => Kind::Alone { clients: Box::new(Table::new(MINUTE_MS)), limit: per_minute },
        };
        UniformLimiter(kind)
    }
}

impl fmt::Debug for Counting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.shared.is_some() { "Counting(shared)" } else { "Counting(alone)" })
    }
}

/// Grants everybody the same. Made by [`Counting::limiter`].
pub struct UniformLimiter<K = Client>(Kind<K>);

enum Kind<K> {
    Alone { clients: Box<Table<K, Window>>, limit: u32 },
    Shared { limiter: Limiter, quota: Quota, purpose: &'static str },
}

impl Record for Window {
    fn matters_until(&self) -> u64 {
        self.matters_until()
    }

    fn used(&self) -> u32 {
        self.used()
    }
}

impl<K: Counted> UniformLimiter<K> {
    /// Counts one request. Where limits are shared, it may wait for this process's part of them.
    pub async fn take(&self, who: K, now: Timestamp) -> Allowance {
        match &self.0 {
            Kind::Alone { clients, limit } => {
                let now = window::milliseconds(now);
                clients.with(who, now, |window| local::count(window, *limit, now))
            }
            Kind::Shared { limiter, quota, purpose } => {
                let subject = Subject::Counted { purpose, number: who.number() };
                limiter.take_in_time(subject, *quota, 1, now).await
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    #[test]
    fn different_clients_have_different_numbers() {
        let number = |text: &str| Client::from(text.parse::<IpAddr>().unwrap()).number();
        assert_eq!(number("192.0.2.1"), number("::ffff:192.0.2.1"));
        assert_eq!(number("2001:db8::1"), number("2001:db8::2"), "one network");
        let all = ["192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8:0:1::1", "::1"].map(number);
        assert_eq!(all.iter().collect::<std::collections::HashSet<_>>().len(), all.len());
    }

    #[test]
    fn a_token_cannot_be_read_from_its_number() {
        let token = InvoiceToken::from_bytes([7; 16]);
        assert_ne!(token.number(), u128::from_be_bytes([7; 16]));
        assert_eq!(token.number(), InvoiceToken::from_bytes([7; 16]).number());
    }

    #[tokio::test]
    async fn alone_a_limit_is_counted_here_and_none_grants_nothing() {
        let (now, client) = (Timestamp::UNIX_EPOCH, Client::V6([1; 8]));
        let limiter = Counting::default().limiter("requests", 2);
        for expected in [true, true, false] {
            assert_eq!(limiter.take(client, now).await.is_granted, expected);
        }
        assert!(!Counting::default().limiter("requests", 0).take(client, now).await.is_granted);
    }
}
