//! What happens to every request before and after its handler: id, limit, kept answers, time limit, panics; and in `leaving`
//! refusals, headers, CORS and log.
//!
//! One type does all of it, without a stack of layers, because a kept answer is sent from here without asking the router:
//! that is most of the traffic, and it should cost little more than the sending.

pub(crate) mod answer;
mod body;
pub(crate) mod cache;
mod challenge;
mod config;
mod cors;
pub(crate) mod encoding;
mod leaving;
pub(crate) mod limiter;
mod loggable;
pub(crate) mod marks;
pub(crate) mod request_id;

use std::{
    net::IpAddr,
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use access::{Allowance, Client, Counting, client_address};
use axum::{Router, body::Body, response::Response as RouterResponse};
use bytes::Bytes;
use domain::portal::DeveloperKeyId;
use futures_util::FutureExt;
use hyper::{
    HeaderMap, Method, Request, Response,
    body::Body as HttpBody,
    header::{self, HeaderValue},
};
use tower::ServiceExt;
use tracing::Instrument;

use self::{
    answer::Answer, cache::AnswerCache, limiter::RequestLimiter, marks::Marks, request_id::RequestIds,
};
use crate::{
    clock::Clock, code::Code, metrics::HttpMetrics, portal, problem::Problem, serve::ConnectionLimits,
    sockets::Sockets,
};

pub use body::AnswerBody;
pub use config::EdgeConfig;
pub use cors::CorsOrigins;
pub use loggable::loggable;

const LONGEST_URI: usize = 2048;

/// The edge of the API: takes requests, gives answers.
#[derive(Clone)]
pub struct Edge {
    inner: Arc<Inner>,
    sockets: Option<Sockets>,
}

struct Inner {
    router: Router,
    cache: Arc<AnswerCache>,
    limiter: Arc<RequestLimiter>,
    clock: Arc<dyn Clock>,
    ids: RequestIds,
    config: EdgeConfig,
    is_draining: AtomicBool,
    metrics: Arc<HttpMetrics>,
}

/// Who asks, for handlers that count or decide on their own, such as a WebSocket with many operations.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asker {
    pub(crate) address: IpAddr,
    /// A good developer key that the request carries: it is counted, and not the address.
    pub(crate) key: Option<DeveloperKeyId>,
}

impl Asker {
    /// As whom it is counted.
    pub(crate) fn client(self) -> Client {
        self.address.into()
    }
}

/// The process is about to end, for handlers that tell so.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Draining;

/// What an answer needs to know of its request after the handler has taken it.
struct Envelope {
    id: HeaderValue,
    origin: Option<HeaderValue>,
    allowance: Option<Allowance>,
    marks: Option<Marks>,
    is_head: bool,
}

impl Envelope {
    /// The id of the request, as text.
    fn id(&self) -> &str {
        self.id.to_str().unwrap_or_default()
    }
}

impl Edge {
    pub(crate) fn new(
        router: Router,
        cache: Arc<AnswerCache>,
        limiter: Arc<RequestLimiter>,
        clock: Arc<dyn Clock>,
        config: EdgeConfig,
        metrics: HttpMetrics,
    ) -> Self {
        let ids = RequestIds::new(&config.instance);
        let inner = Inner {
            router,
            cache,
            limiter,
            clock,
            ids,
            config,
            is_draining: AtomicBool::new(false),
            metrics: Arc::new(metrics),
        };
        Self { inner: Arc::new(inner), sockets: None }
    }

    /// With WebSockets, which are seen out at the end.
    pub(crate) fn with_sockets(self, sockets: Sockets) -> Self {
        Self { sockets: Some(sockets), ..self }
    }

    /// The end is near: from now on `/ready` says no, so that whoever spreads traffic turns away, and every answer asks for
    /// another connection. All else is as before.
    pub fn drain(&self) {
        self.inner.is_draining.store(true, Ordering::Relaxed);
    }

    /// Whether the end is near.
    pub fn is_draining(&self) -> bool {
        self.inner.is_draining.load(Ordering::Relaxed)
    }

    /// Bounds on connections.
    pub(crate) fn connection_limits(&self) -> ConnectionLimits {
        let config = &self.inner.config;
        ConnectionLimits { trusted_proxies: config.trusted_proxies.clone(), ..config.connections.clone() }
    }

    /// Where limits are counted.
    pub fn counting(&self) -> &Counting {
        &self.inner.config.counting
    }

    /// Waits until all WebSockets have gone, which they do when [`EdgeConfig::stop`] is cancelled.
    pub async fn see_out(&self) {
        if let Some(sockets) = &self.sockets {
            sockets.see_out().await;
        }
    }

    /// What was asked and how it was answered, for operators.
    pub fn metrics(&self) -> Arc<HttpMetrics> {
        self.inner.metrics.clone()
    }

    /// Forgets kept answers as the head moves; ends with the chain's feed.
    pub async fn follow(&self) {
        self.inner.cache.follow().await;
    }

