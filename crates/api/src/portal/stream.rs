//! `GET /pay/{token}/stream`: an invoice's state as server-sent events, at once and with every change, until it has come to
//! an end.
//!
//! What is credited wakes every stream, once per block; a quote or a void in this process wakes those of its invoice.

use std::{convert::Infallible, sync::Arc, time::Duration};

use access::Client;
use axum::{
    Extension,
    extract::State,
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use bytes::Bytes;
use domain::portal::InvoiceToken;
use futures_util::stream;
use hyper::header::{self, HeaderValue};
use listen::{Budget, Charge};
use merchant::{CreditProgress, Credited};
use tokio::sync::{
    broadcast::{self, error::RecvError},
    watch,
};
use tokio_util::sync::CancellationToken;

use super::{
    answer::render,
    pay::{read_token, view},
};
use crate::{code::Code, edge::Asker, problem::Problem, rest::segment::Segment, state::ApiState};

/// Streams in a process, and of one client.
const MOST_STREAMS: usize = 1_000;
const MOST_OF_CLIENT: usize = 50;
/// How often something is said when nothing happens, so that nobody on the way takes the line for dead.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How long a client waits before it connects again.
const RECONNECT: Duration = Duration::from_secs(3);
/// When to come back when there are too many.
const RETRY_SECONDS: u64 = 10;
/// Changes that a stream may be behind before it just looks.
const BACKLOG: usize = 64;

/// Everybody who watches a payment link.
pub struct PayStreams {
    progress: CreditProgress,
    changes: broadcast::Sender<InvoiceToken>,
    open: Budget<Client>,
    stop: CancellationToken,
}

impl PayStreams {
    /// Streams that follow what is credited, and end when `stop` is cancelled.
    pub fn new(progress: CreditProgress, stop: CancellationToken) -> Self {
        let open = Budget::new(MOST_OF_CLIENT, MOST_STREAMS);
        Self { progress, changes: broadcast::Sender::new(BACKLOG), open, stop }
    }

    /// Lets whoever watches this link look again.
    pub(super) fn wake(&self, token: InvoiceToken) {
        // Nobody may be watching.
        let _ = self.changes.send(token);
    }
}

/// Watch a payment link
///
/// Server-sent events named `status`, whose data is what `GET /pay/{token}` answers: one at once, and one with every change,
/// until the invoice is paid, expired or void; then the stream ends.
#[utoipa::path(
    get, path = "/api/v1/platform-dev/pay/{token}/stream", tag = "Portal payment",
    params(("token" = String, Path, description = "The last part of the payment link", pattern = "^[A-Za-z0-9_-]{22}$", example = "MDEyMzQ1Njc4OWFiY2RlZg")),
    responses((status = 200, description = "The events", content_type = "text/event-stream", body = String))
)]
pub(super) async fn watch_payment_page(
    State(state): State<Arc<ApiState>>,
    Extension(asker): Extension<Asker>,
    Segment(token): Segment,
) -> Result<Response, Problem> {
    let token = read_token(&token)?;
    let place = state.portal()?.streams.open.take(asker.client(), 1).map_err(|_| {
        Problem::new(Code::TooManyStreams, Code::TooManyStreams.meaning()).with_retry_after(RETRY_SECONDS)
    })?;
    let mut watcher = Watcher::new(state, token, place)?;
    // What cannot be shown is refused as such, and not in the middle of a stream.
    let first = watcher.look().await?;
    let events = stream::unfold((watcher, first), |(mut watcher, ready)| async move {
        let event = match ready {
            Some(event) => event,
            None => watcher.next().await?,
        };
        Some((Ok::<_, Infallible>(event), (watcher, None)))
    });
    let keep_alive = KeepAlive::new().interval(HEARTBEAT).text("still here");
    let mut response = Sse::new(events).keep_alive(keep_alive).into_response();
    // A proxy that gathers bytes before it passes them on would make events late.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// One stream.
struct Watcher {
    state: Arc<ApiState>,
    token: InvoiceToken,
    progress: watch::Receiver<Credited>,
    changes: broadcast::Receiver<InvoiceToken>,
    stop: CancellationToken,
    last: Bytes,
    is_over: bool,
    _place: Charge<Client>,
}

impl Watcher {
    fn new(state: Arc<ApiState>, token: InvoiceToken, place: Charge<Client>) -> Result<Self, Problem> {
        let streams = &state.portal()?.streams;
        let (progress, changes) = (streams.progress.subscribe(), streams.changes.subscribe());
        let (stop, last) = (streams.stop.clone(), Bytes::new());
        Ok(Self { state, token, progress, changes, stop, last, is_over: false, _place: place })
    }

    /// The next event; none when there is no more to tell. A client whose stream ends early connects again.
    async fn next(&mut self) -> Option<Event> {
        while !self.is_over {
            self.wait().await?;
            if let Some(event) = self.look().await.ok()? {
                return Some(event);
            }
        }
        None
    }

    /// Waits until something may have changed. None at the end of the process.
    async fn wait(&mut self) -> Option<()> {
        loop {
            tokio::select! {
                () = self.stop.cancelled() => return None,
                moved = self.progress.changed() => return moved.ok(),
                changed = self.changes.recv() => match changed {
                    Ok(token) if token != self.token => {}
                    Ok(_) | Err(RecvError::Lagged(_)) => return Some(()),
                    Err(RecvError::Closed) => return None,
                },
            }
        }
    }

    /// Looks at the invoice, and makes an event of it if it is not as it was.
    async fn look(&mut self) -> Result<Option<Event>, Problem> {
        // Before anything is read: what changes in between is looked at again.
        self.progress.mark_unchanged();
        let view = view(&self.state, self.token).await?;
        let body = render(&view)?;
        if body == self.last {
            return Ok(None);
        }
        self.is_over = view.is_over();
        let text = String::from_utf8_lossy(&body).into_owned();
        self.last = body;
        Ok(Some(Event::default().event("status").retry(RECONNECT).data(text)))
    }
}
