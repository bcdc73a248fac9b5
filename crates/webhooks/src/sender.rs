//! One attempt: a signed POST to a stranger's server, with bounds on everything that comes back.
//!
//! Redirects are not followed, proxies not used and answers not decompressed; a server that the guard refuses is not
//! connected to. What the answer means is for the worker.

use std::{error::Error, io, sync::Arc, time::Duration};

use bytes::Bytes;
use domain::portal::{DeliveryId, EventId, EventType};
use http_body_util::{BodyExt, Full};
use hyper::{
    HeaderMap, Method, Request, Response, StatusCode, Uri,
    body::Incoming,
    header::{self, HeaderName, HeaderValue},
};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use jiff::{Timestamp, fmt::rfc2822::DateTimeParser};
use tokio::time::Instant;

use crate::{
    guard::{Guard, GuardedResolver, Refused, UrlRefusal},
    schedule::LONGEST_RETRY_AFTER,
    secret::Secrets,
    signature::{platform_signature, standard_signature},
};

const USER_AGENT: &str = concat!("chainnet-webhooks/", env!("CARGO_PKG_VERSION"));
/// Bytes of an answer that are read.
const MOST_READ: usize = 64 * 1024;
/// Bytes of an answer that are kept.
const MOST_KEPT: usize = 2 * 1024;
/// Idle connections kept for a server, and for how long: as many as are used at once.
const IDLE_CONNECTIONS: usize = 4;
const IDLE_LIMIT: Duration = Duration::from_secs(20);

/// How long an attempt may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SenderLimits {
    /// Until the answer is read, all in all.
    pub attempt: Duration,
    /// Until there is a connection.
    pub connect: Duration,
}

impl Default for SenderLimits {
    fn default() -> Self {
        Self { attempt: Duration::from_secs(15), connect: Duration::from_secs(5) }
    }
}

/// What is to be sent.
#[derive(Debug, Clone)]
pub struct Message {
    /// The event.
    pub event_id: EventId,
    /// What happened.
    pub kind: EventType,
    /// The delivery.
    pub delivery_id: DeliveryId,
    /// Which attempt of it, from 1.
    pub attempt: u64,
    /// The event's bytes.
    pub body: Bytes,
}

/// What came back. The status decides; a body that is not complete in time, or too long, is cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The first bytes, as text.
    pub body: String,
    /// How long to wait, if a server that is busy said so.
    pub retry_after: Option<Duration>,
}

/// Why nothing came back.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The guard refuses the URL or where it leads.
    #[error("{0}")]
    Refused(UrlRefusal),
    /// No answer in time.
    #[error("no answer within {} seconds", .0.as_secs())]
    TimedOut(Duration),
    /// No connection, or a certificate that is not good.
    #[error("no connection")]
    NotConnected(#[source] Box<dyn Error + Send + Sync>),
    /// The connection broke, or what came is not HTTP.
    #[error("the connection broke before an answer")]
    Broken(#[source] Box<dyn Error + Send + Sync>),
    /// The system has no certificates to check servers with.
    #[error("there are no certificates to check the server with")]
    NoCertificates,
}

type Plain = HttpConnector<GuardedResolver>;

/// Sends messages. Cheap to clone.
#[derive(Clone)]
pub struct Sender {
    guard: Arc<Guard>,
    limits: SenderLimits,
    /// For http, where that is allowed.
    plain: Client<Plain, Full<Bytes>>,
    /// None if the system has no certificates.
    tls: Option<Client<HttpsConnector<Plain>, Full<Bytes>>>,
}

impl Sender {
    /// A sender that connects where the guard lets it.
    pub fn new(guard: Arc<Guard>, limits: SenderLimits) -> Self {
        let mut builder = Client::builder(TokioExecutor::new());
        builder
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_LIMIT)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .http1_max_buf_size(MOST_READ);
        let tcp = || {
            let mut tcp = HttpConnector::new_with_resolver(GuardedResolver(Arc::clone(&guard)));
            tcp.enforce_http(false);
            tcp.set_nodelay(true);
            tcp.set_connect_timeout(Some(limits.connect));
            tcp
        };
        let tls = tls_connector(tcp()).map(|connector| builder.build(connector));
        if let Err(error) = &tls {
            tracing::warn!(%error, "no certificates of the system: webhooks over https cannot be sent");
        }
        Self { plain: builder.build(tcp()), tls: tls.ok(), limits, guard }
    }

    /// Sends a body, at this time; answers when its answer is there, or cannot come any more.
    pub async fn send(
        &self,
        url: &str,
        headers: HeaderMap,
        body: Bytes,
        at: Timestamp,
    ) -> Result<Answer, SendError> {
        let deadline = Instant::now() + self.limits.attempt;
        let url = self.guard.read(url).map_err(SendError::Refused)?;
        let uri: Uri = url.as_str().parse().map_err(|_| SendError::Refused(UrlRefusal::NotUrl))?;
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = uri;
        *request.headers_mut() = headers;
        let asked = async {
            match url.scheme() {
                "http" if self.guard.allows_plain() => Ok(self.plain.request(request).await),
                _ => Ok(self.tls.as_ref().ok_or(SendError::NoCertificates)?.request(request).await),
            }
        };
        let asked = tokio::time::timeout_at(deadline, asked).await;
        let response = asked.map_err(|_| SendError::TimedOut(self.limits.attempt))??;
        let response = response.map_err(explain)?;
        Ok(read_answer(response, deadline, at).await)
    }
}

