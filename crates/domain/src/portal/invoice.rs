//! What an invoice is made of: texts that are fit to be shown, an amount, a time to live, and the token of its payment link.

use std::{fmt, ops::RangeInclusive, str::FromStr};

use super::AMOUNT_IDR;

/// How long an invoice can be open, in minutes.
pub const INVOICE_MINUTES: RangeInclusive<u64> = 15..=43_200;
/// How long it is open when nothing is said, in minutes.
pub const DEFAULT_INVOICE_MINUTES: u64 = 1_440;

/// The alphabet of base64url (RFC 4648).
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/// Characters for 128 bits; the last one has two.
const TOKEN_LENGTH: usize = 22;
/// Bits of the last character that are not of the token.
const PADDING: u32 = 4;

/// Why a text of an invoice is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// Nothing is left without the white space around it.
    #[error("must not be empty")]
    Empty,
    /// Too many characters.
    #[error("must have at most {most} characters")]
    TooLong {
        /// How many there may be.
        most: usize,
    },
    /// A character that cannot be shown, or that changes how others are shown.
    #[error("must not have control characters")]
    Control,
    /// White space inside an identifier.
    #[error("must not have white space")]
    Space,
}

/// The amount cannot be that of an invoice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be from {} to {}", AMOUNT_IDR.start(), AMOUNT_IDR.end())]
pub struct AmountIdrError;

/// An invoice cannot be open for so long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be from {} to {}", INVOICE_MINUTES.start(), INVOICE_MINUTES.end())]
pub struct LifetimeError;

/// The text is not the token of a payment link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the token of a payment link")]
pub struct TokenError;

macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident, $parse:expr;)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name(String);

        impl $name {
            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The text.
            pub fn into_string(self) -> String {
                self.0
            }
        }

        impl FromStr for $name {
            type Err = TextError;

            fn from_str(text: &str) -> Result<Self, TextError> {
                let parse: fn(&str) -> Result<&str, TextError> = $parse;
                parse(text).map(|text| Self(text.to_owned()))
            }
        }
    )+};
}

texts! {
    /// Who is to pay, in the merchant's words: 1 to 80 characters on one line.
    CustomerLabel, |text| {
        let text = shown(text, 80, |_| false)?;
        if text.is_empty() { Err(TextError::Empty) } else { Ok(text) }
    };
    /// What it is for: up to 280 characters, on several lines if need be.
    InvoiceNote, |text| shown(text, 280, |character| matches!(character, '\n' | '\r' | '\t'));
    /// The merchant's own name for it: 1 to 64 characters without white space.
    ExternalId, |text| match text {
        "" => Err(TextError::Empty),
        _ if text.contains(char::is_whitespace) => Err(TextError::Space),
        _ => shown(text, 64, |_| false),
    };
}

impl Default for InvoiceNote {
    /// Nothing.
    fn default() -> Self {
        Self(String::new())
    }
}

/// An amount of rupiah that an invoice can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AmountIdr(u64);

/// How long an invoice is open, in minutes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvoiceLifetime(u64);

/// Names an invoice to whoever is to pay it, and to nobody else: 16 random bytes, as 22 characters of base64url.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct InvoiceToken([u8; 16]);

impl AmountIdr {
    /// The rupiah.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl TryFrom<u64> for AmountIdr {
    type Error = AmountIdrError;

    fn try_from(rupiah: u64) -> Result<Self, AmountIdrError> {
        if AMOUNT_IDR.contains(&rupiah) { Ok(Self(rupiah)) } else { Err(AmountIdrError) }
    }
}

impl InvoiceLifetime {
    /// In milliseconds.
    pub const fn millis(self) -> u64 {
        self.0 * 60_000
    }
}

impl Default for InvoiceLifetime {
    fn default() -> Self {
        Self(DEFAULT_INVOICE_MINUTES)
    }
}

impl TryFrom<u64> for InvoiceLifetime {
    type Error = LifetimeError;

    fn try_from(minutes: u64) -> Result<Self, LifetimeError> {
        if INVOICE_MINUTES.contains(&minutes) { Ok(Self(minutes)) } else { Err(LifetimeError) }
    }
}

impl InvoiceToken {
    /// The token with these bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Its bytes, as they are stored.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Display for InvoiceToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = u128::from_be_bytes(self.0);
        let digits = (1..22).map(|place| number >> (128 - 6 * place)).chain([number << PADDING]);
        let characters = digits.filter_map(|digit| ALPHABET.get(digit as usize & 63));
        f.write_str(&characters.map(|&character| char::from(character)).collect::<String>())
    }
}

impl fmt::Debug for InvoiceToken {
    /// Whoever knows a token may look at the invoice, so that it stays out of logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InvoiceToken(…)")
    }
}

impl FromStr for InvoiceToken {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Self, TokenError> {
        let digit = |character| ALPHABET.iter().position(|known| *known == character);
        let digits: Option<Vec<usize>> = text.bytes().take(TOKEN_LENGTH + 1).map(digit).collect();
        let digits = digits.filter(|digits| digits.len() == TOKEN_LENGTH).ok_or(TokenError)?;
        let (last, rest) = digits.split_last().ok_or(TokenError)?;
        // One token has one spelling.
        if last & ((1 << PADDING) - 1) != 0 {
            return Err(TokenError);
        }
        let number = rest.iter().fold(0u128, |number, digit| (number << 6) | *digit as u128);
        let number = (number << (6 - PADDING)) | (*last as u128 >> PADDING);
        Ok(Self(number.to_be_bytes()))
    }
}

