//! Shares and percentages of the validator pages, as text and as bars.

use std::fmt::{self, Display};

use alloy_primitives::U256;
use askama::filters::HtmlSafe;

/// What stands where nothing is known.
pub(super) const UNKNOWN: &str = "–";

/// Millionths as percent with two decimals, rounded down: `99.98%`.
pub(super) fn ppm_percent(ppm: u32) -> String {
    format!("{}.{:02}%", ppm / 10_000, ppm % 10_000 / 100)
}

/// Basis points as percent, as short as it can be: `5%`, `7.25%`.
pub(super) fn bps_percent(bps: u16) -> String {
    match (bps / 100, bps % 100) {
        (whole, 0) => format!("{whole}%"),
        (whole, rest) if rest % 10 == 0 => format!("{whole}.{}%", rest / 10),
        (whole, rest) => format!("{whole}.{rest:02}%"),
    }
}

/// A part of a whole in thousandths, rounded down, at most all.
pub(super) fn permille(part: U256, whole: U256) -> u16 {
    let share = part.saturating_mul(U256::from(1_000)).checked_div(whole).unwrap_or_default();
    share.min(U256::from(1_000)).to::<u16>()
}

/// A share in thousandths: percent, and a bar beside it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share(pub(super) u16);

impl Share {
    /// In percent.
    pub(super) fn percent(self) -> String {
        format!("{}.{}%", self.0 / 10, self.0 % 10)
    }
}

impl Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<small>{}</small>{}", self.percent(), Bar(self.0))
    }
}

impl HtmlSafe for Share {}

/// A bar that is filled to so many thousandths. The number stands beside it, so that it is only for the eye.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bar(pub(super) u16);

impl Display for Bar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let filled = self.0.min(1_000);
        write!(
            f,
            "<svg class=\"share\" viewBox=\"0 0 1000 1\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\
             <path d=\"M0 0h{filled}v1H0z\"/></svg>"
        )
    }
}

impl HtmlSafe for Bar {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_never_rounded_up() {
        assert_eq!(ppm_percent(999_999), "99.99%");
        assert_eq!(ppm_percent(1_000_000), "100.00%");
        for (bps, text) in [(0, "0%"), (500, "5%"), (725, "7.25%"), (1_050, "10.5%"), (1_005, "10.05%")] {
            assert_eq!(bps_percent(bps), text);
        }
        let of = |part: u64, whole: u64| permille(U256::from(part), U256::from(whole));
        assert_eq!((of(1, 3), of(3, 3), of(5, 3), of(1, 0)), (333, 1_000, 1_000, 0));
        assert_eq!(Share(204).percent(), "20.4%");
    }
}