fn tls_connector(tcp: Plain) -> io::Result<HttpsConnector<Plain>> {
    Ok(HttpsConnectorBuilder::new().with_native_roots()?.https_only().enable_http1().wrap_connector(tcp))
}

fn explain(error: hyper_util::client::legacy::Error) -> SendError {
    let mut next: Option<&(dyn Error + 'static)> = Some(&error);
    while let Some(cause) = next {
        if let Some(Refused(refusal)) = cause.downcast_ref() {
            return SendError::Refused(*refusal);
        }
        next = cause.source();
    }
    if error.is_connect() { SendError::NotConnected(error.into()) } else { SendError::Broken(error.into()) }
}

/// Reads as much of an answer as is wanted. If its end is not read, its connection is not used again.
async fn read_answer(response: Response<Incoming>, deadline: Instant, at: Timestamp) -> Answer {
    let (parts, mut body) = response.into_parts();
    let (mut read, mut kept) = (0, Vec::new());
    while let Ok(Some(Ok(frame))) = tokio::time::timeout_at(deadline, body.frame()).await {
        let Ok(data) = frame.into_data() else { continue };
        read += data.len();
        let room = MOST_KEPT - kept.len();
        kept.extend(data.iter().take(room));
        if read > MOST_READ {
            break;
        }
    }
    let retry_after = match parts.status {
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => retry_after(&parts.headers, at),
        _ => None,
    };
    // Databases take no zero characters in a text.
    let body = String::from_utf8_lossy(&kept).replace('\0', "\u{fffd}");
    Answer { status: parts.status, body, retry_after }
}

/// `Retry-After` in seconds or as a date, measured from the answer's own `Date` where it has one: clocks differ.
fn retry_after(headers: &HeaderMap, at: Timestamp) -> Option<Duration> {
    let text = |name: HeaderName| headers.get(name)?.to_str().ok();
    let after = text(header::RETRY_AFTER)?;
    let wait = match after.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let parse = |text| DateTimeParser::new().parse_timestamp(text).ok();
            let sent = text(header::DATE).and_then(parse).unwrap_or(at);
            let seconds = parse(after)?.as_second().saturating_sub(sent.as_second());
            Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
        }
    };
    Some(wait.min(LONGEST_RETRY_AFTER))
}

/// The headers of an attempt that is made at a time.
pub fn headers(message: &Message, secrets: &Secrets, at: Timestamp) -> HeaderMap {
    let (secret, next) = secrets.at(at);
    let seconds = at.as_second();
    let standard = |secret| standard_signature(secret, message.event_id, seconds, &message.body);
    let mut signatures = standard(secret);
    if let Some(next) = next {
        signatures = format!("{signatures} {}", standard(next));
    }
    let mut headers = HeaderMap::with_capacity(12);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
    let mut put = |name: &'static str, value: String| {
        // All of them are visible ASCII.
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    };
    put("x-platform-event", message.kind.name().to_owned());
    put("x-platform-event-id", message.event_id.to_string());
    put("x-platform-delivery", message.delivery_id.to_string());
    put("x-platform-attempt", message.attempt.to_string());
    put("x-platform-signature", platform_signature(secret, &message.body));
    if let Some(next) = next {
        put("x-platform-signature-next", platform_signature(next, &message.body));
    }
    put("webhook-id", message.event_id.to_string());
    put("webhook-timestamp", seconds.to_string());
    put("webhook-signature", signatures);
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(retry: &'static str, date: Option<&'static str>) -> Option<u64> {
        let mut headers = HeaderMap::new();
        headers.insert(header::RETRY_AFTER, HeaderValue::from_static(retry));
        if let Some(date) = date {
            headers.insert(header::DATE, HeaderValue::from_static(date));
        }
        retry_after(&headers, Timestamp::UNIX_EPOCH).map(|wait| wait.as_secs())
    }

    #[test]
    fn retry_after_is_read_in_both_forms_and_capped() {
        assert_eq!(after("120", None), Some(120));
        assert_eq!(after("99999999", None), Some(86_400));
        let date = Some("Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(after("Sun, 06 Nov 1994 08:50:37 GMT", date), Some(60));
        assert_eq!(after("Sun, 06 Nov 1994 08:48:37 GMT", date), Some(0));
        assert_eq!((after("soon", None), after("-5", None)), (None, None));
    }
}
