//! Numbers as callers write them: hex or decimal, in quotes or bare. Besu reads both forms.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{Error, Visitor},
};

/// A number in any of these forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number(pub(super) u64);

/// Reads `0x1f` or `31`.
pub(super) fn parse_number(text: &str) -> Option<u64> {
    let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    // The parser of the standard library takes a sign, which a quantity has not.
    if hex.unwrap_or(text).starts_with('+') {
        return None;
    }
    match hex {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, hex or decimal")
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Number, E> {
        Ok(Number(value))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Number, E> {
        parse_number(text).map(Number).ok_or_else(|| E::custom("not a number"))
    }
}
