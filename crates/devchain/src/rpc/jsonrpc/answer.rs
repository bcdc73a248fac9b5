//! The bytes of an answer while they are written.

use std::fmt::Write as _;

use bytes::Bytes;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::rpc::error::RpcError;

/// Shorter shared pieces are cheaper copied than sent as a piece of their own.
const MIN_SHARED_BYTES: usize = 8 * 1024;

/// An answer in the making: bytes of its own, and big shared pieces (rendered blocks) put between them
/// without being copied.
#[derive(Default)]
pub(crate) struct Answer {
    own: Vec<u8>,
    /// Shared pieces with the position in `own` before which they belong, in order.
    shared: Vec<(usize, Bytes)>,
}

/// A place in an answer to return to.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Mark {
    own: usize,
    shared: usize,
}

impl Answer {
    pub(crate) fn new() -> Self {
        Self { own: Vec::with_capacity(192), shared: Vec::new() }
    }

    /// Writes JSON that is already text.
    pub(crate) fn text(&mut self, json: &str) {
        self.own.extend_from_slice(json.as_bytes());
    }

    /// Writes a value as JSON.
    pub(crate) fn json<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), RpcError> {
        serde_json::to_writer(&mut self.own, value).map_err(|error| RpcError::internal(&error))
    }

    /// Writes a number as Ethereum writes quantities.
    pub(crate) fn quantity(&mut self, number: u64) {
        let mut digits = [0u8; 16];
        let mut rest = number;
        let mut length = 0;
        for digit in digits.iter_mut().rev() {
            *digit = char::from_digit((rest & 0xf) as u32, 16).map_or(b'0', |c| c as u8);
            rest >>= 4;
            length += 1;
            if rest == 0 {
                break;
            }
        }
        self.own.extend_from_slice(b"\"0x");
        self.own.extend(digits.iter().skip(16 - length));
        self.own.push(b'"');
    }

    /// Puts rendered JSON in, without copying it if it is big.
    pub(crate) fn shared(&mut self, json: Bytes) {
        if json.len() < MIN_SHARED_BYTES {
            self.own.extend_from_slice(&json);
        } else {
            self.shared.push((self.own.len(), json));
        }
    }

    /// Puts another answer's bytes in.
    pub(crate) fn append(&mut self, other: Answer) {
        let base = self.own.len();
        self.own.extend_from_slice(&other.own);
        self.shared.extend(other.shared.into_iter().map(|(at, piece)| (base + at, piece)));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.own.is_empty() && self.shared.is_empty()
    }

    /// Whether there is nothing shared in it.
    pub(crate) fn is_one_piece(&self) -> bool {
        self.shared.is_empty()
    }

    /// The pieces in order of sending.
    pub(crate) fn into_pieces(self) -> Vec<Bytes> {
        let own = Bytes::from(self.own);
        let mut pieces = Vec::with_capacity(self.shared.len() * 2 + 1);
        let mut sent = 0;
        for (at, piece) in self.shared {
            pieces.push(own.slice(sent..at));
            pieces.push(piece);
            sent = at;
        }
        pieces.push(own.slice(sent..));
        pieces.retain(|piece| !piece.is_empty());
        pieces
    }

    /// The whole answer in one piece.
    pub(crate) fn into_bytes(self) -> Bytes {
        if self.shared.is_empty() { self.own.into() } else { self.into_pieces().concat().into() }
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { own: self.own.len(), shared: self.shared.len() }
    }

    pub(super) fn return_to(&mut self, mark: Mark) {
        self.own.truncate(mark.own);
        self.shared.truncate(mark.shared);
    }

    pub(super) fn begin_result(&mut self, id: &RawValue) {
        self.text(r#"{"jsonrpc":"2.0","id":"#);
        self.text(id.get());
        self.text(r#","result":"#);
    }

    pub(super) fn error(&mut self, id: Option<&RawValue>, error: &RpcError) {
        self.text(r#"{"jsonrpc":"2.0","id":"#);
        self.text(id.map_or("null", RawValue::get));
        self.text(r#","error":"#);
        self.error_object(error);
        self.text("}");
    }

    /// Writes an error without an envelope.
    pub(crate) fn error_object(&mut self, error: &RpcError) {
        let (code, message) = error.code_and_message();
        let mut text = String::with_capacity(32);
        // Writing to a String cannot fail.
        let _ = write!(text, r#"{{"code":{code},"message":"#);
        self.text(&text);
        let _ = self.json(message.as_ref());
        if let Some(data) = error.data() {
            self.text(r#","data":"#);
            let _ = self.json(data);
        }
        self.text("}");
    }
}
