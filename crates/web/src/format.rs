//! Numbers, amounts and times as people read them.

use std::fmt;

use alloy_primitives::U256;
use domain::Wei;
use jiff::Timestamp;

use crate::words::Language;

/// Decimals of an amount in a table; the exact amount is in its title.
const TABLE_DECIMALS: usize = 6;

/// A number with its thousands apart. Thin spaces, because commas and points mean opposite things in our two languages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Number(pub(crate) u64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&grouped(&self.0.to_string()))
    }
}

/// Digits in groups of three.
pub(crate) fn grouped(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3 * 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

/// An amount of coin, exact: `1 234.5`.
pub(crate) fn coin(amount: U256) -> String {
    let text = Wei(amount).to_string();
    match text.split_once('.') {
        Some((whole, rest)) => format!("{}.{rest}", grouped(whole)),
        None => grouped(&text),
    }
}

/// An amount of coin with few decimals, rounded down; what is less than can be shown is told as that.
pub(crate) fn short_coin(amount: U256) -> String {
    let text = Wei(amount).to_string();
    let Some((whole, rest)) = text.split_once('.') else { return grouped(&text) };
    let kept = rest.get(..TABLE_DECIMALS).unwrap_or(rest).trim_end_matches('0');
    match (kept.is_empty(), whole) {
        (true, "0") => format!("<0.{}1", "0".repeat(TABLE_DECIMALS - 1)),
        (true, whole) => grouped(whole),
        (false, whole) => format!("{}.{kept}", grouped(whole)),
    }
}

/// A price of gas in gwei.
pub(crate) fn gwei(wei: U256) -> String {
    let unit = U256::from(1_000_000_000u64);
    let (whole, rest) = wei.div_rem(unit);
    let digits = format!("{rest:0>9}");
    match digits.trim_end_matches('0') {
        "" => grouped(&whole.to_string()),
        rest => format!("{}.{rest}", grouped(&whole.to_string())),
    }
}

/// Rupiah as Indonesia writes them: `Rp 1.250.000`.
pub(crate) fn rupiah(amount: u64) -> String {
    format!("Rp\u{a0}{}", grouped(&amount.to_string()).replace('\u{202f}', "."))
}

/// A share in percent with one decimal.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    let tenths = (u128::from(part) * 1000).checked_div(u128::from(whole)).unwrap_or(0);
    format!("{}.{}%", tenths / 10, tenths % 10)
}

/// Bytes as people say them.
pub(crate) fn bytes(count: u64) -> String {
    match count {
        0..1_024 => format!("{count} B"),
        1_024..1_048_576 => format!("{}.{} KiB", count / 1_024, count % 1_024 * 10 / 1_024),
        _ => format!("{}.{} MiB", count / 1_048_576, count % 1_048_576 * 10 / 1_048_576),
    }
}

/// A time of Unix seconds in UTC: `2026-11-15 23:42:01 UTC`.
pub(crate) fn utc(seconds: u64) -> String {
    let time = i64::try_from(seconds).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    let Some(time) = time else { return "–".to_owned() };
    let text = time.to_string();
    format!("{} UTC", text.trim_end_matches('Z').replace('T', " "))
}

/// A span as people say it, in its largest unit: `12 s`, `5 min`, `3 h`, `2 days`.
pub(crate) fn span(seconds: u64, language: Language) -> String {
    let (count, english, indonesian) = match seconds {
        0..60 => (seconds, "s", "dtk"),
        60..3_600 => (seconds / 60, "min", "mnt"),
        3_600..172_800 => (seconds / 3_600, "h", "jam"),
        _ => (seconds / 86_400, "days", "hari"),
    };
    format!("{count}\u{a0}{}", language.choose(english, indonesian))
}

/// How long ago: `12 s ago`.
pub(crate) fn ago(seconds: u64, language: Language) -> String {
    let span = span(seconds, language);
    match language {
        Language::English => format!("{span} ago"),
        Language::Indonesian => format!("{span} lalu"),
    }
}

/// The ends of a long hexadecimal text: `0x1234…abcd`.
pub(crate) fn shortened(text: &str, start: usize, end: usize) -> String {
    match (text.get(..start), text.len().checked_sub(end).and_then(|at| text.get(at..))) {
        (Some(first), Some(last)) if text.len() > start + end + 1 => format!("{first}…{last}"),
        (_, _) => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_groups() {
        for (number, text) in
            [(0, "0"), (999, "999"), (1_000, "1\u{202f}000"), (1_234_567, "1\u{202f}234\u{202f}567")]
        {
            assert_eq!(Number(number).to_string(), text);
        }
        assert_eq!(rupiah(1_250_000), "Rp\u{a0}1.250.000");
    }

    #[test]
    fn amounts_are_short_but_never_wrong() {
        let wei = |text: &str| text.parse::<Wei>().unwrap().0;
        for (amount, short) in [
            ("0", "0"),
            ("1.5", "1.5"),
            ("0.123456789", "0.123456"),
            ("0.0000001", "<0.000001"),
            ("2.0000001", "2"),
            ("100000", "100\u{202f}000"),
        ] {
            assert_eq!(short_coin(wei(amount)), short, "{amount}");
        }
        assert_eq!(coin(wei("1000.000000000000000001")), "1\u{202f}000.000000000000000001");
        assert_eq!(gwei(U256::from(1_500_000_000u64)), "1.5");
        assert_eq!(gwei(U256::from(7)), "0.000000007");
    }

    #[test]
    fn times_and_spans_are_in_both_languages() {
        assert_eq!(utc(1_763_250_121), "2025-11-15 23:42:01 UTC");
        assert_eq!(ago(59, Language::English), "59\u{a0}s ago");
        assert_eq!(ago(7_200, Language::Indonesian), "2\u{a0}jam lalu");
        assert_eq!(span(3 * 86_400, Language::English), "3\u{a0}days");
        assert_eq!(percent(1, 3), "33.3%");
        assert_eq!(shortened("0x1234567890abcdef", 6, 4), "0x1234…cdef");
        assert_eq!(shortened("0x12", 6, 4), "0x12");
    }
}
