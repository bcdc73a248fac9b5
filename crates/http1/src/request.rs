//! What a client asks for: a request's head.

use std::mem::MaybeUninit;

use http::Uri;
use httparse::{Header, Status};

use crate::{BadFraming, framing};

const MAX_HEADERS: usize = 64;
/// A head is no longer than this.
const MAX_HEAD_BYTES: usize = 16 * 1024;

/// Why bytes are no request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadRequest {
    /// It is something else, or can be read in two ways.
    #[error("not HTTP/1.1")]
    NotHttp,
    /// The head is too long, or has too many lines.
    #[error("a head that is too long")]
    LongHead,
    /// Where the body ends is not clear.
    #[error(transparent)]
    Framing(#[from] BadFraming),
}

/// What follows a request's head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// So many bytes.
    Length(usize),
    /// Chunks.
    Chunked,
}

/// Room for the lines of a head.
pub struct Room<'b>([MaybeUninit<Header<'b>>; MAX_HEADERS]);

impl Default for Room<'_> {
    fn default() -> Self {
        Self([const { MaybeUninit::uninit() }; MAX_HEADERS])
    }
}

/// The head of a request.
#[derive(Debug, Clone, Copy)]
pub struct Request<'r, 'b> {
    /// `POST`, for example.
    pub method: &'b str,
    target: &'b str,
    pub(crate) headers: &'r [Header<'b>],
    /// What follows.
    pub body: Body,
    /// Whether the connection is to be used again.
    pub is_kept: bool,
    /// Whether the client waits for a word before it sends the body.
    pub is_waiting: bool,
    /// Whether it is HTTP/1.0, whose connections end unless both sides say otherwise.
    pub is_old: bool,
}

impl<'r, 'b> Request<'r, 'b> {
    /// Reads a head from the bytes that have arrived, once it is whole: the head and its length.
    pub fn read(arrived: &'b [u8], room: &'r mut Room<'b>) -> Result<Option<(Self, usize)>, BadRequest> {
        let is_too_long = arrived.len() > MAX_HEAD_BYTES;
        let head = without_empty_lines(arrived);
        let has_end = framing::head_length(head).map_err(|_| BadRequest::NotHttp)?.is_some();
        // Without its end a head is not worth looking at, however often a few bytes more of it arrive.
        if !is_too_long && !has_end {
            return if may_begin(head) { Ok(None) } else { Err(BadRequest::NotHttp) };
        }
        let mut request = httparse::Request::new(&mut []);
        match request.parse_with_uninit_headers(arrived, &mut room.0) {
            Ok(Status::Complete(bytes)) if bytes <= MAX_HEAD_BYTES => {
                Ok(Some((Self::understand(request)?, bytes)))
            }
            Ok(Status::Partial) if !is_too_long => Ok(None),
            Ok(Status::Complete(_) | Status::Partial) | Err(httparse::Error::TooManyHeaders) => {
                Err(BadRequest::LongHead)
            }
            Err(_) => Err(BadRequest::NotHttp),
        }
    }

    fn understand(request: httparse::Request<'r, 'b>) -> Result<Self, BadRequest> {
        let (Some(method), Some(target), Some(version)) = (request.method, request.path, request.version)
        else {
            return Err(BadRequest::NotHttp);
        };
        let is_old = version == 0;
        let mut head = Self {
            method,
            target,
            headers: request.headers,
            body: Body::Length(0),
            is_kept: !is_old,
            is_waiting: false,
            is_old,
        };
        let (mut length, mut is_chunked, mut hosts) = (None, false, 0);
        let (mut closes, mut keeps, mut is_clear) = (false, !is_old, true);
        for Header { name, value } in head.headers {
            let is = |other: &str| name.eq_ignore_ascii_case(other);
            // Most names can be told by their length.
            match name.len() {
                4 if is("host") => hosts += 1,
                6 if is("expect") => head.is_waiting = !is_old && value.eq_ignore_ascii_case(b"100-continue"),
                10 if is("connection") => {
                    closes |= has_word(value, b"close");
                    keeps |= has_word(value, b"keep-alive");
                }
                14 if is("content-length") => {
                    let is_second = length.replace(framing::read_length(value)?).is_some();
                    is_clear &= !is_second;
                }
                17 if is("transfer-encoding") => {
                    is_clear &= !is_chunked && !is_old && value.eq_ignore_ascii_case(b"chunked");
                    is_chunked = true;
                }
                _ => {}
            }
        }
        // Whoever reads a length and chunks differently sees two different requests.
        if !is_clear || (is_chunked && length.is_some()) {
            return Err(BadFraming::Length.into());
        }
        head.body = if is_chunked { Body::Chunked } else { Body::Length(length.unwrap_or(0)) };
        head.is_kept = keeps && !closes;
        // One that is missing or there twice lets others think that the request is for somebody else.
        if hosts > 1 || (hosts == 0 && !is_old) { Err(BadRequest::NotHttp) } else { Ok(head) }
    }

