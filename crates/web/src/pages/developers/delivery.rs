//! One delivery of an event with all its attempts, and sending it again.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use domain::portal::DeliveryState;
use store::portal::AttemptRow;

use super::{
    Member, Tabs,
    labels::{self, Tag, Until},
    portal, read_id, refused, show as show_page,
};
use crate::{
    format::utc,
    frame::{Frame, Section},
    page::{Shown, go_to},
    parts::{Ago, Mono},
    segment::Segment,
    site::Site,
    visit::Visit,
};

words! {
    DeliveryWords {
        title: "Delivery", "Pengiriman";
        event: "Event", "Peristiwa";
        event_id: "Event id", "Id peristiwa";
        id: "Delivery id", "Id pengiriman";
        state: "State", "Status";
        made: "Made", "Dibuat";
        next: "Next attempt", "Percobaan berikutnya";
        attempts: "Attempts", "Percobaan";
        none: "It was not tried yet.", "Belum dicoba.";
        answered: "answered", "menjawab";
        no_answer: "no answer", "tidak ada jawaban";
        after: "after", "setelah";
        body: "The beginning of the answer", "Awal jawaban";
        empty_body: "The answer was empty.", "Jawabannya kosong.";
        again: "Send it again", "Kirim lagi";
        again_hint: "The same bytes under the same event id, as a new delivery.", "Isi yang sama dengan id peristiwa yang sama, sebagai pengiriman baru.";
        back: "Back to the webhook", "Kembali ke webhook";
        waits: "Your server has not taken it yet; it is tried again by itself, for about three days.", "Server Anda belum menerimanya; akan dicoba lagi secara otomatis, selama kira-kira tiga hari.";
        gave_up: "Your server never took it. Mend it there, then send it again.", "Server Anda tidak pernah menerimanya. Perbaiki di sana, lalu kirim lagi.";
        done: "Your server took it.", "Server Anda sudah menerimanya.";
    }
}

#[derive(Template)]
#[template(path = "developers_delivery.html")]
struct Page {
    frame: Frame,
    w: &'static DeliveryWords,
    tabs: Tabs,
    id: Mono,
    id_text: String,
    event_id: Mono,
    kind: &'static str,
    state: Tag,
    tone: &'static str,
    meaning: &'static str,
    made: Ago,
    next: Option<Until>,
    attempts: Vec<AttemptLine>,
}

struct AttemptLine {
    number: u64,
    at: String,
    latency: u64,
    status: Option<u16>,
    error: Option<String>,
    response: Option<String>,
}

impl From<AttemptRow> for AttemptLine {
    fn from(row: AttemptRow) -> Self {
        Self {
            number: row.attempt,
            at: utc(row.started_at / 1_000),
            latency: row.duration_ms,
            status: row.status,
            error: row.error,
            response: row.response.filter(|response| !response.is_empty()),
        }
    }
}

/// `GET /developers/webhook/deliveries/{id}`.
pub(crate) async fn show(
    State(site): State<Arc<Site>>,
    visit: Visit,
    member: Member,
    Segment(id): Segment,
) -> Shown {
    let language = visit.language;
    let found = portal(&site)?.webhooks.delivery(member.wallet(), read_id(&id)?).await;
    let (row, attempts) = found.map_err(refused)?;
    let w = DeliveryWords::of(language);
    let (tone, meaning) = match row.state {
        DeliveryState::Pending => ("warn", w.waits),
        DeliveryState::Delivered => ("good", w.done),
        DeliveryState::Exhausted => ("bad", w.gave_up),
    };
    show_page(&Page {
        frame: Frame::new(&site, &visit, Section::Developers, w.title),
        w,
        tabs: Tabs::new("webhook", &member, language),
        id_text: row.id.to_string(),
        id: Mono(row.id.to_string()),
        event_id: Mono(row.event_id.to_string()),
        kind: row.kind.name(),
        state: labels::delivery(row.state, language),
        tone,
        meaning,
        made: labels::ago(&site, row.created_at, language),
        next: row.finished_at.is_none().then(|| labels::until(&site, row.due_at, language)),
        attempts: attempts.into_iter().map(AttemptLine::from).collect(),
    })
}

/// `POST /developers/webhook/deliveries/{id}`: sends the event again.
pub(crate) async fn redeliver(State(site): State<Arc<Site>>, member: Member, Segment(id): Segment) -> Shown {
    let queued = portal(&site)?.webhooks.redeliver(member.wallet(), read_id(&id)?).await;
    Ok(go_to(&format!("/developers/webhook/deliveries/{}", queued.map_err(refused)?.id)))
}
