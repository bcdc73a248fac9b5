//! A request's path as it may be logged: what is a permission, or looks like somebody's key, is left out.

use std::borrow::Cow;

/// What stands for something that is not logged.
const HIDDEN: &str = "…";
/// What keys, tokens and secrets of ours begin with. People paste them into the wrong place.
const PREFIXES: [&str; 4] = ["pdk_", "pds_", "cnk_", "whsec_"];
/// What stands before the token of a payment link, which is a permission.
const BEFORE_TOKEN: &str = "pay";

/// A path without secrets. Nothing behind a question mark is part of it.
pub fn loggable(path: &str) -> Cow<'_, str> {
    let mut is_token = false;
    let mut is_changed = false;
    let shown: Vec<&str> = path
        .split('/')
        .map(|segment| {
            let is_hidden = !segment.is_empty() && (is_token || is_secret(segment));
            is_token = segment == BEFORE_TOKEN;
            is_changed |= is_hidden;
            if is_hidden { HIDDEN } else { segment }
        })
        .collect();
    if is_changed { shown.join("/").into() } else { path.into() }
}

/// Whether a part of a path may be a secret. What is encoded is not looked into.
fn is_secret(segment: &str) -> bool {
    let lower = segment.to_ascii_lowercase();
    lower.contains('%') || PREFIXES.iter().any(|prefix| lower.contains(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_payment_links_and_misplaced_keys_are_not_logged() {
        let pay = "/api/v1/platform-dev/pay/";
        for (path, shown) in [
            (format!("{pay}MDEyMzQ1Njc4OWFiY2RlZg"), format!("{pay}…")),
            (format!("{pay}MDEyMzQ1Njc4OWFiY2RlZg/quote"), format!("{pay}…/quote")),
            ("/pay/MDEyMzQ1Njc4OWFiY2RlZg".to_owned(), "/pay/…".to_owned()),
            ("/v1/pdk_7Kq2mXc9TzPa_abc".to_owned(), "/v1/…".to_owned()),
            ("/x/CNK_a_b/y".to_owned(), "/x/…/y".to_owned()),
            ("/x/%70dk_7Kq2".to_owned(), "/x/…".to_owned()),
        ] {
            assert_eq!(loggable(&path), shown, "{path}");
        }
        for path in ["/", "", "/pay/", "/api/v1/blocks/7", "/developers/keys"] {
            assert_eq!(loggable(path), path);
        }
    }
}
