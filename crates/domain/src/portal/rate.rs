//! From rupiah to coin, in integers.

use std::{fmt, ops::RangeInclusive, str::FromStr};

use alloy_primitives::U256;

use crate::Wei;

/// Amounts that an invoice can have, in rupiah.
pub const AMOUNT_IDR: RangeInclusive<u64> = 1_000..=1_000_000_000_000;

/// Decimals of a rate.
const DECIMALS: usize = 8;
/// Most that a coin can cost: beyond, an invoice might cost less than a wei.
const MOST_E8: u64 = 1_000_000_000 * 100_000_000;

/// What a coin costs, in rupiah with eight decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Rate(u64);

/// Why a text is no rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RateError {
    /// Not digits with at most one point and eight decimals.
    #[error("a rate is a decimal number of rupiah with at most eight decimals")]
    NotDecimal,
    /// Zero, or more than any coin costs.
    #[error("a rate is more than 0 and at most 1000000000 rupiah")]
    OutOfRange,
}

impl Rate {
    /// The rate of so many hundred-millionths of a rupiah.
    pub const fn from_e8(e8: u64) -> Option<Self> {
        if e8 > 0 && e8 <= MOST_E8 { Some(Self(e8)) } else { None }
    }

    /// Hundred-millionths of a rupiah.
    pub const fn e8(self) -> u64 {
        self.0
    }

    /// What an amount of rupiah costs in coin, rounded up: the merchant never gets less than was asked for.
    pub fn price(self, amount_idr: u64) -> Wei {
        let scaled = U256::from(amount_idr) * U256::from(10).pow(U256::from(18 + DECIMALS));
        Wei(scaled.div_ceil(U256::from(self.0)))
    }

    /// The rate at which an amount of rupiah cost this much, to the nearest hundred-millionth.
    pub fn of_price(amount_idr: u64, price: Wei) -> Option<Self> {
        let scaled = U256::from(amount_idr) * U256::from(10).pow(U256::from(18 + DECIMALS));
        let nearest = (scaled + price.0 / U256::from(2)).checked_div(price.0)?;
        u64::try_from(nearest).ok().and_then(Self::from_e8)
    }
}

impl fmt::Display for Rate {
    /// In rupiah, with as many decimals as needed: `1000`, `1234.56789012`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 100_000_000, self.0 % 100_000_000);
        if rest == 0 {
            return write!(f, "{whole}");
        }
        let digits = format!("{rest:0>DECIMALS$}");
        write!(f, "{whole}.{}", digits.trim_end_matches('0'))
    }
}

impl FromStr for Rate {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (whole, rest) = text.split_once('.').unwrap_or((text, "0"));
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(whole) || !is_number(rest) || rest.len() > DECIMALS {
            return Err(RateError::NotDecimal);
        }
        let e8 = format!("{whole}{rest:0<DECIMALS$}").parse().map_err(|_| RateError::OutOfRange)?;
        Self::from_e8(e8).ok_or(RateError::OutOfRange)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_rounded_up() {
        let rate: Rate = "1234.56789012".parse().unwrap();
        assert_eq!(rate.price(150_000).0, U256::from(121_500_001_093_840_209_848u128));
        assert_eq!("1000".parse::<Rate>().unwrap().price(150_000), Wei::from_coin(150));
        let dear = Rate::from_e8(MOST_E8).unwrap();
        assert!(dear.price(*AMOUNT_IDR.start()).0 > U256::ZERO);
    }

    #[test]
    fn rates_print_and_read_back() {
        for text in ["1000", "0.00000001", "1234.56789012", "1000000000"] {
            assert_eq!(text.parse::<Rate>().unwrap().to_string(), text);
        }
        for (text, error) in [
            ("", RateError::NotDecimal),
            ("-1", RateError::NotDecimal),
            ("1e3", RateError::NotDecimal),
            ("1.000000001", RateError::NotDecimal),
            ("0", RateError::OutOfRange),
            ("1000000000.00000001", RateError::OutOfRange),
            ("99999999999999999999999", RateError::OutOfRange),
        ] {
            assert_eq!(text.parse::<Rate>(), Err(error), "{text}");
        }
    }

    #[test]
    fn a_rate_is_found_again_in_what_was_paid() {
        for rate in ["1000", "15342.5", "0.00000001", "999999.12345678"] {
            let rate: Rate = rate.parse().unwrap();
            for amount in [1_000, 75_000, 1_000_000_000_000] {
                assert_eq!(Rate::of_price(amount, rate.price(amount)), Some(rate), "{rate} {amount}");
            }
        }
        assert_eq!(Rate::of_price(1_000, Wei::default()), None);
    }
}
