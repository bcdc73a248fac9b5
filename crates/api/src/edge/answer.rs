//! An answer as bytes, made once and sent many times: body, ETag, how long it holds, and its compressed forms.

use std::sync::{Arc, OnceLock};

use alloy_primitives::{B256, hex, keccak256};
use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use hyper::{
    HeaderMap, StatusCode,
    header::{self, HeaderName, HeaderValue},
};
use serde::Serialize;

use super::encoding::{self, Encoding};
use crate::{code::Code, problem::Problem};

/// How long an answer holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// For ever: it is made of final blocks only.
    Final,
    /// Until a head other than this one is served.
    Head(B256),
    /// For a moment: it may change at any time, or is not known to be of the head.
    Moment,
    /// As long as this process runs.
    Process,
    /// Not beyond this request.
    Never,
}

impl Holds {
    const fn cache_control(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Final => "public, max-age=31536000, immutable",
            Self::Head(_) | Self::Moment => "public, max-age=1",
            Self::Process => "public, max-age=60",
            Self::Never => "no-store",
        })
    }
}

/// An answer as bytes.
pub(crate) struct Rendered {
    body: Bytes,
    media_type: HeaderValue,
    cache_control: HeaderValue,
    /// What the tags of all encodings begin with.
    tag: String,
    tags: Tags,
    content_security_policy: Option<HeaderValue>,
    brotli: OnceLock<Option<Bytes>>,
    gzip: OnceLock<Option<Bytes>>,
}

/// The ETag of each encoding: bytes that differ must not share one.
struct Tags {
    brotli: HeaderValue,
    gzip: HeaderValue,
    identity: HeaderValue,
}

impl Tags {
    fn new(tag: &str) -> Self {
        // Hexadecimal digits are fit for a header.
        let value = |suffix| {
            HeaderValue::try_from(format!("\"{tag}{suffix}\"")).unwrap_or(HeaderValue::from_static("\"\""))
        };
        Self { brotli: value("-br"), gzip: value("-gz"), identity: value("") }
    }

    fn of(&self, encoding: Encoding) -> HeaderValue {
        match encoding {
            Encoding::Brotli => self.brotli.clone(),
            Encoding::Gzip => self.gzip.clone(),
            Encoding::Identity => self.identity.clone(),
        }
    }
}

/// JSON.
pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");

impl Rendered {
    /// An answer of any media type.
    pub(crate) fn new(body: Bytes, media_type: HeaderValue, holds: Holds) -> Self {
        let hash = keccak256(&body);
        let (start, _) = hash.split_at(16);
        let tag = hex::encode(start);
        Self {
            body,
            media_type,
            cache_control: holds.cache_control(),
            tags: Tags::new(&tag),
            tag,
            content_security_policy: None,
            brotli: OnceLock::new(),
            gzip: OnceLock::new(),
        }
    }

    /// What a page may load.
    pub(crate) fn with_policy(mut self, policy: HeaderValue) -> Self {
        self.content_security_policy = Some(policy);
        self
    }

    /// Bytes it takes in memory, compressed forms included.
    pub(super) fn weight(&self) -> u64 {
        // The compressed forms do not exist yet when this is asked; a third each is what JSON comes to.
        (self.body.len() as u64 * 5 / 3) + 256
    }

    /// Answers a request with these headers: its status and body; other headers go into `out`.
    pub(super) fn send(&self, request: &HeaderMap, out: &mut HeaderMap) -> (StatusCode, Bytes) {
        let (encoding, body) = self.encoded(Encoding::of(request, self.body.len()));
        out.insert(header::CACHE_CONTROL, self.cache_control.clone());
        out.insert(header::ETAG, self.tags.of(encoding));
        if self.is_known_to(request) {
            return (StatusCode::NOT_MODIFIED, Bytes::new());
        }
        out.insert(header::CONTENT_TYPE, self.media_type.clone());
        if let Some(name) = encoding.name() {
            out.insert(header::CONTENT_ENCODING, HeaderValue::from_static(name));
        }
        if let Some(policy) = &self.content_security_policy {
            out.insert(header::CONTENT_SECURITY_POLICY, policy.clone());
        }
        (StatusCode::OK, body)
    }

