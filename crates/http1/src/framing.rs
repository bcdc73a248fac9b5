//! Where bodies end: after so many bytes, or after the last chunk.

use bytes::{Buf, BytesMut};
use httparse::Status;

/// A line between chunks, and all lines after them, are no longer than this.
const MAX_LINE_BYTES: usize = 4 * 1024;

/// Why it cannot be told where a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadFraming {
    /// No length, or more than one.
    #[error("a body whose length is not clear")]
    Length,
    /// Not the beginning or the end of a chunk.
    #[error("a chunk that is none")]
    Chunk,
    /// More than the reader takes.
    #[error("the body is longer than {0} bytes")]
    TooLong(usize),
}

/// Digits and nothing else: no sign, no list.
pub(crate) fn read_length(value: &[u8]) -> Result<usize, BadFraming> {
    let digits = value.trim_ascii();
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let text = str::from_utf8(digits).ok().filter(|_| is_number);
    text.and_then(|text| text.parse().ok()).ok_or(BadFraming::Length)
}

/// Takes a body in chunks apart.
#[derive(Debug, Default)]
pub struct Chunks {
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
    pub fn take(
        &mut self,
        arrived: &mut BytesMut,
        body: &mut BytesMut,
        max_bytes: usize,
    ) -> Result<bool, BadFraming> {
        loop {
            self.next = match self.next {
                Part::Size => match httparse::parse_chunk_size(arrived).map_err(|_| BadFraming::Chunk)? {
                    Status::Complete((bytes, size)) => {
                        arrived.advance(bytes);
                        let size = usize::try_from(size).unwrap_or(usize::MAX);
                        if size > max_bytes - body.len() {
                            return Err(BadFraming::TooLong(max_bytes));
                        }
                        if size == 0 { Part::Trailer(0) } else { Part::Data(size) }
                    }
                    Status::Partial if arrived.len() > MAX_LINE_BYTES => return Err(BadFraming::Chunk),
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
                    Some(_) => return Err(BadFraming::Chunk),
                    None => return Ok(false),
                },
                Part::Trailer(read) => {
                    let line = arrived.iter().position(|byte| *byte == b'\n').map(|end| end + 1);
                    let read = read + line.unwrap_or(arrived.len());
                    if read > MAX_LINE_BYTES {
                        return Err(BadFraming::Chunk);
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

    #[test]
    fn chunks_that_are_none_or_too_many_are_refused() {
        let take = |text: &str| Chunks::default().take(&mut BytesMut::from(text), &mut BytesMut::new(), 8);
        assert_eq!(take("5;a=b\r\nhello\r\n3\r\n"), Ok(false));
        assert_eq!(take("0\r\nTrailer: x\r\n\r\n"), Ok(true));
        assert_eq!(take("x\r\n"), Err(BadFraming::Chunk));
        assert_eq!(take("1\r\nabc"), Err(BadFraming::Chunk));
        assert_eq!(take("9\r\n"), Err(BadFraming::TooLong(8)));
        assert_eq!(take("5\r\nhello\r\n5\r\n"), Err(BadFraming::TooLong(8)));
        assert_eq!(take("ffffffffffffffff\r\n"), Err(BadFraming::TooLong(8)));
        assert_eq!(take(&format!("0\r\n{}", "x".repeat(MAX_LINE_BYTES + 1))), Err(BadFraming::Chunk));
    }

    proptest! {
        #[test]
        fn any_bytes_are_chunks_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = Chunks::default().take(&mut BytesMut::from(&bytes[..]), &mut BytesMut::new(), 100);
        }
    }
}
