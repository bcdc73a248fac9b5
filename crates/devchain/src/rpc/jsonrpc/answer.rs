//! The bytes of an answer while they are written.

use std::fmt::Write as _;

use bytes::Bytes;
use listen::{Mark, Pieces};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::rpc::error::RpcError;

/// An answer in the making: bytes of its own, and big shared pieces (rendered blocks) put between them
/// without being copied.
#[derive(Default)]
pub(crate) struct Answer(Pieces);

impl Answer {
    pub(crate) fn new() -> Self {
        Self(Pieces::with_capacity(192))
    }

    /// Writes JSON that is already text.
    pub(crate) fn text(&mut self, json: &str) {
        self.0.own().extend_from_slice(json.as_bytes());
    }

    /// Writes a value as JSON.
    pub(crate) fn json<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), RpcError> {
        serde_json::to_writer(self.0.own(), value).map_err(|error| RpcError::internal(&error))
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
        let own = self.0.own();
        own.extend_from_slice(b"\"0x");
        own.extend(digits.iter().skip(16 - length));
        own.push(b'"');
    }

    /// Puts rendered JSON in, without copying it if it is big.
    pub(crate) fn shared(&mut self, json: Bytes) {
        self.0.share(json);
    }

    /// Puts another answer's bytes in.
    pub(crate) fn append(&mut self, other: Answer) {
        self.0.append(other.0);
    }

    /// Bytes so far.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is sent.
    pub(crate) fn into_pieces(self) -> Pieces {
        self.0
    }

    /// The whole answer in one piece.
    pub(crate) fn into_bytes(self) -> Bytes {
        self.0.into_bytes()
    }

    pub(super) fn mark(&self) -> Mark {
        self.0.mark()
    }

    pub(super) fn return_to(&mut self, mark: Mark) {
        self.0.return_to(mark);
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
