//! Where a request carries its key: `X-API-Key`, `Authorization: Bearer`, or the path, for wallets that hold only a URL.

use hyper::{
    HeaderMap,
    header::{self, HeaderName, HeaderValue},
};

use crate::KeyDenied;

const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// The key that a request presents in its headers or, as its caller found it there, in its path.
///
/// Two that differ are refused: whatever stands before us may have looked at the other one.
pub fn presented_key<'a>(headers: &'a HeaderMap, in_path: Option<&'a str>) -> Result<&'a str, KeyDenied> {
    let in_headers = headers.get_all(X_API_KEY).iter().map(HeaderValue::as_bytes);
    let as_bearer =
        headers.get_all(header::AUTHORIZATION).iter().filter_map(|value| bearer(value.as_bytes()));
    let mut presented = in_headers.chain(as_bearer).chain(in_path.map(str::as_bytes));
    let first = presented.next().ok_or(KeyDenied::Missing)?;
    if presented.any(|other| other != first) {
        return Err(KeyDenied::Ambiguous);
    }
    str::from_utf8(first).map_err(|_| KeyDenied::Malformed)
}

/// The token of a bearer; any other scheme is meant for somebody else.
fn bearer(value: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = value.split_at_checked(b"Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then(|| token.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn presented(lines: &[(&str, &str)], in_path: Option<&str>) -> Result<String, KeyDenied> {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(HeaderName::try_from(*name).unwrap(), HeaderValue::from_str(value).unwrap());
        }
        presented_key(&headers, in_path).map(str::to_owned)
    }

    #[test]
    fn a_key_is_found_in_every_place() {
        assert_eq!(presented(&[("X-API-Key", "k")], None).unwrap(), "k");
        assert_eq!(presented(&[("Authorization", "Bearer k")], None).unwrap(), "k");
        assert_eq!(presented(&[("authorization", "bearer  k ")], None).unwrap(), "k");
        assert_eq!(presented(&[], Some("k")).unwrap(), "k");
    }

    #[test]
    fn no_key_is_missing_and_other_schemes_are_not_ours() {
        assert_eq!(presented(&[], None), Err(KeyDenied::Missing));
        assert_eq!(presented(&[("authorization", "Basic dXNlcg==")], None), Err(KeyDenied::Missing));
        assert_eq!(presented(&[("authorization", "Bearerk")], None), Err(KeyDenied::Missing));
    }

    #[test]
    fn the_same_key_twice_is_one_and_two_keys_are_none() {
        let twice = [("x-api-key", "k"), ("authorization", "Bearer k")];
        assert_eq!(presented(&twice, Some("k")).unwrap(), "k");
        assert_eq!(presented(&twice, Some("other")), Err(KeyDenied::Ambiguous));
        let two = [("x-api-key", "k"), ("x-api-key", "other")];
        assert_eq!(presented(&two, None), Err(KeyDenied::Ambiguous));
        assert_eq!(presented(&[("x-api-key", "k"), ("x-api-key", "")], None), Err(KeyDenied::Ambiguous));
    }

    #[test]
    fn bytes_that_are_no_text_are_malformed() {
        let mut headers = HeaderMap::new();
        headers.insert(X_API_KEY, HeaderValue::from_bytes(&[0xff]).unwrap());
        assert_eq!(presented_key(&headers, None), Err(KeyDenied::Malformed));
    }
}
