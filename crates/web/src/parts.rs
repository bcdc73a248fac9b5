//! The small parts that all pages are made of: links to addresses, hashes and blocks, amounts, times, identicons.
//!
//! Each is a value that templates print as it is. They carry the whole hash or address in `href` and `title`; the common script
//! adds what needs a script, such as buttons to copy.

use std::fmt::{self, Display, Write};

use alloy_primitives::{Address, B256, U256, keccak256};
use askama::filters::HtmlSafe;

use crate::{
    format::{Number, ago, coin, short_coin, shortened, utc},
    words::Language,
};

/// Text of others inside markup.
pub(crate) struct Escaped<'a>(pub(crate) &'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

/// A link to an address, under its name if it has one.
#[derive(Debug, Clone)]
pub(crate) struct AddressLink {
    pub(crate) address: Address,
    pub(crate) name: Option<String>,
    /// In full, where there is room.
    pub(crate) is_full: bool,
    /// With its picture.
    pub(crate) has_picture: bool,
    /// To the validator's page instead of the account's.
    pub(crate) is_validator: bool,
}

impl AddressLink {
    /// A short link.
    pub(crate) fn new(address: Address, name: Option<String>) -> Self {
        Self { address, name, is_full: false, has_picture: false, is_validator: false }
    }

    /// In full.
    pub(crate) fn full(mut self) -> Self {
        self.is_full = true;
        self
    }

    /// To the page of a validator.
    pub(crate) fn of_validator(mut self) -> Self {
        self.is_validator = true;
        self
    }

    /// With its picture.
    pub(crate) fn pictured(mut self) -> Self {
        self.has_picture = true;
        self
    }
}

impl Display for AddressLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = self.address.to_checksum(None);
        f.write_str(if self.name.is_some() { "<span class=\"h name\">" } else { "<span class=\"h\">" })?;
        if self.has_picture {
            Identicon(self.address).fmt(f)?;
        }
        let place = if self.is_validator { "validators" } else { "address" };
        write!(f, "<a href=\"/{place}/{address}\" title=\"{address}\">")?;
        match &self.name {
            Some(name) => Escaped(name).fmt(f)?,
            None if self.is_full => f.write_str(&address)?,
            None => f.write_str(&shortened(&address, 8, 6))?,
        }
        f.write_str("</a></span>")
    }
}

impl HtmlSafe for AddressLink {}

/// A link to a transaction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TransactionLink(pub(crate) B256);

impl Display for TransactionLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hash = self.0.to_string();
        let short = shortened(&hash, 10, 6);
        write!(f, "<span class=\"h\"><a href=\"/tx/{hash}\" title=\"{hash}\">{short}</a></span>")
    }
}

impl HtmlSafe for TransactionLink {}

/// A link to a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockLink(pub(crate) u64);

impl Display for BlockLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<a href=\"/block/{}\">{}</a>", self.0, Number(self.0))
    }
}

impl HtmlSafe for BlockLink {}

/// A hash or address that leads nowhere, in full, to be copied.
#[derive(Debug, Clone)]
pub(crate) struct Mono(pub(crate) String);

impl Display for Mono {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<span class=\"h\"><code>{}</code></span>", Escaped(&self.0))
    }
}

impl HtmlSafe for Mono {}

/// A time: how long ago, and in its title exactly. The common script keeps it up to date.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ago {
    pub(crate) at: u64,
    pub(crate) now: u64,
    pub(crate) language: Language,
}

impl Display for Ago {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = ago(self.now.saturating_sub(self.at), self.language);
        write!(f, "<time data-t=\"{}\" title=\"{}\">{text}</time>", self.at, utc(self.at))
    }
}

impl HtmlSafe for Ago {}

/// An amount of coin with few decimals, and in its title exactly. Without the symbol: that is in the table's head.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Amount(pub(crate) U256);

impl Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (short, exact) = (short_coin(self.0), coin(self.0));
        if short == exact {
            return f.write_str(&exact);
        }
        write!(f, "<span title=\"{exact}\">{}</span>", Escaped(&short))
    }
}

impl HtmlSafe for Amount {}

/// A picture of an address: five by five squares, mirrored, in a colour of its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Identicon(pub(crate) Address);

impl Display for Identicon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hash = keccak256(self.0);
        let byte = |index: usize| hash.get(index).copied().unwrap_or_default();
        let hue = u16::from_be_bytes([byte(30), byte(31)]) % 360;
        write!(
            f,
            "<svg class=\"ic\" viewBox=\"0 0 5 5\" aria-hidden=\"true\"><path fill=\"hsl({hue} 55% 50%)\" d=\""
        )?;
        for (index, (row, column)) in
            (0..5).flat_map(|row| (0..3).map(move |column| (row, column))).enumerate()
        {
            if byte(index) & 1 == 0 {
                continue;
            }
            write!(f, "M{column} {row}h1v1h-1z")?;
            if column < 2 {
                write!(f, "M{} {row}h1v1h-1z", 4 - column)?;
            }
        }
        f.write_str("\"/></svg>")
    }
}

impl HtmlSafe for Identicon {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_others_cannot_become_markup() {
        let link = AddressLink::new(Address::ZERO, Some("<script>\"&'".to_owned())).to_string();
        assert!(link.contains("&lt;script&gt;&quot;&amp;&#39;</a>"), "{link}");
    }

    #[test]
    fn an_identicon_is_small_and_its_own() {
        let [one, two] = [1, 2].map(|byte| Identicon(Address::repeat_byte(byte)).to_string());
        assert!(one != two && one.len() < 520, "{}", one.len());
    }
}
