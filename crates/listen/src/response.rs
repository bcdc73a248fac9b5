//! What a server says: a status, headers, and bytes.

use std::{
    any::Any,
    cell::RefCell,
    time::{SystemTime, UNIX_EPOCH},
};

use http::{HeaderValue, StatusCode};

use crate::{Charge, Party, Pieces};

/// Room for the usual headers.
const ROOM: usize = 192;

/// An answer to a request.
#[derive(Debug)]
pub struct Response {
    /// What came of it.
    pub status: StatusCode,
    /// As they are sent.
    headers: Vec<u8>,
    /// The rest.
    pub body: Pieces,
    /// Whether the connection ends with it.
    pub is_last: bool,
    /// What is charged for it until it is sent.
    charges: Option<Box<dyn Any + Send + Sync>>,
}

/// The value of a header.
#[derive(Debug)]
pub enum Value {
    /// A text of ours.
    Text(&'static str),
    /// A number.
    Number(u64),
    /// Something that a client has sent, or that was made of it.
    Foreign(HeaderValue),
}

impl From<&'static str> for Value {
    fn from(text: &'static str) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<HeaderValue> for Value {
    fn from(value: HeaderValue) -> Self {
        Self::Foreign(value)
    }
}

impl Response {
    /// An answer without headers of its own.
    pub fn new(status: StatusCode, body: impl Into<Pieces>) -> Self {
        Self { status, headers: Vec::with_capacity(ROOM), body: body.into(), is_last: false, charges: None }
    }

    /// Adds a header; its name is in lower case.
    pub fn header(&mut self, name: &'static str, value: impl Into<Value>) {
        write_header(&mut self.headers, name, &value.into());
    }

    /// The same with a header.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.header(name, value);
        self
    }

    /// The same as the last one of its connection.
    #[must_use]
    pub fn last(mut self) -> Self {
        self.is_last = true;
        self
    }

    /// The same, charged to somebody until it is sent.
    #[must_use]
    pub fn charged<K: Party>(mut self, charges: Vec<Charge<K>>) -> Self {
        self.charges = (!charges.is_empty()).then(|| Box::new(charges) as Box<dyn Any + Send + Sync>);
        self
    }

    /// Writes all but the body. `keeps` says what the client is told of the connection, if it has to be told.
    pub(crate) fn write_head(&self, out: &mut Vec<u8>, keeps: Option<bool>) {
        out.extend_from_slice(b"HTTP/1.1 ");
        out.extend_from_slice(self.status.as_str().as_bytes());
        out.push(b' ');
        out.extend_from_slice(self.status.canonical_reason().unwrap_or_default().as_bytes());
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(&self.headers);
        let has_body = !self.status.is_informational() && self.status != StatusCode::NO_CONTENT;
        if has_body {
            write_header(out, "content-length", &Value::Number(self.body.len() as u64));
        }
        match keeps {
            Some(true) => out.extend_from_slice(b"connection: keep-alive\r\n"),
            Some(false) => out.extend_from_slice(b"connection: close\r\n"),
            None => {}
        }
        out.extend_from_slice(b"date: ");
        write_date(out);
        out.extend_from_slice(b"\r\n\r\n");
    }
}

fn write_header(out: &mut Vec<u8>, name: &str, value: &Value) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    match value {
        Value::Text(text) => out.extend_from_slice(text.as_bytes()),
        Value::Number(number) => out.extend_from_slice(itoa::Buffer::new().format(*number).as_bytes()),
        Value::Foreign(value) => out.extend_from_slice(value.as_bytes()),
    }
    out.extend_from_slice(b"\r\n");
}

/// Writes the time as HTTP has it, put together once a second.
#[expect(
    clippy::disallowed_methods,
    reason = "the date of an answer is the world's, whatever clock a test has moved"
)]
fn write_date(out: &mut Vec<u8>) {
    thread_local! {
        static LAST: RefCell<(u64, String)> = const { RefCell::new((0, String::new())) };
    }
    let now = SystemTime::now();
    let second = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    LAST.with_borrow_mut(|(last, text)| {
        if *last != second || text.is_empty() {
            (*last, *text) = (second, httpdate::fmt_http_date(now));
        }
        out.extend_from_slice(text.as_bytes());
    });
}
