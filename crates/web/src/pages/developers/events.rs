//! A wallet's events as they are sent: for who cannot be reached, or has missed something.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Query, State, rejection::QueryRejection};
use serde::Deserialize;

use super::{Member, Tabs, asked, labels, portal, refused, show as show_page};
use crate::{
    frame::{Frame, Section},
    page::Shown,
    parts::Ago,
    site::Site,
    visit::Visit,
};

/// Events on a page: each with its whole body.
const ROWS: u32 = 15;

words! {
    EventWords {
        title: "Events", "Peristiwa";
        about: "Everything of the last 30 days in the bytes that the webhook sends, whether or not there is one.", "Semua dari 30 hari terakhir, persis seperti yang dikirim webhook, baik ada webhook maupun tidak.";
        none: "Nothing happened yet. The first payment makes the first event.", "Belum ada apa-apa. Pembayaran pertama membuat peristiwa pertama.";
        older: "Older", "Lebih lama";
        newest: "Newest", "Terbaru";
        back: "Back to the webhook", "Kembali ke webhook";
    }
}

#[derive(Template)]
#[template(path = "developers_events.html")]
struct Page {
    frame: Frame,
    w: &'static EventWords,
    tabs: Tabs,
    events: Vec<EventLine>,
    is_first: bool,
    older: Option<u64>,
}

struct EventLine {
    sequence: u64,
    kind: &'static str,
    made: Ago,
    body: String,
}

/// Where the page begins.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Wanted {
    before: Option<u64>,
}

/// `GET /developers/webhook/events`.
pub(crate) async fn show(
    State(site): State<Arc<Site>>,
    visit: Visit,
    member: Member,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Shown {
    let (language, Wanted { before }) = (visit.language, asked(wanted)?);
    let w = EventWords::of(language);
    let events = portal(&site)?.webhooks.events(member.wallet(), before, ROWS + 1).await;
    let mut rows = events.map_err(refused)?;
    let has_more = rows.len() > ROWS as usize;
    rows.truncate(ROWS as usize);
    let older = rows.last().filter(|_| has_more).map(|row| row.sequence);
    let lines = rows.into_iter().map(|row| EventLine {
        sequence: row.sequence,
        kind: row.kind.name(),
        made: labels::ago(&site, row.created_at, language),
        body: readable(&row.body),
    });
    show_page(&Page {
        frame: Frame::new(&site, &visit, Section::Developers, w.title),
        w,
        tabs: Tabs::new("webhook", &member, language),
        events: lines.collect(),
        is_first: before.is_none(),
        older,
    })
}

/// JSON for people.
fn readable(body: &[u8]) -> String {
    let value: Option<serde_json::Value> = serde_json::from_slice(body).ok();
    let text = value.and_then(|value| serde_json::to_string_pretty(&value).ok());
    text.unwrap_or_else(|| String::from_utf8_lossy(body).into_owned())
}
