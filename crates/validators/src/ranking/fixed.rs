//! Numbers with a fixed number of decimals, and the one logarithm. No floating point: two machines must rank alike.

use std::fmt;

use alloy_primitives::{U256, uint};

/// A part of one, in millionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Fraction(u32);

impl Fraction {
    const ONE_PPM: u32 = 1_000_000;
    /// All of it.
    pub const ONE: Self = Self(Self::ONE_PPM);
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// So many millionths, at most all.
    pub const fn from_ppm(ppm: u32) -> Self {
        if ppm > Self::ONE_PPM { Self::ONE } else { Self(ppm) }
    }

    /// `part` of `whole`, rounded down, at most all; nothing of nothing.
    pub fn of(part: u128, whole: u128) -> Self {
        if whole == 0 {
            return Self::ZERO;
        }
        let ppm = U256::from(part) * U256::from(Self::ONE_PPM) / U256::from(whole);
        Self(u32::try_from(ppm).unwrap_or(Self::ONE_PPM).min(Self::ONE_PPM))
    }

    /// In millionths.
    pub const fn ppm(self) -> u32 {
        self.0
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}", self.0 / Self::ONE_PPM, self.0 % Self::ONE_PPM)
    }
}

/// Points of a score, in hundredths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Points(u32);

impl Points {
    /// So many hundredths of a point.
    pub const fn from_hundredths(hundredths: u32) -> Self {
        Self(hundredths)
    }

    /// `part` of so many whole points, rounded to the nearest hundredth, halves up.
    pub fn part_of(weight: u8, part: Fraction) -> Self {
        let exact = u64::from(weight) * u64::from(part.ppm());
        // weight * ppm is in millionths of a point; a hundredth has ten thousand of them.
        Self(u32::try_from((exact + 5_000) / 10_000).unwrap_or(u32::MAX))
    }

    /// In hundredths.
    pub const fn hundredths(self) -> u32 {
        self.0
    }

    /// As the number that JSON carries: two decimals at most.
    pub fn to_f64(self) -> f64 {
        f64::from(self.0) / 100.0
    }

    /// The sum.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference, not below zero.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl fmt::Display for Points {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}", self.0 / 100, self.0 % 100)
    }
}

/// Bits behind the point of the logarithm.
const LOG_BITS: u32 = 32;
/// Bits behind the point of its argument: the square of a mantissa below 2 must fit 128 bits.
const ARGUMENT_BITS: usize = 63;
/// Above this the argument is cut off, far beyond any supply of coin.
const LARGEST: U256 = uint!(0x1_0000000000000000_0000000000000000_U256);

/// `log2(1 + amount / unit)` with 32 bits behind the point, rounded down.
pub(super) fn log2_of_one_plus(amount: U256, unit: U256) -> u64 {
    let Some(units) = (amount.min(LARGEST) << ARGUMENT_BITS).checked_div(unit) else { return 0 };
    let argument = units + (U256::ONE << ARGUMENT_BITS);
    let whole = argument.bit_len() - 1 - ARGUMENT_BITS;
    let mut mantissa: u128 = (argument >> whole).to();
    let mut log = (whole as u64) << LOG_BITS;
    for bit in (0..LOG_BITS).rev() {
        mantissa = (mantissa * mantissa) >> ARGUMENT_BITS;
        if mantissa >> (ARGUMENT_BITS + 1) != 0 {
            mantissa >>= 1;
            log |= 1 << bit;
        }
    }
    log
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_logarithm_of_powers_of_two_is_exact() {
        for power in 0..60u32 {
            let amount = (U256::ONE << power as usize) - U256::ONE;
            assert_eq!(log2_of_one_plus(amount, U256::ONE), u64::from(power) << LOG_BITS);
        }
        assert_eq!(log2_of_one_plus(U256::MAX, U256::ONE) >> LOG_BITS, 128);
        assert_eq!(log2_of_one_plus(U256::MAX, U256::ZERO), 0);
    }

    #[test]
    fn points_and_fractions_print_all_their_decimals() {
        assert_eq!(Points::from_hundredths(9_705).to_string(), "97.05");
        assert_eq!(Fraction::of(1, 3).to_string(), "0.333333");
        assert_eq!(Fraction::of(5, 3), Fraction::ONE);
        assert_eq!(Fraction::of(5, 0), Fraction::ZERO);
        assert_eq!(Points::part_of(45, Fraction::ONE).to_string(), "45.00");
    }

    proptest! {
        #[test]
        fn the_logarithm_is_that_of_floating_point(amount in any::<u64>(), unit in 1u64..) {
            let ours = log2_of_one_plus(U256::from(amount), U256::from(unit)) as f64 / f64::from(2u32).powi(32);
            let theirs = (amount as f64 / unit as f64).ln_1p() / std::f64::consts::LN_2;
            prop_assert!((ours - theirs).abs() < 1e-8, "{} {}", ours, theirs);
        }
    }
}
