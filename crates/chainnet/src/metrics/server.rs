//! The port for operators: `/metrics`, and `/health` and `/ready` of the process, which roles without another port need.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use chain::ChainClient;
use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{self, HeaderValue},
};
use jiff::Timestamp;
use serde_json::{Value, json};
use store::Db;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::Metrics;

/// As OpenMetrics names itself.
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const JSON: &str = "application/json";
/// A chain with blocks every 2 seconds whose head is older than this stands still.
const OLDEST_HEAD_SECONDS: i64 = 30;
/// How long the database may take to answer.
const PATIENCE: Duration = Duration::from_secs(3);

/// What `/health` and `/ready` look at.
pub(crate) struct Probe {
    pub(crate) network: &'static str,
    pub(crate) role: &'static str,
    pub(crate) started_at: Timestamp,
    pub(crate) chain: Arc<dyn ChainClient>,
    /// None for a process without one.
    pub(crate) db: Option<Db>,
    /// Whether the process is about to end.
    pub(crate) is_draining: Arc<AtomicBool>,
}

/// Serves operators until stopped.
pub(crate) async fn serve(listener: TcpListener, metrics: Metrics, probe: Probe, stop: CancellationToken) {
    let probe = Arc::new(probe);
    let answer = move |_peer: IpAddr, request: Request<Incoming>| {
        let (metrics, probe) = (metrics.clone(), probe.clone());
        async move { answer(&metrics, &probe, request.method(), request.uri().path()).await }
    };
    api::serve_with(listener, answer, api::ConnectionLimits::default(), stop).await;
}

async fn answer(metrics: &Metrics, probe: &Probe, method: &Method, path: &str) -> Response<Full<Bytes>> {
    if method != Method::GET && method != Method::HEAD {
        let mut refused = respond(StatusCode::METHOD_NOT_ALLOWED, "text/plain", "only GET\n".to_owned());
        refused.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        return refused;
    }
    match path {
        "/metrics" => match metrics.text() {
            Ok(text) => respond(StatusCode::OK, OPENMETRICS, text),
            Err(_) => {
                respond(StatusCode::INTERNAL_SERVER_ERROR, "text/plain", "cannot be written\n".to_owned())
            }
        },
        "/health" => respond(StatusCode::OK, JSON, probe.health().to_string()),
        "/ready" => {
            let (is_ready, view) = probe.readiness().await;
            let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
            respond(status, JSON, view.to_string())
        }
        _ => {
            respond(StatusCode::NOT_FOUND, "text/plain", "/metrics, /health and /ready are here\n".to_owned())
        }
    }
}

fn respond(status: StatusCode, content_type: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

impl Probe {
    fn health(&self) -> Value {
        let uptime = Timestamp::now().as_second() - self.started_at.as_second();
        json!({
            "status": "ok",
            "version": env!("CARGO_PKG_VERSION"),
            "network": self.network,
            "role": self.role,
            "uptimeSeconds": uptime.max(0),
        })
    }

    async fn readiness(&self) -> (bool, Value) {
        let head = self.chain.heads().borrow().clone();
        let now = Timestamp::now().as_second();
        let age = head.as_ref().map(|head| now.saturating_sub_unsigned(head.header.timestamp).max(0));
        let chain = self.chain.is_reachable() && age.is_some_and(|age| age <= OLDEST_HEAD_SECONDS);
        let number = head.map(|head| head.number());
        let mut checks = json!({ "chain": { "ok": chain, "blockNumber": number, "headAgeSeconds": age } });
        let mut is_ready = chain;
        if let Some(db) = &self.db {
            let answered = tokio::time::timeout(PATIENCE, db.ping()).await;
            let now = u64::try_from(Timestamp::now().as_millisecond()).unwrap_or(0);
            let database = matches!(answered, Ok(Ok(()))) && db.is_writable(now).await;
            is_ready &= database;
            if let Some(checks) = checks.as_object_mut() {
                checks.insert("database".to_owned(), json!({ "ok": database }));
            }
        }
        let status = match (self.is_draining.load(Ordering::Relaxed), is_ready) {
            (true, _) => "draining",
            (false, true) => "ready",
            (false, false) => "not_ready",
        };
        (status == "ready", json!({ "status": status, "checks": checks }))
    }
}
