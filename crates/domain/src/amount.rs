//! Amounts of the native coin: integers in wei inside, decimal coin at the edges, never floating point.

use std::{fmt, str::FromStr};

use alloy_primitives::U256;

/// Decimals of the native coin.
pub const DECIMALS: usize = 18;

/// An amount in wei.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Wei(pub U256);

/// Why a text is not an amount of coin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AmountError {
    /// Not digits with at most one point.
    #[error("not a decimal number")]
    NotDecimal,
    /// More digits behind the point than the coin has.
    #[error("more than 18 decimals")]
    TooPrecise,
    /// Does not fit 256 bits.
    #[error("too large")]
    TooLarge,
}

impl Wei {
    /// Whole coins.
    pub fn from_coin(coin: u64) -> Self {
        Self(U256::from(coin) * unit())
    }
}

fn unit() -> U256 {
    U256::from(10u64).pow(U256::from(DECIMALS))
}

impl fmt::Display for Wei {
    /// In coin, with as many decimals as needed: `1.5`, `500`, `0.000000000000000001`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = self.0.div_rem(unit());
        if rest.is_zero() {
            return write!(f, "{whole}");
        }
        let digits = format!("{rest:0>DECIMALS$}");
        write!(f, "{whole}.{}", digits.trim_end_matches('0'))
    }
}

impl FromStr for Wei {
    type Err = AmountError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (whole, rest) = text.split_once('.').unwrap_or((text, "0"));
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if !is_number(whole) || !is_number(rest) {
            return Err(AmountError::NotDecimal);
        }
        if rest.len() > DECIMALS {
            return Err(AmountError::TooPrecise);
        }
        U256::from_str_radix(&format!("{whole}{rest:0<DECIMALS$}"), 10)
            .map(Self)
            .map_err(|_| AmountError::TooLarge)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_print_without_needless_digits() {
        for (wei, text) in [(0u64, "0"), (1, "0.000000000000000001"), (1_500_000_000_000_000_000, "1.5")] {
            assert_eq!(Wei(U256::from(wei)).to_string(), text);
        }
        assert_eq!(Wei::from_coin(100_000).to_string(), "100000");
    }

    #[test]
    fn amounts_parse_exactly_or_say_why_not() {
        assert_eq!("1.5".parse(), Ok(Wei(U256::from(1_500_000_000_000_000_000u64))));
        assert_eq!("0.000000000000000001".parse(), Ok(Wei(U256::from(1))));
        for text in ["", ".", "1.", ".5", "-1", "1e3", "1,5", "0x10", " 1"] {
            assert_eq!(text.parse::<Wei>(), Err(AmountError::NotDecimal), "{text:?}");
        }
        assert_eq!("0.0000000000000000001".parse::<Wei>(), Err(AmountError::TooPrecise));
        assert_eq!("9".repeat(80).parse::<Wei>(), Err(AmountError::TooLarge));
    }

    #[test]
    fn printing_and_parsing_agree() {
        for wei in [U256::ZERO, U256::from(7), U256::from(10).pow(U256::from(40)), U256::MAX] {
            assert_eq!(Wei(wei).to_string().parse(), Ok(Wei(wei)));
        }
    }
}
