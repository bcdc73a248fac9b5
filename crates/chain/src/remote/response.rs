//! What a node sends back over HTTP/1.1, read as it arrives: a head, and a body whose end the head tells.
//!
//! By hand above `httparse`, because hyper's client takes about a quarter of what a read that is passed on costs: it hands requests and
//! answers from one task to another, for streams of bodies that JSON-RPC does not have. Nothing here waits.

use bytes::{Buf, BytesMut};
use httparse::{EMPTY_HEADER, Status};
use hyper::StatusCode;

const MAX_HEADERS: usize = 64;
/// A head that is longer is no answer of a node.
const MAX_HEAD_BYTES: usize = 32 * 1024;
/// The same for a line between chunks, and for all lines after them.
const MAX_LINE_BYTES: usize = 4 * 1024;

/// Why bytes are no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadResponse {
    #[error("not HTTP/1.1")]
    NotHttp,
    #[error("a head without an end")]
    LongHead,
    #[error("a status that nobody asked for")]
    Status,
    #[error("a body whose length is not clear")]
    Length,
    #[error("a chunk that is none")]
    Chunk,
    #[error("the body is longer than {0} bytes")]
    TooLong(usize),
}

/// How the end of a body is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    Length(usize),
    Chunked,
    UntilClosed,
}

/// The head of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) status: StatusCode,
    pub(super) framing: Framing,
    /// Whether the node lets the connection be used again.
    pub(super) is_kept: bool,
}

/// Takes the head off the bytes that have arrived, once it is whole. Interim answers (1xx) are skipped.
pub(super) fn take_head(arrived: &mut BytesMut) -> Result<Option<Head>, BadResponse> {
    loop {
        let mut headers = [EMPTY_HEADER; MAX_HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        let (head, bytes) = match response.parse(arrived) {
            Ok(Status::Complete(bytes)) => (read_head(&response)?, bytes),
            Ok(Status::Partial) if arrived.len() > MAX_HEAD_BYTES => return Err(BadResponse::LongHead),
            Ok(Status::Partial) => return Ok(None),
            Err(_) => return Err(BadResponse::NotHttp),
        };
        arrived.advance(bytes);
        match head.status {
            StatusCode::SWITCHING_PROTOCOLS => return Err(BadResponse::Status),
            status if status.is_informational() => {}
            _ => return Ok(Some(head)),
        }
    }
}

fn read_head(response: &httparse::Response<'_, '_>) -> Result<Head, BadResponse> {
    let status =
        response.code.and_then(|code| StatusCode::from_u16(code).ok()).ok_or(BadResponse::NotHttp)?;
    let mut length = None;
    let mut is_chunked = false;
    let mut is_kept = response.version == Some(1);
    for header in response.headers.iter() {
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        if is("content-length") {
            let told = read_length(header.value)?;
            if length.is_some_and(|before| before != told) {
                return Err(BadResponse::Length);
            }
            length = Some(told);
        } else if is("transfer-encoding") {
            // Nothing but chunks was asked for.
            if !header.value.eq_ignore_ascii_case(b"chunked") {
                return Err(BadResponse::Length);
            }
            is_chunked = true;
        } else if is("connection") {
            let mut words = header.value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
            is_kept &= !words.any(|word| word.eq_ignore_ascii_case(b"close"));
        }
    }
    let framing = match (is_chunked, length) {
        // Whoever reads the two differently sees two different answers.
        (true, Some(_)) => return Err(BadResponse::Length),
        (true, None) => Framing::Chunked,
        (false, Some(length)) => Framing::Length(length),
        (false, None) if has_no_body(status) => Framing::Length(0),
        (false, None) => Framing::UntilClosed,
    };
    Ok(Head { status, framing, is_kept: is_kept && framing != Framing::UntilClosed })
}

/// Digits and nothing else: no sign, no list.
fn read_length(value: &[u8]) -> Result<usize, BadResponse> {
    let digits = value.trim_ascii();
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let text = str::from_utf8(digits).ok().filter(|_| is_number);
    text.and_then(|text| text.parse().ok()).ok_or(BadResponse::Length)
}

fn has_no_body(status: StatusCode) -> bool {
    status.is_informational() || matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
}

/// Takes a body in chunks apart.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    next: Part,
}

/// What comes next.
#[derive(Debug, Clone, Copy, Default)]
enum Part {
    #[default]
    Size,
    Data(usize),
    DataEnd,
    /// Lines after the last chunk, of which so many bytes were read.
    Trailer(usize),
}

