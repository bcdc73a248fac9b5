//! What a server sends back: a head, and a body whose end the head tells.

use bytes::{Buf, BytesMut};
use http::StatusCode;
use httparse::{EMPTY_HEADER, Status};

use crate::{BadFraming, framing};

const MAX_HEADERS: usize = 64;
/// A head that is longer is no answer.
const MAX_HEAD_BYTES: usize = 32 * 1024;

/// Why bytes are no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadResponse {
    /// It is something else.
    #[error("not HTTP/1.1")]
    NotHttp,
    /// The head does not end.
    #[error("a head without an end")]
    LongHead,
    /// It switches to a protocol that nobody asked for.
    #[error("a status that nobody asked for")]
    Status,
    /// Where the body ends is not clear.
    #[error(transparent)]
    Framing(#[from] BadFraming),
}

/// How the end of a body is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// After so many bytes.
    Length(usize),
    /// After the last chunk.
    Chunked,
    /// With the connection.
    UntilClosed,
}

/// The head of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// What came of the request.
    pub status: StatusCode,
    /// Where the body ends.
    pub framing: Framing,
    /// Whether the server lets the connection be used again.
    pub is_kept: bool,
}

/// Takes the head off the bytes that have arrived, once it is whole. Interim answers (1xx) are skipped.
pub fn take_head(arrived: &mut BytesMut) -> Result<Option<Head>, BadResponse> {
    loop {
        let mut headers = [EMPTY_HEADER; MAX_HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        let (head, bytes) = match response.parse(arrived) {
            Ok(Status::Complete(bytes)) => {
                let is_clear = arrived.get(..bytes).is_some_and(|head| framing::head_length(head).is_ok());
                (
                    read_head(&response)
                        .and_then(|head| is_clear.then_some(head).ok_or(BadResponse::NotHttp))?,
                    bytes,
                )
            }
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
            let told = framing::read_length(header.value)?;
            if length.is_some_and(|before| before != told) {
                return Err(BadFraming::Length.into());
            }
            length = Some(told);
        } else if is("transfer-encoding") {
            // Nothing but chunks was asked for.
            if !header.value.eq_ignore_ascii_case(b"chunked") {
                return Err(BadFraming::Length.into());
            }
            is_chunked = true;
        } else if is("connection") {
            let mut words = header.value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
            is_kept &= !words.any(|word| word.eq_ignore_ascii_case(b"close"));
        }
    }
    let framing = match (is_chunked, length) {
        // Whoever reads the two differently sees two different answers.
        (true, Some(_)) => return Err(BadFraming::Length.into()),
        (true, None) => Framing::Chunked,
        (false, Some(length)) => Framing::Length(length),
        (false, None) if has_no_body(status) => Framing::Length(0),
        (false, None) => Framing::UntilClosed,
    };
    Ok(Head { status, framing, is_kept: is_kept && framing != Framing::UntilClosed })
}

fn has_no_body(status: StatusCode) -> bool {
    status.is_informational() || matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Chunks;

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
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", BadFraming::Length.into()),
            ("HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\n", BadFraming::Length.into()),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\n", BadFraming::Length.into()),
            ("HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", BadFraming::Length.into()),
            ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", BadFraming::Length.into()),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
                BadFraming::Length.into(),
            ),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", BadFraming::Length.into()),
            ("HTTP/1.1 101 Switching Protocols\r\n\r\n", BadResponse::Status),
            ("HTTP/1.1 200 OK\nContent-Length: 5\n\n", BadResponse::NotHttp),
            ("HTTP/1.1 200 OK\r\nX: a\nContent-Length: 5\r\n\r\n", BadResponse::NotHttp),
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
