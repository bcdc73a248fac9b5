//! What changes with every block, rendered once per block and language and sent to everybody who watches.
//!
//! A watcher always gets the newest state and never a queue of older ones: whoever is slow skips, and what is kept for
//! a watcher does not grow. The trigger is the board of validators, which is renewed when the index has the block.

use std::{convert::Infallible, sync::Arc};

use access::Client;
use axum::{
    body::Body,
    extract::{Query, State},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::stream;
use http_body_util::StreamBody;
use hyper::{
    body::Frame,
    header::{self, HeaderValue},
};
use listen::Budget;
use tokio::{
    sync::{Semaphore, watch},
    time::{Duration, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{failure::Failure, pages::home, site::Site, visit::Visit, words::Language};

/// Watchers at a time, and of one client.
const MOST_WATCHERS: usize = 4_000;
const MOST_OF_CLIENT: usize = 100;
/// How often a silent connection is shown to be alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// An event as it is sent: `head` for all pages, with the home page's parts for those who look at that.
#[derive(Debug, Clone, Default)]
struct Moment {
    head: Bytes,
    home: [Bytes; 2],
    /// What the home page's parts were made from.
    reading: Option<Arc<home::Reading>>,
}

/// What changes with every block.
pub struct Live {
    moments: watch::Sender<Moment>,
    watchers: Arc<Semaphore>,
    clients: Budget<Client>,
    stop: CancellationToken,
}

impl Live {
    /// Nothing yet; `stop` ends all watchers.
    pub fn new(stop: CancellationToken) -> Arc<Self> {
        Arc::new(Self {
            moments: watch::Sender::new(Moment::default()),
            watchers: Arc::new(Semaphore::new(MOST_WATCHERS)),
            clients: Budget::per_party(MOST_OF_CLIENT),
            stop,
        })
    }

    /// How many are watching.
    pub fn watchers(&self) -> usize {
        MOST_WATCHERS.saturating_sub(self.watchers.available_permits())
    }

    /// What the home page is made from, if it is of this block.
    pub(crate) fn reading_of(&self, block: u64) -> Option<Arc<home::Reading>> {
        self.moments.borrow().reading.clone().filter(|reading| reading.block() == Some(block))
    }
}

/// Renders what changes, until the live parts are stopped.
pub(crate) async fn follow(site: Arc<Site>) {
    let mut boards = site.api.boards.clone();
    let live = site.live.clone();
    let following = async {
        loop {
            match render(&site).await {
                Ok(moment) => {
                    live.moments.send_replace(moment);
                }
                Err(failure) => tracing::debug!(cause = failure.cause(), "live parts were not rendered"),
            }
            if boards.changed().await.is_err() {
                break;
            }
        }
    };
    live.stop.run_until_cancelled(following).await;
}

async fn render(site: &Site) -> Result<Moment, Failure> {
    let number = site.last_head().map_or(0, |head| head.number());
    let mut home = [Bytes::new(), Bytes::new()];
    let reading = Arc::new(home::Reading::read(site).await?);
    for (language, event) in Language::ALL.into_iter().zip(&mut home) {
        let data =
            serde_json::json!({ "number": number, "parts": home::live_parts(site, &reading, language)? });
        *event = event_of("head", &data);
    }
    let head = event_of("head", &serde_json::json!({ "number": number }));
    Ok(Moment { head, home, reading: Some(reading) })
}

fn event_of(name: &str, data: &serde_json::Value) -> Bytes {
    Bytes::from(format!("event: {name}\ndata: {data}\n\n"))
}

/// Which parts a watcher wants.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct Wanted {
    /// `home` for the parts of the home page.
    view: Option<String>,
}

/// `GET /live`: a stream of server-sent events, one for each block.
pub(crate) async fn watch(
    State(site): State<Arc<Site>>,
    visit: Visit,
    Query(wanted): Query<Wanted>,
) -> Response {
    let live = &site.live;
    let watcher = live.watchers.clone().try_acquire_owned().ok();
    let Some(place) = watcher.zip(live.clients.take(visit.address.into(), 1).ok()) else {
        return Failure::TooMany(30).into_response();
    };
    let is_home = wanted.view.as_deref() == Some("home");
    let language = visit.language;
    let pick = move |moment: &Moment| {
        let [english, indonesian] = &moment.home;
        match (is_home, language) {
            (false, _) => moment.head.clone(),
            (true, Language::English) => english.clone(),
            (true, Language::Indonesian) => indonesian.clone(),
        }
    };
    let (mut moments, stop) = (live.moments.subscribe(), live.stop.clone());
    moments.mark_changed();
    let events = stream::unfold((moments, stop, place), move |(mut moments, stop, place)| async move {
        let bytes = tokio::select! {
            () = stop.cancelled() => return None,
            waited = timeout(KEEP_ALIVE, moments.changed()) => match waited {
                Ok(Ok(())) => pick(&moments.borrow_and_update()),
                Ok(Err(_closed)) => return None,
                Err(_elapsed) => Bytes::from_static(b":\n\n"),
            },
        };
        Some((Ok::<_, Infallible>(Frame::data(bytes)), (moments, stop, place)))
    });
    let mut response = Response::new(Body::new(StreamBody::new(events)));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Proxies that collect answers would hold the events back.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}