    fn encoded(&self, wanted: Encoding) -> (Encoding, Bytes) {
        let encoded = match wanted {
            Encoding::Brotli => self.brotli.get_or_init(|| encoding::brotli(&self.body)).clone(),
            Encoding::Gzip => self.gzip.get_or_init(|| encoding::gzip(&self.body)).clone(),
            Encoding::Identity => None,
        };
        match encoded {
            Some(encoded) => (wanted, encoded),
            None => (Encoding::Identity, self.body.clone()),
        }
    }

    /// Whether `If-None-Match` names this answer in any encoding.
    fn is_known_to(&self, request: &HeaderMap) -> bool {
        let lines = request.get_all(header::IF_NONE_MATCH);
        lines.iter().filter_map(|line| line.to_str().ok()).flat_map(|line| line.split(',')).any(|tag| {
            let tag = tag.trim();
            let tag = tag.strip_prefix("W/").unwrap_or(tag).trim_matches('"');
            tag == "*" || tag.strip_prefix(&self.tag).is_some_and(|rest| matches!(rest, "" | "-br" | "-gz"))
        })
    }
}

/// What a handler returns: an answer and how long it holds. The edge keeps it for the next request, and sends it.
#[derive(Clone)]
pub(crate) struct Answer {
    pub(super) rendered: Arc<Rendered>,
    pub(super) holds: Holds,
}

impl Answer {
    /// An answer that is already rendered.
    pub(crate) fn rendered(rendered: Arc<Rendered>, holds: Holds) -> Self {
        Self { rendered, holds }
    }

    /// A JSON answer.
    pub(crate) fn json(view: &impl Serialize, holds: Holds) -> Result<Self, Problem> {
        let body = serde_json::to_vec(view)
            .map_err(|error| Problem::new(Code::Internal, Code::Internal.meaning()).with_cause(error))?;
        Ok(Self { rendered: Arc::new(Rendered::new(body.into(), JSON, holds)), holds })
    }

    /// An answer of another media type.
    pub(crate) fn text(body: impl Into<Bytes>, media_type: &'static str, holds: Holds) -> Self {
        let rendered = Rendered::new(body.into(), HeaderValue::from_static(media_type), holds);
        Self { rendered: Arc::new(rendered), holds }
    }
}

impl IntoResponse for Answer {
    /// The body stays empty: the edge sends the bytes of the extension.
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        response.extensions_mut().insert(self);
        response
    }
}

/// An answer that is not kept, with a status and a place of its own: something was made.
pub(crate) fn created(view: &impl Serialize, location: &str) -> Result<Response, Problem> {
    let mut response = made(view)?;
    if let Ok(location) = HeaderValue::try_from(location) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    Ok(response)
}

/// The same for what cannot be looked at again.
pub(crate) fn made(view: &impl Serialize) -> Result<Response, Problem> {
    let body = serde_json::to_vec(view)
        .map_err(|error| Problem::new(Code::Internal, Code::Internal.meaning()).with_cause(error))?;
    Ok(private(StatusCode::CREATED, body))
}

/// An answer to one caller, with a status of its own. It is not kept, so that it needs no tag.
pub(crate) fn private(status: StatusCode, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, JSON);
    headers.insert(header::CACHE_CONTROL, Holds::Never.cache_control());
    response
}

/// What a browser is told with every answer: bodies are what their media type says, addresses are nobody else's business,
/// and an answer that is no page of ours loads nothing and is shown in nobody's frame.
pub(super) const FOR_BROWSERS: [(HeaderName, HeaderValue); 3] = [
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'")),
];
