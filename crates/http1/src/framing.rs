//! Where bodies end: after so many bytes, or after the last chunk.

use bytes::{Buf, BytesMut};
use httparse::{EMPTY_HEADER, Status};
use memchr::memchr;

/// A line with a chunk's size is no longer than this.
const MAX_SIZE_LINE_BYTES: usize = 256;
/// All extensions of a body's chunks together, and all lines after them, are no longer than this.
const MAX_EXTRA_BYTES: usize = 4 * 1024;
/// More lines after the last chunk are refused.
const MAX_TRAILERS: usize = 32;

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
    /// Bytes of extensions so far.
    extension_bytes: usize,
}

/// What comes next.
#[derive(Debug, Clone, Copy, Default)]
enum Part {
    #[default]
    Size,
    Data(usize),
    DataEnd,
    /// Lines after the last chunk.
    Trailers,
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
                Part::Size => match self.take_size(arrived)? {
                    Some(size) if size > max_bytes - body.len() => {
                        return Err(BadFraming::TooLong(max_bytes));
                    }
                    Some(0) => Part::Trailers,
                    Some(size) => Part::Data(size),
                    None => return Ok(false),
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
                Part::Trailers => return take_trailers(arrived),
            };
        }
    }

    /// The size of the next chunk, once its line is whole.
    fn take_size(&mut self, arrived: &mut BytesMut) -> Result<Option<usize>, BadFraming> {
        let Some(end) = memchr(b'\n', arrived) else {
            let may_go_on = arrived.len() < MAX_SIZE_LINE_BYTES;
            return if may_go_on { Ok(None) } else { Err(BadFraming::Chunk) };
        };
        let line = arrived.get(..end).and_then(|line| line.strip_suffix(b"\r")).ok_or(BadFraming::Chunk)?;
        let (size, extension) = read_size_line(line).ok_or(BadFraming::Chunk)?;
        self.extension_bytes += extension;
        if end >= MAX_SIZE_LINE_BYTES || self.extension_bytes > MAX_EXTRA_BYTES {
            return Err(BadFraming::Chunk);
        }
        arrived.advance(end + 1);
        Ok(Some(size))
    }
}

/// Reads a line with a chunk's size: its size, and the length of its extensions, of which nothing is used. Not `httparse`'s reader, which
/// lets sizes without digits, lone line feeds and any byte in extensions pass. Sizes beyond all memory are as long as can be.
fn read_size_line(line: &[u8]) -> Option<(usize, usize)> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let (digits, extension) = line.split_at_checked(digits).filter(|(digits, _)| !digits.is_empty())?;
    let is_extension = match extension.trim_ascii_start() {
        [] => extension.is_empty(),
        [b';', name, ..] => *name != b';' && extension.iter().all(is_text),
        _ => false,
    };
    let size = digits.iter().try_fold(0usize, |size, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        size.checked_mul(16)?.checked_add(usize::try_from(digit).ok()?)
    });
    is_extension.then_some((size.unwrap_or(usize::MAX), extension.len()))
}

/// Blanks and what can be seen; no controls.
fn is_text(byte: &u8) -> bool {
    matches!(byte, b'\t' | b' '..=b'~' | 0x80..)
}

/// Takes the lines after the last chunk, once they are whole. They are header lines, and nobody needs them.
fn take_trailers(arrived: &mut BytesMut) -> Result<bool, BadFraming> {
    if arrived.starts_with(b"\r\n") {
        arrived.advance(2);
        return Ok(true);
    }
    let Some(length) = head_length(arrived).map_err(|_| BadFraming::Chunk)? else {
        return if arrived.len() > MAX_EXTRA_BYTES { Err(BadFraming::Chunk) } else { Ok(false) };
    };
    let lines = arrived.get(..length).filter(|lines| lines.len() <= MAX_EXTRA_BYTES);
    let mut trailers = [EMPTY_HEADER; MAX_TRAILERS];
    match lines.map(|lines| httparse::parse_headers(lines, &mut trailers)) {
        Some(Ok(Status::Complete((read, _)))) if read == length => {
            arrived.advance(length);
            Ok(true)
        }
        Some(Ok(Status::Complete(_) | Status::Partial) | Err(_)) | None => Err(BadFraming::Chunk),
    }
}

/// A line feed without a carriage return before it, or an empty line where none may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LoneLineFeed;

