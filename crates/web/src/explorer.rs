//! What happens to every request of a page before and after its handler.

use std::{
    net::IpAddr,
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant},
};

use access::{UniformLimiter, client_address};
use api::{HttpMetrics, RequestIds};
use axum::{BoxError, Router, body::Body, response::Response};
use bytes::Bytes;
use domain::portal::InvoiceToken;
use futures_util::FutureExt;
use http_body_util::BodyExt;
use hyper::{
    HeaderMap, Method, Request, StatusCode,
    body::Body as HttpBody,
    header::{self, HeaderValue},
};
use ipnet::IpNet;
use jiff::Timestamp;
use tower::ServiceExt;
use tracing::Instrument;
use webhooks::SenderLimits;

use crate::{failure::Failure, live, pages, site::Site, visit::Visit};

/// Requests of pages that a visitor may make in a minute. Assets are not counted.
const PAGES_PER_MINUTE: u32 = 600;
/// How long a page may take to make.
const TIME_LIMIT: Duration = Duration::from_secs(10);
/// Nothing from elsewhere, nothing inline, nobody around us.
const CONTENT_SECURITY_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
     base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
);

/// First words of paths that are counted apart.
const ROUTES: &[&str] = &[
    "",
    "blocks",
    "block",
    "transactions",
    "tx",
    "address",
    "search",
    "burns",
    "network",
    "validators",
    "validator",
    "developers",
    "faucet",
    "pay",
    "live",
    "assets",
    "other",
];

/// The explorer: takes requests, gives pages. Cheap to clone.
#[derive(Clone)]
pub struct Explorer {
    inner: Arc<Inner>,
}

struct Inner {
    site: Arc<Site>,
    router: Router,
    limiter: UniformLimiter,
    trusted_proxies: Vec<IpNet>,
    ids: RequestIds,
    metrics: Arc<HttpMetrics>,
    /// Another name of this machine, which visitors are led away from: cookies and signatures are bound to one name.
    other_name: Option<(String, String)>,
}

impl Explorer {
    /// The explorer of a site; `trusted_proxies` are those whose `X-Forwarded-For` is believed.
    pub fn new(site: Site, trusted_proxies: Vec<IpNet>) -> Self {
        let site = Arc::new(site);
        let counting = site.edge.counting();
        let router = pages::routes(counting).with_state(site.clone());
        let limiter = counting.limiter("pages", PAGES_PER_MINUTE);
        let origin = site.deployment().urls.explorer.origin();
        let other_name =
            origin.strip_prefix("http://127.0.0.1").map(|port| (format!("localhost{port}"), origin.clone()));
        let ids = RequestIds::new(&format!("{:x}", Timestamp::now().as_microsecond()));
        let metrics = Arc::new(HttpMetrics::new("/", ROUTES));
        let inner = Inner { site, router, limiter, trusted_proxies, ids, metrics, other_name };
        Self { inner: Arc::new(inner) }
    }

    /// Which pages were asked for and how they were answered, for operators. What the API answers is counted there.
    pub fn metrics(&self) -> Arc<HttpMetrics> {
        self.inner.metrics.clone()
    }

    /// Keeps the live parts up to date; ends when they are stopped.
    pub async fn follow(&self) {
        live::follow(self.inner.site.clone()).await;
    }

    /// Answers a request that came from `peer`.
    pub async fn answer<B>(&self, peer: IpAddr, request: Request<B>) -> Response
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let inner = &*self.inner;
        let path = request.uri().path();
        if is_of_api(path) {
            // Boxed, like the page below: a connection keeps room for the largest answer as long as it lives, and whoever
            // watches keeps it for hours.
            return Box::pin(inner.site.edge.answer(peer, request)).await.map(Body::new);
        }
        let (started, route) = (Instant::now(), inner.metrics.route(path));
        let response = self.answer_page(peer, request).await;
        inner.metrics.answered(route, response.status(), started.elapsed());
        response
    }

    async fn answer_page<B>(&self, peer: IpAddr, request: Request<B>) -> Response
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let inner = &*self.inner;
        let headers = request.headers();
        let address = client_address(peer, headers, &inner.trusted_proxies);
        let visit = Visit::new(headers, request.uri(), address, inner.ids.of(headers));
        let wants = Wants {
            headers: headers.clone(),
            is_head: request.method() == Method::HEAD,
            id: visit.id.clone(),
        };
        if let Some(place) = inner.proper_place(&request) {
            return inner.finish(pages::go_to_origin(&place), &wants).await;
        }
        let response = match inner.admit(request.uri().path(), request.headers(), &visit).await {
            Ok(()) => Box::pin(inner.ask(request.map(Body::new), &visit)).await,
            Err(refusal) => *refusal,
        };
        let response = match response.extensions().get::<Failure>().cloned() {
            Some(failure) => inner.explain(&failure, &visit),
            None => response,
        };
        inner.finish(response, &wants).await
    }
}

/// What is left to know of a request when its handler has taken it.
struct Wants {
    headers: HeaderMap,
    is_head: bool,
    id: HeaderValue,
}

