//! A decoded value as it is shown: linked, grouped, and never longer than there is room for.

use std::fmt::{self, Display, Write};

use alloy_dyn_abi::DynSolValue;
use alloy_primitives::{Address, B256, U256, hex};
use askama::filters::HtmlSafe;
use contracts::fees::FeeSource;

use super::Parameter;
use crate::{
    format::{coin, grouped, utc},
    parts::{AddressLink, Escaped},
};

/// Elements of a list that are shown.
const MOST_ELEMENTS: usize = 12;
/// Characters of a text that are shown.
const LONGEST_TEXT: usize = 400;
/// Bytes that are shown.
const LONGEST_BYTES: usize = 128;
/// Lists in lists that are shown.
const DEEPEST: u32 = 4;
/// Parameters of the network's own contracts that are amounts of wei.
const AMOUNTS: [&str; 8] = ["amount", "burned", "held", "stake", "penalty", "amount_", "value", "rewards"];
/// Those that are Unix seconds.
const TIMES: [&str; 4] = ["deadline", "timestamp", "until", "withdrawableAt"];

/// Who knows how addresses are called, and what the coin is called.
pub(crate) trait Names {
    /// A link to an address.
    fn link(&self, address: Address) -> AddressLink;
    /// The coin's symbol.
    fn symbol(&self) -> &str;
}

/// A value as markup.
#[derive(Debug, Clone)]
pub(crate) struct Printed(String);

impl Printed {
    /// The value of a parameter.
    pub(crate) fn new(parameter: &Parameter, names: &impl Names) -> Self {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = write(&mut out, &parameter.value, names, 0);
        if parameter.is_own {
            let _ = explain(&mut out, parameter, names);
        }
        Self(out)
    }

    /// Bytes of markup.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

impl Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl HtmlSafe for Printed {}

/// What a value of one of the network's own contracts means.
fn explain(out: &mut String, parameter: &Parameter, names: &impl Names) -> fmt::Result {
    match (&parameter.value, parameter.name.as_str()) {
        (DynSolValue::Uint(amount, 256), name) if AMOUNTS.contains(&name) => {
            write!(out, " <small>= {} {}</small>", coin(*amount), Escaped(names.symbol()))
        }
        (DynSolValue::FixedBytes(word, 32), "source") => match FeeSource::from_id(*word) {
            Some(source) => write!(out, " <small>= {}</small>", source.name()),
            None => Ok(()),
        },
        (DynSolValue::Uint(seconds, _), name) if TIMES.contains(&name) => match u64::try_from(*seconds) {
            Ok(seconds) => write!(out, " <small>= {}</small>", utc(seconds)),
            Err(_) => Ok(()),
        },
        (DynSolValue::Uint(points, _), "commissionBps") => {
            write!(out, " <small>= {}%</small>", hundredths(*points))
        }
        _ => Ok(()),
    }
}

fn hundredths(points: U256) -> String {
    let (whole, rest) = points.div_rem(U256::from(100));
    if rest.is_zero() { whole.to_string() } else { format!("{whole}.{rest:0>2}") }
}

fn write(out: &mut String, value: &DynSolValue, names: &impl Names, depth: u32) -> fmt::Result {
    match value {
        DynSolValue::Bool(value) => write!(out, "{value}"),
        DynSolValue::Int(value, _) => write!(out, "{value}"),
        DynSolValue::Uint(value, _) => write!(out, "{}", grouped(&value.to_string())),
        DynSolValue::FixedBytes(word, size) => write_word(out, word, *size),
        DynSolValue::Address(address) => write!(out, "{}", names.link(*address)),
        DynSolValue::Function(function) => write!(out, "<code>{function}</code>"),
        DynSolValue::Bytes(bytes) => write_bytes(out, bytes),
        DynSolValue::String(text) => write_text(out, text),
        DynSolValue::Array(values) | DynSolValue::FixedArray(values) | DynSolValue::Tuple(values) => {
            write_list(out, values, names, depth)
        }
        // Structs under their own names are not among what is known here.
        #[allow(
            unreachable_patterns,
            reason = "there only if another crate turns a feature of the library on"
        )]
        _ => out.write_str("…"),
    }
}

fn write_word(out: &mut String, word: &B256, size: usize) -> fmt::Result {
    let bytes = word.get(..size).unwrap_or_default();
    write!(out, "<code>{}</code>", hex::encode_prefixed(bytes))
}

fn write_bytes(out: &mut String, bytes: &[u8]) -> fmt::Result {
    let shown = bytes.get(..LONGEST_BYTES).unwrap_or(bytes);
    write!(out, "<code>{}</code>", hex::encode_prefixed(shown))?;
    if shown.len() < bytes.len() { write!(out, "… ({} B)", bytes.len()) } else { Ok(()) }
}

fn write_text(out: &mut String, text: &str) -> fmt::Result {
    let end = text.char_indices().nth(LONGEST_TEXT).map_or(text.len(), |(end, _)| end);
    let shown = text.get(..end).unwrap_or_default();
    write!(out, "“{}”", Escaped(shown))?;
    if shown.len() < text.len() { write!(out, "… ({} B)", text.len()) } else { Ok(()) }
}

fn write_list(out: &mut String, values: &[DynSolValue], names: &impl Names, depth: u32) -> fmt::Result {
    if values.is_empty() {
        return out.write_str("[]");
    }
    if depth >= DEEPEST {
        return out.write_str("[…]");
    }
    out.write_str("<ol start=\"0\">")?;
    for value in values.iter().take(MOST_ELEMENTS) {
        out.write_str("<li>")?;
        write(out, value, names, depth + 1)?;
        out.write_str("</li>")?;
    }
    if values.len() > MOST_ELEMENTS {
        write!(out, "<li>… ({})</li>", values.len())?;
    }
    out.write_str("</ol>")
}
