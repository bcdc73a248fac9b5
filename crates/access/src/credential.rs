//! Where a request carries its key: `X-API-Key`, `Authorization: Bearer`, or the path, for wallets that hold only a URL; a
//! developer key of the portal also in a header of its own.

use http1::Headers;

use crate::KeyDenied;

const X_API_KEY: &str = "x-api-key";
const X_PLATFORM_DEV_KEY: &str = "x-platform-dev-key";
/// What the token of a wallet's session begins with: a bearer, but no key.
const SESSION: &[u8] = b"pds_";

/// The key that a request presents in its headers or, as its caller found it there, in its path.
///
/// Two that differ are refused: whatever stands before us may have looked at the other one.
pub fn presented_key<'a, H: Headers>(headers: &'a H, in_path: Option<&'a str>) -> Result<&'a str, KeyDenied> {
    the_one(headers.lines(X_API_KEY).chain(bearers(headers)).chain(in_path.map(str::as_bytes)))
}

/// The developer key that a request presents.
pub fn presented_developer_key<H: Headers>(headers: &H) -> Result<&str, KeyDenied> {
    let as_bearer = bearers(headers).filter(|token| !token.starts_with(SESSION));
    the_one(headers.lines(X_PLATFORM_DEV_KEY).chain(as_bearer).chain(headers.lines(X_API_KEY)))
}

/// The bearer token that a request presents.
pub fn presented_bearer<H: Headers>(headers: &H) -> Result<&str, KeyDenied> {
    the_one(bearers(headers))
}

fn bearers<H: Headers>(headers: &H) -> impl Iterator<Item = &[u8]> {
    headers.lines("authorization").filter_map(bearer)
}

fn the_one<'a>(mut presented: impl Iterator<Item = &'a [u8]>) -> Result<&'a str, KeyDenied> {
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
    use http::{HeaderMap, HeaderName, HeaderValue};

    use super::*;

    fn headers(lines: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(HeaderName::try_from(*name).unwrap(), HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    fn presented(lines: &[(&str, &str)], in_path: Option<&str>) -> Result<String, KeyDenied> {
        presented_key(&headers(lines), in_path).map(str::to_owned)
    }

    #[test]
    fn a_developer_key_is_found_in_three_places_and_is_one() {
        let presented = |lines: &[(&str, &str)]| presented_developer_key(&headers(lines)).map(str::to_owned);
        let three = [("X-Platform-Dev-Key", "k"), ("Authorization", "Bearer k"), ("X-Api-Key", "k")];
        for line in three {
            assert_eq!(presented(&[line]).unwrap(), "k");
        }
        assert_eq!(presented(&three).unwrap(), "k");
        assert_eq!(presented(&[three[0], ("x-api-key", "other")]), Err(KeyDenied::Ambiguous));
        assert_eq!(presented(&[]), Err(KeyDenied::Missing));
        let session = ("authorization", "Bearer pds_token");
        assert_eq!(presented(&[session]), Err(KeyDenied::Missing), "a session is no key");
        assert_eq!(presented(&[session, three[0]]).unwrap(), "k");
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
