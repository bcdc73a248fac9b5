//! Ids of the portal's objects: a time and a random part in 16 bytes, so that newer ones sort behind older ones.
//!
//! Printed as a prefix that says what it is and 26 characters of Crockford's base 32 in lower case. Stored as the bytes,
//! which both databases compare alike.

use std::{fmt, str::FromStr};

/// Crockford's alphabet: no `i`, `l`, `o` and `u`.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// Characters for 128 bits; the first one has three.
const LENGTH: usize = 26;
/// Bits of the time, in milliseconds.
const TIME_BITS: u32 = 48;

/// The text is not an id of this kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an id that begins with `{prefix}`")]
pub struct IdError {
    prefix: &'static str,
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal,)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name([u8; 16]);

        impl $name {
            /// What the text of such an id begins with.
            pub const PREFIX: &'static str = $prefix;

            /// An id of this moment, in Unix milliseconds, with a random part of which 80 bits count.
            pub fn new(millis: u64, random: u128) -> Self {
                Self(mint(millis, random))
            }

            /// The id with these bytes.
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(bytes)
            }

            /// When it was made, in Unix milliseconds.
            pub const fn millis(&self) -> u64 {
                let [a, b, c, d, e, f, ..] = self.0;
                u64::from_be_bytes([0, 0, a, b, c, d, e, f])
            }

            /// Its bytes, as they are stored.
            pub const fn as_bytes(&self) -> &[u8; 16] {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($prefix)?;
                f.write_str(&print(self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let read = text.strip_prefix($prefix).and_then(read);
                read.map(Self).ok_or(IdError { prefix: $prefix })
            }
        }
    )+};
}

ids! {
    /// Names a challenge to sign.
    ChallengeId = "chl_",
    /// Names a wallet's session.
    SessionId = "ses_",
    /// Names an order.
    OrderId = "ord_",
    /// Names an invoice.
    InvoiceId = "inv_",
    /// Names a payment.
    PaymentId = "pay_",
    /// Names an event.
    EventId = "evt_",
    /// Names the delivery of an event.
    DeliveryId = "dlv_",
    /// Names an entry of the audit log.
    AuditId = "aud_",
}

fn mint(millis: u64, random: u128) -> [u8; 16] {
    let time = u128::from(millis) << (128 - TIME_BITS);
    (time | (random >> TIME_BITS)).to_be_bytes()
}

fn print(bytes: [u8; 16]) -> String {
    let number = u128::from_be_bytes(bytes);
    (0..LENGTH)
        .rev()
        .filter_map(|place| ALPHABET.get((number >> (5 * place)) as usize & 31))
        .map(|&character| char::from(character))
        .collect()
}

fn read(text: &str) -> Option<[u8; 16]> {
    // The first character has room for two bits more than there are.
    if text.len() != LENGTH || text.as_bytes().first().is_none_or(|first| *first > b'7') {
        return None;
    }
    let number = text.bytes().try_fold(0u128, |number, character| {
        let digit = ALPHABET.iter().position(|known| *known == character)?;
        Some((number << 5) | digit as u128)
    });
    number.map(u128::to_be_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_print_read_back_and_sort_by_time() {
        let early = InvoiceId::new(1_767_225_600_000, u128::MAX);
        let late = InvoiceId::new(1_767_225_600_001, 0);
        assert!(early < late && early.to_string() < late.to_string());
        assert_eq!(late.to_string().parse(), Ok(late));
        assert_eq!(late.to_string().len(), 30);
        assert_eq!((early.millis(), late.millis()), (1_767_225_600_000, 1_767_225_600_001));
        assert_eq!(InvoiceId::from_bytes(*late.as_bytes()), late);
    }

    #[test]
    fn other_texts_are_no_ids() {
        let id = InvoiceId::new(5, 7).to_string();
        let upper = id.to_uppercase();
        let too_large = format!("inv_8{}", &id[5..]);
        for text in
            ["", "inv_", &id[1..], &id[..29], &format!("{id}0"), &upper, &too_large, &id.replace('0', "u")]
        {
            assert_eq!(text.parse::<InvoiceId>(), Err(IdError { prefix: "inv_" }), "{text}");
        }
        assert!(id.parse::<OrderId>().is_err());
    }
}