impl Inner {
    /// Where a visitor who used another name of this machine should be.
    fn proper_place<B>(&self, request: &Request<B>) -> Option<String> {
        let (other, origin) = self.other_name.as_ref()?;
        let host = request.headers().get(header::HOST)?.to_str().ok()?;
        let is_page = request.method() == Method::GET && host == other;
        is_page.then(|| {
            format!("{origin}{}", request.uri().path_and_query().map_or("/", |place| place.as_str()))
        })
    }

    /// Whether a visitor gets in, and not too often.
    async fn admit(&self, path: &str, headers: &HeaderMap, visit: &Visit) -> Result<(), Box<Response>> {
        if is_for_everybody(path) {
            return Ok(());
        }
        let now = self.site.api.clock.now();
        let allowance = self.limiter.take(visit.address.into(), now).await;
        if !allowance.is_granted {
            return Err(Box::new(self.explain(&Failure::TooMany(allowance.retry_seconds()), visit)));
        }
        if needs_no_key(path) || self.site.visitors.admits(headers, visit.address, now) {
            return Ok(());
        }
        Err(Box::new(pages::enter::ask(&self.site, visit, StatusCode::UNAUTHORIZED, None)))
    }

    /// Lets the page's handler answer, within the time limit and whatever happens in there.
    async fn ask(&self, mut request: Request<Body>, visit: &Visit) -> Response {
        let rpc_key = self.site.visitors.rpc_key(request.headers(), visit.address, self.site.api.clock.now());
        request.extensions_mut().insert(Visit { rpc_key, ..visit.clone() });
        if request.method() == Method::HEAD {
            *request.method_mut() = Method::GET;
        }
        let path = request.uri().path().to_owned();
        let span = tracing::info_span!("request", request.id = visit.id());
        let call = AssertUnwindSafe(self.router.clone().oneshot(request)).catch_unwind().instrument(span);
        match tokio::time::timeout(time_limit(&path), call).await {
            Ok(Ok(Ok(response))) => response,
            Ok(Ok(Err(never))) => match never {},
            Ok(Err(_panic)) => {
                tracing::error!(request.id = visit.id(), path = %api::loggable(&path), "a page panicked");
                self.explain(&Failure::Internal("panic".to_owned()), visit)
            }
            Err(_elapsed) => self.explain(&Failure::ChainUnavailable("timed out".to_owned()), visit),
        }
    }

    /// A failure as a page.
    fn explain(&self, failure: &Failure, visit: &Visit) -> Response {
        if let Some(cause) = failure.cause() {
            let path = visit.place.split('?').next().unwrap_or_default();
            let id = visit.id();
            tracing::warn!(request.id = id, path = %api::loggable(path), cause, "a page could not be shown");
        }
        pages::trouble::explain(&self.site, visit, failure)
    }

    /// Headers that every page has, and compression.
    async fn finish(&self, response: Response, wants: &Wants) -> Response {
        let (mut parts, body) = response.into_parts();
        let headers = &mut parts.headers;
        headers.insert("x-request-id", wants.id.clone());
        headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(CONTENT_SECURITY_POLICY);
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.entry(header::REFERRER_POLICY).or_insert(HeaderValue::from_static("no-referrer"));
        headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("private, no-cache"));
        if self.site.edge.is_draining() {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        let is_whole = body.size_hint().exact().is_some() && !headers.contains_key(header::CONTENT_ENCODING);
        if !is_whole || wants.is_head {
            let body = if wants.is_head { Body::empty() } else { body };
            return Response::from_parts(parts, body);
        }
        // Whole bodies are in memory already.
        let bytes = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let (bytes, encoding): (Bytes, _) = api::encode(&wants.headers, bytes);
        if let Some(encoding) = encoding {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
            // The router has written the length of what was to be sent.
            headers.remove(header::CONTENT_LENGTH);
        }
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding, accept-language, cookie"));
        Response::from_parts(parts, Body::from(bytes))
    }
}

/// How long a page may take: the one that tests a webhook waits for its receiver, who was promised the time.
fn time_limit(path: &str) -> Duration {
    let is_test = path == "/developers/webhook";
    TIME_LIMIT + if is_test { SenderLimits::default().attempt } else { Duration::ZERO }
}

/// What the API answers, under the same origin.
fn is_of_api(path: &str) -> bool {
    path.starts_with("/api/")
        || path.starts_with("/graphql/")
        || matches!(path, "/graphql" | "/health" | "/ready")
}

/// What is counted and needs no key: the door itself, links whose token is the permission (to pay, to confirm an
/// address), and the choice of a language, which is on every page.
fn needs_no_key(path: &str) -> bool {
    let is_link = |token: &str| token.parse::<InvoiceToken>().is_ok();
    matches!(path, "/enter" | "/preferences")
        || path.strip_prefix("/pay/").is_some_and(is_link)
        || path.starts_with("/validators/confirm/")
}

/// What needs no key and is not counted.
fn is_for_everybody(path: &str) -> bool {
    matches!(path, "/favicon.ico" | "/robots.txt") || path.starts_with("/assets/")
}