/// The text without white space around it, if all of it can be shown.
fn shown(text: &str, most: usize, is_allowed: fn(char) -> bool) -> Result<&str, TextError> {
    let text = text.trim();
    if text.chars().any(|character| is_control(character) && !is_allowed(character)) {
        return Err(TextError::Control);
    }
    // As many bytes as characters at least: a long text is not counted to its end.
    if text.chars().nth(most).is_some() { Err(TextError::TooLong { most }) } else { Ok(text) }
}

/// Characters that are not seen, and those that make others be seen in another order.
fn is_control(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_are_trimmed_and_counted_in_characters() {
        assert_eq!("  Budi #1042 ".parse::<CustomerLabel>().unwrap().as_str(), "Budi #1042");
        assert!("é".repeat(80).parse::<CustomerLabel>().is_ok());
        assert_eq!("é".repeat(81).parse::<CustomerLabel>(), Err(TextError::TooLong { most: 80 }));
        assert_eq!(" \t ".parse::<CustomerLabel>(), Err(TextError::Empty));
        assert_eq!("".parse::<InvoiceNote>().unwrap().as_str(), "");
        assert_eq!("Kopi\nsusu".parse::<InvoiceNote>().unwrap().as_str(), "Kopi\nsusu");
        assert!("n".repeat(280).parse::<InvoiceNote>().is_ok());
        assert_eq!("n".repeat(281).parse::<InvoiceNote>(), Err(TextError::TooLong { most: 280 }));
        assert_eq!("ORD-1042".parse::<ExternalId>().unwrap().as_str(), "ORD-1042");
        assert_eq!("".parse::<ExternalId>(), Err(TextError::Empty));
        assert_eq!("ORD 1042".parse::<ExternalId>(), Err(TextError::Space));
        assert_eq!("x".repeat(65).parse::<ExternalId>(), Err(TextError::TooLong { most: 64 }));
    }

    #[test]
    fn what_cannot_be_shown_is_refused() {
        for text in ["a\0b", "a\nb", "a\u{1b}[31m", "a\u{202e}b", "a\u{85}b", "a\u{2028}b"] {
            assert_eq!(text.parse::<CustomerLabel>(), Err(TextError::Control), "{text:?}");
        }
        for text in ["a\0b", "a\u{7f}b", "a\u{2066}b"] {
            assert_eq!(text.parse::<InvoiceNote>(), Err(TextError::Control), "{text:?}");
            assert_eq!(text.parse::<ExternalId>(), Err(TextError::Control), "{text:?}");
        }
    }

    #[test]
    fn amounts_and_lifetimes_have_both_their_ends() {
        for (amount, is_good) in
            [(0, false), (999, false), (1_000, true), (1_000_000_000_000, true), (1_000_000_000_001, false)]
        {
            assert_eq!(AmountIdr::try_from(amount).is_ok(), is_good, "{amount}");
        }
        for (minutes, is_good) in [(14, false), (15, true), (43_200, true), (43_201, false)] {
            assert_eq!(InvoiceLifetime::try_from(minutes).is_ok(), is_good, "{minutes}");
        }
        assert_eq!(InvoiceLifetime::default().millis(), 24 * 3_600_000);
        assert_eq!(AmountIdrError.to_string(), "must be from 1000 to 1000000000000");
    }

    #[test]
    fn a_token_is_base64url() {
        let token = InvoiceToken::from_bytes([0xff; 16]);
        assert_eq!(token.to_string(), "_____________________w");
        assert_eq!(InvoiceToken::from_bytes(*b"0123456789abcdef").to_string(), "MDEyMzQ1Njc4OWFiY2RlZg");
        assert_eq!(format!("{token:?}"), "InvoiceToken(…)");
        for text in ["", "_____________________x", "____________________w", "______________________w", "é"] {
            assert_eq!(text.parse::<InvoiceToken>(), Err(TokenError), "{text}");
        }
    }

    proptest! {
        #[test]
        fn tokens_print_and_read_back(bytes: [u8; 16]) {
            let token = InvoiceToken::from_bytes(bytes);
            let text = token.to_string();
            prop_assert_eq!(text.len(), TOKEN_LENGTH);
            prop_assert_eq!(text.parse(), Ok(token));
        }

        #[test]
        fn whatever_is_read_can_be_shown_and_reads_back(text in "\\PC{0,100}|.{0,100}") {
            if let Ok(label) = text.parse::<CustomerLabel>() {
                prop_assert!((1..=80).contains(&label.as_str().chars().count()));
                prop_assert!(!label.as_str().contains(char::is_control));
                prop_assert_eq!(label.as_str().parse(), Ok(label.clone()));
            }
            if let Ok(id) = text.parse::<ExternalId>() {
                prop_assert_eq!(id.as_str(), text);
            }
        }
    }
}
