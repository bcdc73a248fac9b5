//! The id under which a request is found in the log.

use std::sync::atomic::{AtomicU64, Ordering};

use hyper::{
    HeaderMap,
    header::{HeaderName, HeaderValue},
};

/// The header that carries the id, in and out.
pub(crate) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const LONGEST: usize = 64;

/// Makes ids: a word for this process, and a number.
pub struct RequestIds {
    process: String,
    next: AtomicU64,
}

impl RequestIds {
    /// Ids that begin with `process`.
    pub fn new(process: &str) -> Self {
        Self { process: process.to_owned(), next: AtomicU64::new(1) }
    }

    /// The caller's own id if it is a sane one, or a new one.
    pub fn of(&self, headers: &HeaderMap) -> HeaderValue {
        match headers.get(X_REQUEST_ID) {
            Some(given) if is_sane(given.as_bytes()) => given.clone(),
            Some(_) | None => self.make(),
        }
    }

    fn make(&self) -> HeaderValue {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        HeaderValue::try_from(format!("{}-{number:x}", self.process))
            .unwrap_or(HeaderValue::from_static("unknown"))
    }
}

/// What can stand in a log line without harm.
fn is_sane(id: &[u8]) -> bool {
    (1..=LONGEST).contains(&id.len())
        && id.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(given: Option<&[u8]>) -> String {
        let mut headers = HeaderMap::new();
        if let Some(given) = given {
            headers.insert(X_REQUEST_ID, HeaderValue::from_bytes(given).unwrap());
        }
        RequestIds::new("p").of(&headers).to_str().unwrap().to_owned()
    }

    #[test]
    fn a_sane_id_is_kept_and_any_other_replaced() {
        assert_eq!(of(Some(b"order-7.retry_2")), "order-7.retry_2");
        for bad in [&b""[..], b"a b", b"<script>", "\u{e9}".as_bytes(), &[b'a'; 65]] {
            assert_eq!(of(Some(bad)), "p-1", "{bad:?}");
        }
        assert_eq!(of(None), "p-1");
    }
}