/// How long the lines are up to and with the first empty one, once that is there. Every line ends with carriage return and line feed:
/// `httparse` lets one go, and whoever does not sees other lines.
pub(crate) fn head_length(arrived: &[u8]) -> Result<Option<usize>, LoneLineFeed> {
    for feed in memchr::memchr_iter(b'\n', arrived) {
        let before = feed.checked_sub(1).and_then(|before| arrived.get(before));
        if before != Some(&b'\r') {
            return Err(LoneLineFeed);
        }
        if arrived.get(feed + 1..).is_some_and(|rest| rest.starts_with(b"\r\n")) {
            return Ok(Some(feed + 3));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn take(text: &str) -> Result<bool, BadFraming> {
        Chunks::default().take(&mut BytesMut::from(text), &mut BytesMut::new(), 8)
    }

    #[test]
    fn chunks_that_are_none_or_too_many_are_refused() {
        assert_eq!(take("5;a=b\r\nhello\r\n3\r\n"), Ok(false));
        assert_eq!(take("0\r\nTrailer: x\r\n\r\n"), Ok(true));
        assert_eq!(take("x\r\n"), Err(BadFraming::Chunk));
        assert_eq!(take("1\r\nabc"), Err(BadFraming::Chunk));
        assert_eq!(take("9\r\n"), Err(BadFraming::TooLong(8)));
        assert_eq!(take("5\r\nhello\r\n5\r\n"), Err(BadFraming::TooLong(8)));
        assert_eq!(take("ffffffffffffffff\r\n"), Err(BadFraming::TooLong(8)));
        assert_eq!(take("1ffffffffffffffff\r\n"), Err(BadFraming::TooLong(8)));
        assert_eq!(take(&format!("0\r\n{}", "x".repeat(MAX_EXTRA_BYTES + 1))), Err(BadFraming::Chunk));
    }

    #[test]
    fn a_size_is_digits_and_extensions_are_text() {
        for line in ["1\r\n", "01;a\r\n", "1;a=\"b c\"\r\n", "1 ; a\r\n", "1\t;a\r\n", "1;\u{e4}=b;c\r\n"] {
            assert_eq!(take(&format!("{line}x\r\n0\r\n\r\n")), Ok(true), "{line:?}");
        }
        let long = format!("1;{}\r\n", "a".repeat(MAX_SIZE_LINE_BYTES));
        for line in [
            "\r\n",
            ";\r\n",
            ";a\r\n",
            " 1\r\n",
            "1 \r\n",
            "1;\r\n",
            "1;;a\r\n",
            "1\n",
            "1;a\n",
            "1;a\nb\r\n",
            "1\r",
            "1\r\r\n",
            "1;a\rb\r\n",
            "1;\0\r\n",
            "1;a=\x07\r\n",
            "1;\x7f\r\n",
            "+1\r\n",
            "-1\r\n",
            "0x1\r\n",
            "1_0\r\n",
            "1,1\r\n",
            "1 1\r\n",
            "1a=b\r\ng",
            &long,
            &"1".repeat(MAX_SIZE_LINE_BYTES),
        ] {
            assert_eq!(
                take(&format!("{line}x\r\n0\r\n\r\n")).map(|_| ()),
                Err(BadFraming::Chunk),
                "{line:?}"
            );
        }
        let many = format!("1;{}\r\nx\r\n", "a".repeat(200)).repeat(30);
        let taken = Chunks::default().take(&mut BytesMut::from(&*many), &mut BytesMut::new(), 100);
        assert_eq!(taken, Err(BadFraming::Chunk), "extensions of many chunks");
    }

    #[test]
    fn lines_after_the_last_chunk_are_header_lines() {
        for trailers in ["\r\n", "a: b\r\n\r\n", "a:\r\nb: c, d\r\n\r\n"] {
            assert_eq!(take(&format!("0\r\n{trailers}")), Ok(true), "{trailers:?}");
        }
        for trailers in ["", "\r", "a: b\r\n", "a: b\r\n\r"] {
            assert_eq!(take(&format!("0\r\n{trailers}")), Ok(false), "{trailers:?}");
        }
        for trailers in [
            "\n",
            "a: b\n\r\n",
            "a: b\r\n\n",
            "a\r\n\r\n",
            "a : b\r\n\r\n",
            " a: b\r\n\r\n",
            "a: b\r\n c\r\n\r\n",
            ": b\r\n\r\n",
            "a: \0\r\n\r\n",
            "a: b\rc\r\n\r\n",
            "GET / HTTP/1.1\r\n\r\n",
            " \r\n\r\n",
            &format!("{}\r\n", "a: b\r\n".repeat(MAX_TRAILERS + 1)),
        ] {
            assert_eq!(take(&format!("0\r\n{trailers}")), Err(BadFraming::Chunk), "{trailers:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_chunks_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = Chunks::default().take(&mut BytesMut::from(&bytes[..]), &mut BytesMut::new(), 100);
        }

        /// Refused or not, and what is taken, does not hang on how the bytes arrive.
        #[test]
        fn pieces_make_no_difference(text in "[0-2]{0,2}[;a \r\n\t:\\x00]{0,6}(\r\n)?[x\r\n]{0,4}(0\r\n)?[a: \r\n]{0,8}(\r\n\r\n)?", piece in 1usize..5) {
            let read = |piece: usize| {
                let (mut chunks, mut arrived, mut body) = (Chunks::default(), BytesMut::new(), BytesMut::new());
                for bytes in text.as_bytes().chunks(piece) {
                    arrived.extend_from_slice(bytes);
                    match chunks.take(&mut arrived, &mut body, 100) {
                        Ok(true) => return Ok(Some(body)),
                        Ok(false) => {}
                        Err(bad) => return Err(bad),
                    }
                }
                Ok(None)
            };
            prop_assert_eq!(read(piece), read(text.len().max(1)));
        }
    }
}
