//! The lines of the file.

use std::io::{self, BufRead, Read, Write};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{
    TransferError,
    table::{Kind, Table},
};

/// What the first line begins to say.
pub(super) const WHAT: &str = "database export";
/// The only format there is.
pub(super) const FORMAT: u32 = 1;
/// Bytes of the longest line: a row with the largest texts that are kept is far below.
const LONGEST_LINE: u64 = 64 * 1024 * 1024;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) chainnet: String,
    pub(super) format: u32,
    pub(super) schema: i64,
    pub(super) tables: Vec<Table>,
}

/// The line before a table's rows.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Heading {
    pub(super) table: String,
}

/// The last line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct End {
    /// Every table and its number of rows.
    pub(super) rows: Vec<(String, u64)>,
    /// Of all lines before this one.
    pub(super) sha256: String,
}

/// A value of a row. Of its column's type also when there is none, because PostgreSQL wants to know.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Number(Option<i64>),
    Small(Option<i16>),
    Flag(Option<bool>),
    Text(Option<String>),
    Bytes(Option<Vec<u8>>),
}

impl Cell {
    pub(super) fn to_json(&self) -> Value {
        match self {
            Self::Number(value) => (*value).into(),
            Self::Small(value) => (*value).into(),
            Self::Flag(value) => (*value).into(),
            Self::Text(value) => value.as_deref().into(),
            Self::Bytes(value) => value.as_ref().map(hex::encode).into(),
        }
    }

    /// None if the value is not of the column's kind.
    pub(super) fn from_json(kind: Kind, value: Value) -> Option<Self> {
        if value.is_null() {
            return Some(match kind {
                Kind::Number => Self::Number(None),
                Kind::Small => Self::Small(None),
                Kind::Flag => Self::Flag(None),
                Kind::Text => Self::Text(None),
                Kind::Bytes => Self::Bytes(None),
            });
        }
        Some(match (kind, value) {
            (Kind::Number, value) => Self::Number(Some(value.as_i64()?)),
            (Kind::Small, value) => Self::Small(Some(value.as_i64()?.try_into().ok()?)),
            (Kind::Flag, value) => Self::Flag(Some(value.as_bool()?)),
            (Kind::Text, Value::String(text)) => Self::Text(Some(text)),
            (Kind::Bytes, Value::String(text)) => Self::Bytes(Some(hex::decode(text).ok()?)),
            (Kind::Text | Kind::Bytes, _) => return None,
        })
    }
}

/// Writes lines and remembers what was written.
pub(super) struct Lines<W> {
    out: W,
    hash: Sha256,
    line: Vec<u8>,
}

impl<W: Write> Lines<W> {
    pub(super) fn to(out: W) -> Self {
        Self { out, hash: Sha256::new(), line: Vec::new() }
    }

    pub(super) fn write(&mut self, value: &impl Serialize) -> io::Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, value)?;
        self.line.push(b'\n');
        self.hash.update(&self.line);
        self.out.write_all(&self.line)
    }

    /// Writes the last line and lets go of the file.
    pub(super) fn end(mut self, rows: &[(String, u64)]) -> io::Result<()> {
        let sha256 = hex::encode(self.hash.clone().finalize());
        self.write(&End { rows: rows.to_vec(), sha256 })?;
        self.out.flush()
    }
}

/// Reads lines and remembers what was read.
pub(super) struct Reader<R> {
    from: R,
    hash: Sha256,
    buffer: Vec<u8>,
    pub(super) number: u64,
}

impl<R: BufRead> Reader<R> {
    pub(super) fn new(from: R) -> Self {
        Self { from, hash: Sha256::new(), buffer: Vec::new(), number: 0 }
    }

    /// The next line; none at the end of the file.
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, TransferError> {
        // What was read before is before the line that is read now.
        self.hash.update(&self.buffer);
        self.buffer.clear();
        self.from.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut self.buffer)?;
        if self.buffer.is_empty() {
            return Ok(None);
        }
        if self.buffer.last() != Some(&b'\n') {
            return Err(TransferError::CutOff { line: self.number });
        }
        self.number += 1;
        Ok(Some(&self.buffer))
    }

    /// SHA-256 of everything before the line that was read last.
    pub(super) fn hash_before(&self) -> String {
        hex::encode(self.hash.clone().finalize())
    }

    pub(super) fn damaged(&self, what: &'static str) -> TransferError {
        TransferError::Damaged { line: self.number, what }
    }
}
