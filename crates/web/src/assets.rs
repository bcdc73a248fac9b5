//! Style and scripts: compiled in, named by their content, so that browsers may keep them for ever.
//!
//! Scripts and styles are written for readers; indentation and lines that are nothing but a comment are not sent.

use std::sync::LazyLock;

use alloy_primitives::{hex, keccak256};
use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use hyper::{
    HeaderMap, StatusCode,
    header::{self, HeaderValue},
};

use crate::failure::Failure;

const IMMUTABLE: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

/// The files; a script may import those before it, as `"./name"`. `icon.svg` is the mark of the product.
const FILES: [(&str, &str, &str); 8] = [
    ("style.css", "text/css; charset=utf-8", include_str!("../assets/style.css")),
    ("app.js", "text/javascript; charset=utf-8", include_str!("../assets/app.js")),
    ("faucet.js", "text/javascript; charset=utf-8", include_str!("../assets/faucet.js")),
    ("wallet.js", "text/javascript; charset=utf-8", include_str!("../assets/wallet.js")),
    ("developers.js", "text/javascript; charset=utf-8", include_str!("../assets/developers.js")),
    ("pay.js", "text/javascript; charset=utf-8", include_str!("../assets/pay.js")),
    ("network.js", "text/javascript; charset=utf-8", include_str!("../assets/network.js")),
    ("icon.svg", "image/svg+xml", include_str!("../assets/icon.svg")),
];

struct Asset {
    name: &'static str,
    /// Where it is, with its content in the name.
    path: String,
    media_type: &'static str,
    body: Bytes,
}

static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    let mut assets: Vec<Asset> = Vec::with_capacity(FILES.len());
    for (name, media_type, source) in FILES {
        let body = Bytes::from(linked(condensed(source), &assets));
        let hash = keccak256(&body);
        let (start, _) = hash.split_at(6);
        let path = format!("/assets/{}-{name}", hex::encode(start));
        assets.push(Asset { name, path, media_type, body });
    }
    assets
});

/// With imports of other files by where they are.
fn linked(source: String, assets: &[Asset]) -> String {
    let link = |text: String, asset: &Asset| {
        text.replace(&format!("\"./{}\"", asset.name), &format!("\"{}\"", asset.path))
    };
    assets.iter().fold(source, link)
}

/// Without indentation, empty lines and lines that are nothing but a comment. Sources have no text over several lines.
fn condensed(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let is_comment = |line: &str| line.starts_with("//") || (line.starts_with("/*") && line.ends_with("*/"));
    for line in source.lines().map(str::trim).filter(|line| !line.is_empty() && !is_comment(line)) {
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// Where a file is.
pub(crate) fn path(name: &str) -> String {
    let asset = ASSETS.iter().find(|asset| asset.name == name);
    asset.map(|asset| asset.path.clone()).unwrap_or_default()
}

/// `GET /assets/…`, and the icon where browsers look for it.
pub(crate) async fn get(uri: hyper::Uri, headers: HeaderMap) -> Response {
    let asset = match uri.path() {
        "/favicon.ico" => ASSETS.iter().find(|asset| asset.name == "icon.svg"),
        path => ASSETS.iter().find(|asset| asset.path == path),
    };
    let Some(asset) = asset else { return Failure::NoPage.into_response() };
    let (body, encoding) = api::encode(&headers, asset.body.clone());
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::OK;
    let out = response.headers_mut();
    out.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.media_type));
    out.insert(header::CACHE_CONTROL, IMMUTABLE);
    out.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if let Some(encoding) = encoding {
        out.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Styles and scripts of all pages together, before compression.
    const MOST_BYTES: usize = 40_000;

    #[test]
    fn all_styles_and_scripts_together_are_small() {
        let total: usize = ASSETS.iter().map(|asset| asset.body.len()).sum();
        assert!(total <= MOST_BYTES, "{total} bytes");
    }

    #[test]
    fn a_name_changes_with_its_content_and_comments_stay_here() {
        assert_eq!(condensed("a {\n  /* why */\n\n  b: c;\n}\n// no\n"), "a {\nb: c;\n}\n");
        assert!(path("app.js").starts_with("/assets/") && path("app.js").ends_with("-app.js"));
        assert_eq!(path("missing"), "");
    }
}
