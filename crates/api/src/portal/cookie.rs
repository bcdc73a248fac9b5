//! The cookie that carries a session's token.

use domain::WebUrl;
use hyper::{
    HeaderMap,
    header::{self, HeaderValue},
};
use jiff::{SignedDuration, Timestamp};

/// How the cookie is called, and whether browsers send it over HTTPS only. A name with this prefix can be set by this very host
/// alone, which browsers grant to HTTPS only.
fn kind(public_url: &WebUrl) -> (&'static str, &'static str) {
    if public_url.scheme() == "https" {
        ("__Host-chainnet_session", "; Secure")
    } else {
        ("chainnet_session", "")
    }
}

/// The token in a request's cookie.
pub(super) fn token<'a>(headers: &'a HeaderMap, public_url: &WebUrl) -> Option<&'a str> {
    let (name, _) = kind(public_url);
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut cookies = lines.flat_map(|line| line.split(';')).filter_map(|cookie| cookie.split_once('='));
    cookies.find(|(found, _)| found.trim() == name).map(|(_, value)| value.trim())
}

/// Gives a browser the token.
pub(super) fn set(token: &str, public_url: &WebUrl, life: SignedDuration) -> Option<HeaderValue> {
    line(token, public_url, life.as_secs())
}

/// Takes the token away from a browser.
pub(super) fn clear(public_url: &WebUrl) -> Option<HeaderValue> {
    line("", public_url, 0)
}

/// How long a browser may keep what ends then.
pub(super) fn life(now: Timestamp, expires_at: Timestamp) -> SignedDuration {
    expires_at.duration_since(now).max(SignedDuration::ZERO)
}

fn line(token: &str, public_url: &WebUrl, seconds: i64) -> Option<HeaderValue> {
    let (name, secure) = kind(public_url);
    let text = format!("{name}={token}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
    let mut value = HeaderValue::try_from(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cookie_is_as_strict_as_the_scheme_allows() {
        let hour = SignedDuration::from_hours(1);
        let text =
            |url: &str| set("pds_x", &url.parse().unwrap(), hour).unwrap().to_str().unwrap().to_owned();
        assert_eq!(
            text("https://portal.example.org"),
            "__Host-chainnet_session=pds_x; Path=/; Max-Age=3600; HttpOnly; SameSite=Lax; Secure"
        );
        assert_eq!(
            text("http://127.0.0.1:3000"),
            "chainnet_session=pds_x; Path=/; Max-Age=3600; HttpOnly; SameSite=Lax"
        );
        let cleared = clear(&"http://127.0.0.1:3000".parse().unwrap()).unwrap();
        assert!(cleared.to_str().unwrap().starts_with("chainnet_session=; Path=/; Max-Age=0;"));
    }

    #[test]
    fn the_token_is_found_among_other_cookies() {
        let url: WebUrl = "http://127.0.0.1:3000".parse().unwrap();
        let mut headers = HeaderMap::new();
        assert_eq!(token(&headers, &url), None);
        headers.append(header::COOKIE, HeaderValue::from_static("a=b; x_chainnet_session=no; theme"));
        headers.append(header::COOKIE, HeaderValue::from_static("chainnet_session=pds_x;c=d"));
        assert_eq!(token(&headers, &url), Some("pds_x"));
        assert_eq!(token(&headers, &"https://a.example".parse().unwrap()), None);
    }
}