impl Chunks {
    /// Moves data from what has arrived to the body; true once the body has ended.
    pub(super) fn take(
        &mut self,
        arrived: &mut BytesMut,
        body: &mut BytesMut,
        max_bytes: usize,
    ) -> Result<bool, BadResponse> {
        loop {
            self.next = match self.next {
                Part::Size => match httparse::parse_chunk_size(arrived).map_err(|_| BadResponse::Chunk)? {
                    Status::Complete((bytes, size)) => {
                        arrived.advance(bytes);
                        let size = usize::try_from(size).unwrap_or(usize::MAX);
                        if size > max_bytes - body.len() {
                            return Err(BadResponse::TooLong(max_bytes));
                        }
                        if size == 0 { Part::Trailer(0) } else { Part::Data(size) }
                    }
                    Status::Partial if arrived.len() > MAX_LINE_BYTES => return Err(BadResponse::Chunk),
                    Status::Partial => return Ok(false),
                },
                Part::Data(left) => {
                    let data = arrived.split_to(left.min(arrived.len()));
                    body.extend_from_slice(&data);
                    match left - data.len() {
                        0 => Part::DataEnd,
                        left => {
                            self.next = Part::Data(left);
                            return Ok(false);
                        }
                    }
                }
                Part::DataEnd => match arrived.get(..2) {
                    Some(b"\r\n") => {
                        arrived.advance(2);
                        Part::Size
                    }
                    Some(_) => return Err(BadResponse::Chunk),
                    None => return Ok(false),
                },
                Part::Trailer(read) => {
                    let line = arrived.iter().position(|byte| *byte == b'\n').map(|end| end + 1);
                    let read = read + line.unwrap_or(arrived.len());
                    if read > MAX_LINE_BYTES {
                        return Err(BadResponse::Chunk);
                    }
                    let Some(line) = line else { return Ok(false) };
                    if arrived.split_to(line).trim_ascii().is_empty() {
                        return Ok(true);
                    }
                    Part::Trailer(read)
                }
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn head(text: &str) -> Result<Option<Head>, BadResponse> {
        take_head(&mut BytesMut::from(text))
    }

    #[test]
    fn a_head_tells_how_the_body_ends_and_whether_the_connection_stays() {
        for (text, framing, is_kept) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", Framing::Length(5), true),
            ("HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 5\r\n\r\n", Framing::Length(5), true),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n", Framing::Chunked, true),
            (
                "HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 0\r\n\r\n",
                Framing::Length(0),
                false,
            ),
            ("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n", Framing::Length(1), false),
            ("HTTP/1.1 200 OK\r\n\r\n", Framing::UntilClosed, false),
            ("HTTP/1.1 204 No Content\r\n\r\n", Framing::Length(0), true),
            (
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n",
                Framing::Length(2),
                true,
            ),
        ] {
            let head = head(text).expect(text).expect(text);
            assert_eq!((head.framing, head.is_kept), (framing, is_kept), "{text}");
        }
    }

    #[test]
    fn a_head_that_can_be_read_in_two_ways_is_none() {
        for (text, expected) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", BadResponse::Length),
            ("HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\n", BadResponse::Length),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\n", BadResponse::Length),
            ("HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", BadResponse::Length),
            ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", BadResponse::Length),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
                BadResponse::Length,
            ),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", BadResponse::Length),
            ("HTTP/1.1 101 Switching Protocols\r\n\r\n", BadResponse::Status),
            ("HTTP/2 200\r\n\r\n", BadResponse::NotHttp),
            ("{\"jsonrpc\":\"2.0\"}", BadResponse::NotHttp),
        ] {
            assert_eq!(head(text), Err(expected), "{text}");
        }
        assert_eq!(
            head(&format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(MAX_HEAD_BYTES))),
            Err(BadResponse::LongHead)
        );
    }

    #[test]
    fn chunks_that_are_none_or_too_many_are_refused() {
        let take = |text: &str| Chunks::default().take(&mut BytesMut::from(text), &mut BytesMut::new(), 8);
        assert_eq!(take("5;a=b\r\nhello\r\n3\r\n"), Ok(false));
        assert_eq!(take("0\r\nTrailer: x\r\n\r\n"), Ok(true));
        assert_eq!(take("x\r\n"), Err(BadResponse::Chunk));
        assert_eq!(take("1\r\nabc"), Err(BadResponse::Chunk));
        assert_eq!(take("9\r\n"), Err(BadResponse::TooLong(8)));
        assert_eq!(take("5\r\nhello\r\n5\r\n"), Err(BadResponse::TooLong(8)));
        assert_eq!(take("ffffffffffffffff\r\n"), Err(BadResponse::TooLong(8)));
        assert_eq!(take(&format!("0\r\n{}", "x".repeat(MAX_LINE_BYTES + 1))), Err(BadResponse::Chunk));
    }

    /// Feeds bytes in pieces of this length, as a connection would.
    fn read_in_pieces(bytes: &[u8], piece: usize) -> Result<Option<Vec<u8>>, BadResponse> {
        let (mut arrived, mut body) = (BytesMut::new(), BytesMut::new());
        let (mut head, mut chunks) = (None, Chunks::default());
        for piece in bytes.chunks(piece) {
            arrived.extend_from_slice(piece);
            if head.is_none() {
                head = take_head(&mut arrived)?;
            }
            if head.is_some() && chunks.take(&mut arrived, &mut body, 1 << 20)? {
                return Ok(Some(body.to_vec()));
            }
        }
        Ok(None)
    }

    proptest! {
        #[test]
        fn chunks_are_put_together_however_they_arrive(
            chunks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..40), 0..10),
            piece in 1usize..64,
        ) {
            let mut bytes = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
            for chunk in &chunks {
                bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                bytes.extend_from_slice(chunk);
                bytes.extend_from_slice(b"\r\n");
            }
            bytes.extend_from_slice(b"0\r\n\r\n");
            prop_assert_eq!(read_in_pieces(&bytes, piece), Ok(Some(chunks.concat())));
        }

        #[test]
        fn any_bytes_are_an_answer_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..300), piece in 1usize..64) {
            let _ = read_in_pieces(&bytes, piece);
            let _ = Chunks::default().take(&mut BytesMut::from(&bytes[..]), &mut BytesMut::new(), 100);
        }
    }
}
