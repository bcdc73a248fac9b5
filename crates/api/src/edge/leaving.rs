//! How answers leave: refusals, the headers that every answer has, and what is logged of failures.

use std::sync::atomic::Ordering;

use axum::response::Response as RouterResponse;
use bytes::Bytes;
use hyper::{
    HeaderMap, Method, Response, StatusCode, Uri,
    header::{self, HeaderName, HeaderValue},
};

use super::{
    AnswerBody, Envelope, Inner, answer::FOR_BROWSERS, challenge::challenge, loggable,
    request_id::X_REQUEST_ID,
};
use crate::{code::Code, problem::Problem};

const RATELIMIT_LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
const RATELIMIT_REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
const RATELIMIT_RESET: HeaderName = HeaderName::from_static("ratelimit-reset");
const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");

impl Inner {
    /// An answer that is not kept: a refusal, something made, an upgrade.
    pub(super) fn pass(
        &self,
        envelope: &Envelope,
        method: &Method,
        uri: &Uri,
        mut response: RouterResponse,
    ) -> Response<AnswerBody> {
        if response.status() == StatusCode::METHOD_NOT_ALLOWED {
            return self.other_method(envelope, method, response.headers());
        }
        if let Some(problem) = response.extensions_mut().remove::<Problem>() {
            log(&problem, envelope, method, uri);
            return self.refuse(envelope, &problem);
        }
        let mut response = response.map(AnswerBody::Stream);
        self.mark(envelope, response.headers_mut());
        response
    }

    /// The path is there, the method is not; or it was asked what methods there are.
    fn other_method(&self, envelope: &Envelope, method: &Method, found: &HeaderMap) -> Response<AnswerBody> {
        let allow = found.get(header::ALLOW).and_then(|allow| allow.to_str().ok()).unwrap_or("GET,HEAD");
        let allow = HeaderValue::try_from(format!("{}, OPTIONS", allow.replace(',', ", ")));
        let mut response = if method == Method::OPTIONS {
            self.finish(envelope, StatusCode::NO_CONTENT, HeaderMap::new(), Bytes::new())
        } else {
            self.refuse(envelope, &Problem::new(Code::MethodNotAllowed, Code::MethodNotAllowed.meaning()))
        };
        if let Ok(allow) = allow {
            response.headers_mut().insert(header::ALLOW, allow);
        }
        response
    }

    pub(super) fn preflight(&self, envelope: &Envelope) -> Response<AnswerBody> {
        let mut out = HeaderMap::with_capacity(12);
        self.config.cors.mark_preflight(&mut out);
        self.finish(envelope, StatusCode::NO_CONTENT, out, Bytes::new())
    }

    pub(super) fn refuse(&self, envelope: &Envelope, problem: &Problem) -> Response<AnswerBody> {
        let mut out = HeaderMap::with_capacity(16);
        out.insert(header::CONTENT_TYPE, PROBLEM_JSON);
        out.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(challenge) = challenge(problem.code()) {
            out.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
        }
        if let Some(seconds) = problem.retry_after() {
            out.insert(header::RETRY_AFTER, seconds.into());
        }
        let body = problem.to_json(envelope.id());
        self.finish(envelope, problem.status(), out, body)
    }

    pub(super) fn finish(
        &self,
        envelope: &Envelope,
        status: StatusCode,
        mut headers: HeaderMap,
        body: Bytes,
    ) -> Response<AnswerBody> {
        self.mark(envelope, &mut headers);
        let mut body = body;
        if envelope.is_head {
            headers.insert(header::CONTENT_LENGTH, body.len().into());
            body = Bytes::new();
        }
        let mut response = Response::new(AnswerBody::whole(body));
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        response
    }

    /// The headers of every answer.
    fn mark(&self, envelope: &Envelope, headers: &mut HeaderMap) {
        headers.insert(X_REQUEST_ID, envelope.id.clone());
        for (name, value) in FOR_BROWSERS {
            // Pages have a policy of their own.
            headers.entry(name).or_insert(value);
        }
        self.config.cors.mark(envelope.origin.as_ref(), headers);
        let vary = if self.config.cors.varies() { "Accept-Encoding, Origin" } else { "Accept-Encoding" };
        headers.insert(header::VARY, HeaderValue::from_static(vary));
        if let Some(marks) = &envelope.marks {
            marks.put(headers);
        }
        // An upgraded connection has left HTTP behind.
        let is_leaving = self.is_draining.load(Ordering::Relaxed) && !headers.contains_key(header::UPGRADE);
        // Whoever goes on in spite of the limit has to connect again: what it has sent behind this request is not even read.
        let is_refused = envelope.allowance.is_some_and(|allowance| !allowance.is_granted);
        if is_leaving || is_refused {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        if let Some(allowance) = envelope.allowance {
            headers.insert(RATELIMIT_LIMIT, allowance.limit.into());
            headers.insert(RATELIMIT_REMAINING, allowance.remaining.into());
            headers.insert(RATELIMIT_RESET, allowance.reset_seconds().into());
        }
    }
}

/// The one place where failures are logged, each with everything behind it.
fn log(problem: &Problem, envelope: &Envelope, method: &Method, uri: &Uri) {
    let (code, cause) = (problem.code(), problem.chain().unwrap_or_default());
    let path = loggable(uri.path());
    let path = path.as_ref();
    match problem.status().as_u16() {
        503 => {
            tracing::warn!(request.id = envelope.id(), %method, path, %code, cause, "a request could not be served")
        }
        500.. => tracing::error!(request.id = envelope.id(), %method, path, %code, cause, "a request failed"),
        _ => {
            tracing::debug!(request.id = envelope.id(), %method, path, %code, cause, "a request was refused")
        }
    }
}