    /// The path that is asked for, without its query.
    pub fn path(&self) -> &'b str {
        if self.target.starts_with('/') {
            return self.target.split('?').next().unwrap_or_default();
        }
        // As proxies are asked: with a scheme and a host before it.
        let Some((_, rest)) = self.target.split_once("://").filter(|_| self.target.parse::<Uri>().is_ok())
        else {
            return self.target;
        };
        let path = rest.find(['/', '?']).map_or("", |start| rest.get(start..).unwrap_or_default());
        match path.split('?').next().unwrap_or_default() {
            "" => "/",
            path => path,
        }
    }
}

/// Whether a list of words has this one.
fn has_word(list: &[u8], word: &[u8]) -> bool {
    list.split(|byte| *byte == b',').any(|other| other.trim_ascii().eq_ignore_ascii_case(word))
}

/// What follows the empty lines that clients may send before a request.
fn without_empty_lines(mut arrived: &[u8]) -> &[u8] {
    while let Some(rest) = arrived.strip_prefix(b"\r\n") {
        arrived = rest;
    }
    arrived
}

/// Whether a request can begin like this.
fn may_begin(head: &[u8]) -> bool {
    head.first().is_none_or(|first| first.is_ascii_alphabetic() || head == b"\r")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Headers;

    fn read<R>(text: &[u8], look: impl FnOnce(Request<'_, '_>, usize) -> R) -> Result<Option<R>, BadRequest> {
        Ok(Request::read(text, &mut Room::default())?.map(|(request, bytes)| look(request, bytes)))
    }

    #[test]
    fn a_head_says_what_follows_and_whether_the_connection_stays() {
        let length = Body::Length;
        for (text, expected) in [
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", (length(0), true, false)),
            ("POST / HTTP/1.1\r\nHost: a\r\ncontent-LENGTH: 5\r\n\r\n", (length(5), true, false)),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5 \r\n\r\n", (length(5), true, false)),
            (
                "\r\n\r\nPOST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n",
                (Body::Chunked, true, false),
            ),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\nConnection: keep-alive\r\n\r\n",
                (length(0), false, false),
            ),
            ("POST / HTTP/1.0\r\nContent-Length: 1\r\n\r\n", (length(1), false, false)),
            ("POST / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", (length(0), true, false)),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 9\r\n\r\n",
                (length(9), true, true),
            ),
            ("POST / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n", (length(0), false, false)),
        ] {
            let said = read(text.as_bytes(), |request, bytes| {
                assert_eq!(bytes, text.len());
                (request.body, request.is_kept, request.is_waiting)
            });
            assert_eq!(said, Ok(Some(expected)), "{text}");
        }
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_refused() {
        let unclear = BadRequest::from(BadFraming::Length);
        for (lines, expected) in [
            ("Content-Length: 5\r\nContent-Length: 6", unclear),
            ("Content-Length: 5\r\nContent-Length: 5", unclear),
            ("Content-Length: 5, 5", unclear),
            ("Content-Length: +5", unclear),
            ("Content-Length: -1", unclear),
            ("Content-Length: 0x5", unclear),
            ("Content-Length: 5_0", unclear),
            ("Content-Length:", unclear),
            ("Content-Length: 99999999999999999999", unclear),
            ("Content-Length: 5\r\nTransfer-Encoding: chunked", unclear),
            ("Transfer-Encoding: chunked\r\nContent-Length: 5", unclear),
            ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", unclear),
            ("Transfer-Encoding: gzip, chunked", unclear),
            ("Transfer-Encoding: chunked, identity", unclear),
            ("Transfer-Encoding: identity", unclear),
            ("Transfer-Encoding: xchunked", unclear),
            ("Transfer-Encoding: \"chunked\"", unclear),
            ("Transfer-Encoding:\x0bchunked", BadRequest::NotHttp),
            ("Transfer-Encoding : chunked", BadRequest::NotHttp),
            ("Content-Length : 5", BadRequest::NotHttp),
            (" Content-Length: 5", BadRequest::NotHttp),
            ("X: a\r\n Content-Length: 5", BadRequest::NotHttp),
            ("X: a\rContent-Length: 5", BadRequest::NotHttp),
            ("X: a\0", BadRequest::NotHttp),
            ("Content-Length\r\nX: a", BadRequest::NotHttp),
            ("Host: b", BadRequest::NotHttp),
            ("X: a\nY: b", BadRequest::NotHttp),
            ("X: a\n", BadRequest::NotHttp),
        ] {
            let text = format!("POST / HTTP/1.1\r\nHost: a\r\n{lines}\r\n\r\n");
            assert_eq!(read(text.as_bytes(), |_, _| ()), Err(expected), "{lines}");
        }
        let old = b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_eq!(read(old, |_, _| ()), Err(unclear));
        for text in [
            "POST / HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.1\r\nHosts: a\r\n\r\n",
            "POST / HTTP/1.1\nHost: a\n\n",
            "POST / HTTP/1.1\r\nHost: a\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\n\n",
            "\nPOST / HTTP/1.1\r\nHost: a\r\n\r\n",
            "\r\n\nPOST / HTTP/1.1\r\nHost: a\r\n\r\n",
            "POST /\r\n\r\n",
            "POST / HTTP/2.0\r\n\r\n",
            "PRI * HTTP/2.0\r\n\r\n",
            "\x16\x03\x01",
            "{\"a\":1}",
            "POST /a b HTTP/1.1\r\nHost: a\r\n\r\n",
        ] {
            assert_eq!(read(text.as_bytes(), |_, _| ()), Err(BadRequest::NotHttp), "{text}");
        }
    }

    #[test]
    fn heads_are_bounded() {
        let long = format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}", "x".repeat(MAX_HEAD_BYTES));
        assert_eq!(read(long.as_bytes(), |_, _| ()), Err(BadRequest::LongHead));
        assert_eq!(read(format!("{long}\r\n\r\n").as_bytes(), |_, _| ()), Err(BadRequest::LongHead));
        let lines = |count| format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "a: b\r\n".repeat(count));
        assert_eq!(read(lines(MAX_HEADERS - 1).as_bytes(), |_, _| ()), Ok(Some(())));
        assert_eq!(read(lines(MAX_HEADERS).as_bytes(), |_, _| ()), Err(BadRequest::LongHead));
    }

    #[test]
    fn the_path_is_without_host_and_query() {
        for (target, path) in [
            ("/", "/"),
            ("/a/b?c=d?e", "/a/b"),
            ("http://node.example:8545/a?b", "/a"),
            ("http://node.example", "/"),
            ("http://node.example?x", "/"),
            ("*", "*"),
            ("node.example:443", "node.example:443"),
            ("//a", "//a"),
        ] {
            let text = format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n");
            assert_eq!(
                read(text.as_bytes(), |request, _| request.path().to_owned()),
                Ok(Some(path.to_owned())),
                "{target}"
            );
        }
    }

    #[test]
    fn lines_are_found_by_name_in_any_case() {
        let text = b"GET / HTTP/1.1\r\nHost: a\r\nX-API-Key: a\r\nx-api-key: b\r\n\r\n";
        let found =
            read(text, |request, _| request.lines("x-api-key").map(<[u8]>::to_vec).collect::<Vec<_>>());
        assert_eq!(found, Ok(Some(vec![b"a".to_vec(), b"b".to_vec()])));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_request_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = read(&bytes, |_, _| ());
        }

        #[test]
        fn a_head_is_whole_or_awaited_wherever_it_is_cut(cut in 0usize..70) {
            let text = b"POST /rpc/key HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n";
            let cut = cut.min(text.len());
            prop_assert_eq!(read(&text[..cut], |_, bytes| bytes), Ok((cut == text.len()).then_some(cut)));
        }
    }
}