    /// Answers a request that came from `peer`.
    pub async fn answer<B>(&self, peer: IpAddr, request: Request<B>) -> Response<AnswerBody>
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<axum::BoxError>,
    {
        let (started, metrics) = (Instant::now(), &self.inner.metrics);
        let route = metrics.route(request.uri().path());
        let response = self.answer_uncounted(peer, request).await;
        metrics.answered(route, response.status(), started.elapsed());
        response
    }

    async fn answer_uncounted<B>(&self, peer: IpAddr, request: Request<B>) -> Response<AnswerBody>
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<axum::BoxError>,
    {
        let inner = &*self.inner;
        let headers = request.headers();
        let mut envelope = Envelope {
            id: inner.ids.of(headers),
            origin: headers.get(header::ORIGIN).cloned(),
            allowance: None,
            marks: None,
            is_head: request.method() == Method::HEAD,
        };
        if is_preflight(&request) {
            return inner.preflight(&envelope);
        }
        let address = client_address(peer, headers, &inner.config.trusted_proxies);
        let mut asker = Asker { address, key: None };
        if is_limited(request.uri().path()) {
            let now = inner.clock.now();
            asker.key = inner.limiter.key_of(headers, asker.client(), now).await;
            let allowance = inner.limiter.take(asker, now).await;
            envelope.allowance = Some(allowance);
            if !allowance.is_granted {
                return inner.refuse(&envelope, &rate_limited(allowance));
            }
        }
        // A WebSocket begins as a GET of the path whose page may be kept.
        let is_read =
            (envelope.is_head || request.method() == Method::GET) && !headers.contains_key(header::UPGRADE);
        let question = request.uri().path_and_query().map_or("/", |path| path.as_str());
        if question.len() > LONGEST_URI {
            let problem = Problem::new(Code::UriTooLong, Code::UriTooLong.meaning());
            return inner.refuse(&envelope, &problem);
        }
        if is_read && let Some(rendered) = inner.cache.find(question) {
            let mut out = HeaderMap::with_capacity(16);
            let (status, body) = rendered.send(headers, &mut out);
            return inner.finish(&envelope, status, out, body);
        }
        inner.ask(envelope, asker, is_read, request.map(Body::new)).await
    }
}

impl Inner {
    /// Lets the router answer, within the time limit and whatever happens in there.
    async fn ask(
        &self,
        mut envelope: Envelope,
        asker: Asker,
        is_read: bool,
        mut request: Request<Body>,
    ) -> Response<AnswerBody> {
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let mut request_headers = request.headers().clone();
        if !is_read {
            request_headers.remove(header::IF_NONE_MATCH);
        }
        let era = self.cache.era();
        request.extensions_mut().insert(asker);
        let marks = Marks::default();
        request.extensions_mut().insert(marks.clone());
        if self.is_draining.load(Ordering::Relaxed) {
            request.extensions_mut().insert(Draining);
        }
        envelope.marks = Some(marks);
        if envelope.is_head {
            *request.method_mut() = Method::GET;
        }
        // Whatever is logged on the way says for which request.
        let span = tracing::info_span!("request", request.id = envelope.id());
        let call = AssertUnwindSafe(self.router.clone().oneshot(request)).catch_unwind().instrument(span);
        let time_limit = self.config.time_limit + portal::promised_wait(uri.path());
        let response = match tokio::time::timeout(time_limit, call).await {
            Ok(Ok(Ok(response))) => response,
            Ok(Ok(Err(never))) => match never {},
            Ok(Err(_panic)) => {
                let path = loggable(uri.path());
                tracing::error!(request.id = envelope.id(), %method, %path, "a handler panicked");
                return self.refuse(&envelope, &Problem::new(Code::Internal, Code::Internal.meaning()));
            }
            Err(_elapsed) => Problem::new(Code::TimedOut, Code::TimedOut.meaning()).into(),
        };
        // A handler with a limit of its own tells more than ours.
        if let Some(allowance) = response.extensions().get::<Allowance>() {
            envelope.allowance = Some(*allowance);
        }
        if let Some(answer) = response.extensions().get::<Answer>() {
            let question = uri.path_and_query().map_or("/", |path| path.as_str());
            if is_read {
                self.cache.keep(question, answer, era);
            }
            let mut out = HeaderMap::with_capacity(16);
            let (status, body) = answer.rendered.send(&request_headers, &mut out);
            return self.finish(&envelope, status, out, body);
        }
        self.pass(&envelope, &method, &uri, response)
    }
}

impl From<Problem> for RouterResponse {
    fn from(problem: Problem) -> Self {
        axum::response::IntoResponse::into_response(problem)
    }
}

/// Operators' probes are never limited.
fn is_limited(path: &str) -> bool {
    !matches!(path, "/health" | "/ready")
}

/// A browser that asks whether it may ask. It costs nothing, so it counts nothing.
fn is_preflight<B>(request: &Request<B>) -> bool {
    request.method() == Method::OPTIONS
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

pub(crate) fn rate_limited(allowance: Allowance) -> Problem {
    let detail = format!(
        "The limit is {} requests per minute; try again in {} seconds.",
        allowance.limit,
        allowance.retry_seconds()
    );
    Problem::new(Code::RateLimited, detail).with_retry_after(allowance.retry_seconds())
}

#[cfg(test)]
mod tests;
