//! Header lines of a request, however they are kept.

use http::{HeaderMap, HeaderValue};

use crate::Request;

/// Lines by name.
pub trait Headers {
    /// The values of all lines with this name, which is in lower case, in their order.
    fn lines<'a>(&'a self, name: &'static str) -> impl DoubleEndedIterator<Item = &'a [u8]>;

    /// The value of the first line with this name.
    fn line<'a>(&'a self, name: &'static str) -> Option<&'a [u8]> {
        self.lines(name).next()
    }
}

impl Headers for HeaderMap {
    fn lines<'a>(&'a self, name: &'static str) -> impl DoubleEndedIterator<Item = &'a [u8]> {
        self.get_all(name).iter().map(HeaderValue::as_bytes)
    }
}

impl Headers for Request<'_, '_> {
    fn lines<'a>(&'a self, name: &'static str) -> impl DoubleEndedIterator<Item = &'a [u8]> {
        self.headers.iter().filter(move |line| line.name.eq_ignore_ascii_case(name)).map(|line| line.value)
    }
}
