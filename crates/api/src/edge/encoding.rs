//! Which compression a client takes, and compressing.

use std::io::Write;

use bytes::Bytes;
use hyper::{HeaderMap, header};

/// Bodies below this gain nothing: they travel in one packet either way.
const SMALLEST: usize = 1024;
const GZIP_LEVEL: u32 = 6;
const BROTLI_QUALITY: u32 = 5;
const BROTLI_WINDOW: u32 = 19;

/// How a body is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Brotli,
    Gzip,
    Identity,
}

impl Encoding {
    /// The best encoding that the client takes.
    pub(super) fn of(headers: &HeaderMap, body_length: usize) -> Self {
        if body_length < SMALLEST {
            return Self::Identity;
        }
        let (mut brotli, mut gzip) = (false, false);
        let lines = headers.get_all(header::ACCEPT_ENCODING);
        for entry in lines.iter().filter_map(|line| line.to_str().ok()).flat_map(|line| line.split(',')) {
            let mut parts = entry.split(';');
            let name = parts.next().unwrap_or_default().trim();
            let is_refused = parts.any(|part| is_zero_weight(part.trim()));
            if name.eq_ignore_ascii_case("br") {
                brotli = !is_refused;
            } else if name.eq_ignore_ascii_case("gzip") || name == "*" {
                gzip = !is_refused;
            }
        }
        match (brotli, gzip) {
            (true, _) => Self::Brotli,
            (false, true) => Self::Gzip,
            (false, false) => Self::Identity,
        }
    }

    /// The name in `Content-Encoding`.
    pub(super) const fn name(self) -> Option<&'static str> {
        match self {
            Self::Brotli => Some("br"),
            Self::Gzip => Some("gzip"),
            Self::Identity => None,
        }
    }
}

/// A body in the best encoding that a client with these headers takes, and that encoding's name.
pub fn encode(headers: &HeaderMap, body: Bytes) -> (Bytes, Option<&'static str>) {
    let encoding = Encoding::of(headers, body.len());
    let encoded = match encoding {
        Encoding::Brotli => brotli(&body),
        Encoding::Gzip => gzip(&body),
        Encoding::Identity => None,
    };
    match encoded {
        Some(encoded) => (encoded, encoding.name()),
        None => (body, None),
    }
}

fn is_zero_weight(parameter: &str) -> bool {
    parameter
        .strip_prefix("q=")
        .or_else(|| parameter.strip_prefix("Q="))
        .is_some_and(|weight| weight.trim().parse().is_ok_and(|weight: f32| weight == 0.0))
}

/// The body in gzip. Writing to memory does not fail; if it did, the body would go out as it is.
pub(super) fn gzip(body: &Bytes) -> Option<Bytes> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(GZIP_LEVEL));
    out.write_all(body).ok()?;
    out.finish().ok().map(Bytes::from)
}

/// The body in brotli.
pub(super) fn brotli(body: &Bytes) -> Option<Bytes> {
    let mut out = brotli::CompressorWriter::new(Vec::new(), 4096, BROTLI_QUALITY, BROTLI_WINDOW);
    out.write_all(body).ok()?;
    out.flush().ok()?;
    Some(Bytes::from(out.into_inner()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(accept: &str) -> Encoding {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT_ENCODING, accept.parse().unwrap());
        Encoding::of(&headers, SMALLEST)
    }

    #[test]
    fn brotli_comes_before_gzip_and_refusals_are_heard() {
        for (accept, expected) in [
            ("gzip, deflate, br", Encoding::Brotli),
            ("GZIP", Encoding::Gzip),
            ("br;q=0, gzip", Encoding::Gzip),
            ("br; q=0.0, gzip;q=0", Encoding::Identity),
            ("*", Encoding::Gzip),
            ("identity", Encoding::Identity),
            ("", Encoding::Identity),
            ("zstd, br;q=0.5", Encoding::Brotli),
        ] {
            assert_eq!(chosen(accept), expected, "{accept}");
        }
    }
}
