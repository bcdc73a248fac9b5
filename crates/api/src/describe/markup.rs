//! The frame of our HTML pages: no request to anywhere else, readable without JavaScript.

use hyper::header::HeaderValue;

/// Only files of this server, and requests to it alone.
pub(crate) const PAGE_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

/// A whole page around `body`, which is markup.
pub(crate) fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{} · chainnet</title>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <link rel=\"icon\" href=\"data:,\"><link rel=\"stylesheet\" href=\"/api/v1/docs/style.css\"></head>\
         <body>{body}</body></html>",
        escape(title)
    )
}

/// The same, with what stands between backticks as code.
pub(crate) fn prose(text: &str) -> String {
    let pieces = text.split('`').map(escape).enumerate();
    pieces
        .map(|(index, piece)| if index % 2 == 1 { format!("<code>{piece}</code>") } else { piece })
        .collect()
}

/// Text that is safe inside elements and quoted attributes.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}
