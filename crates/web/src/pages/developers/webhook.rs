//! The webhook: where a wallet's events are sent, how that is going, and what was delivered.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Query, State, rejection::QueryRejection};
use domain::portal::{DeliveryState, WebhookState};
use hyper::StatusCode;
use serde::Deserialize;
use store::portal::{DeliveryRow, WebhookRow};
use webhooks::PROBED_AFTER;

use super::{
    Member, ROWS, Tabs, asked,
    labels::{self, Tag, Until},
    portal, read_id, refused, show_as,
};
use crate::{
    failure::{Failure, Malformed},
    format::Number,
    frame::{Frame, Section},
    page::Shown,
    parts::Ago,
    site::Site,
    visit::Visit,
    words::Language,
};

words! {
    WebhookWords {
        title: "Webhook", "Webhook";
        about: "Whenever something of yours is paid, your server is sent a signed POST: payment.completed, invoice.paid.", "Setiap kali ada pembayaran milik Anda, server Anda dikirimi POST bertanda tangan: payment.completed, invoice.paid.";
        url: "URL", "URL";
        url_hint: "https, on a public name. The first URL costs 1 coin, once; later ones are free and leave the secret as it is.", "https, dengan nama publik. URL pertama berbiaya 1 koin, sekali saja; berikutnya gratis dan rahasianya tetap.";
        save: "Save", "Simpan";
        refused: "The URL was not saved:", "URL tidak disimpan:";
        state: "State", "Status";
        delivered: "Attempts that succeeded", "Percobaan berhasil";
        failed: "Attempts that failed", "Percobaan gagal";
        failing: "Failing since", "Gagal sejak";
        in_a_row: "in a row", "berturut-turut";
        paused: "Left alone until", "Tidak diganggu sampai";
        probing: "So many attempts failed that only one delivery at a time is tried. The others wait and lose no attempts.", "Begitu banyak percobaan gagal sehingga hanya satu pengiriman dicoba pada satu waktu. Yang lain menunggu tanpa kehilangan percobaan.";
        disabled: "Nothing is sent here any more. Events are kept and wait for up to 30 days; save the URL again, also the same one, and they are sent at once.", "Tidak ada lagi yang dikirim ke sini. Peristiwa disimpan dan menunggu hingga 30 hari; simpan URL lagi, juga yang sama, dan semuanya langsung dikirim.";
        why: "Why", "Sebab";
        next_secret: "The next secret takes over", "Rahasia berikutnya berlaku";
        test: "Send a test", "Kirim uji coba";
        test_slow: "Your server has not answered yet; the result will be in the list below.", "Server Anda belum menjawab; hasilnya akan ada di daftar di bawah.";
        test_many: "Ten tests in a minute are enough. Try again shortly.", "Sepuluh uji coba dalam satu menit sudah cukup. Coba lagi sebentar.";
        rotate: "Change the secret", "Ganti rahasia";
        rotate_ask: "A new secret is shown once. For 24 hours both sign, so that your server can change over; then the old one is gone.", "Rahasia baru ditampilkan sekali. Selama 24 jam keduanya menandatangani agar server Anda dapat beralih; setelah itu yang lama hilang.";
        rotate_yes: "Yes, make a new one", "Ya, buat yang baru";
        deliveries: "Deliveries", "Pengiriman";
        of_30_days: "of the last 30 days", "dari 30 hari terakhir";
        all: "All", "Semua";
        none: "Nothing was delivered yet. Send a test.", "Belum ada pengiriman. Kirim uji coba.";
        nothing: "No deliveries yet: there is no webhook.", "Belum ada pengiriman: belum ada webhook.";
        event: "Event", "Peristiwa";
        attempts: "Attempts", "Percobaan";
        answer: "Last answer", "Jawaban terakhir";
        next: "Next attempt", "Percobaan berikutnya";
        made: "Made", "Dibuat";
        older: "Older", "Lebih lama";
        newest: "Newest", "Terbaru";
        events: "Events", "Peristiwa";
    }
}

#[derive(Template)]
#[template(path = "developers_webhook.html")]
struct Page {
    frame: Frame,
    w: &'static WebhookWords,
    tabs: Tabs,
    url: String,
    error: Option<&'static str>,
    note: Option<&'static str>,
    webhook: Option<WebhookCard>,
    states: Vec<StateTab>,
    deliveries: Vec<DeliveryLine>,
    is_first: bool,
    older: Option<String>,
}

struct WebhookCard {
    state: Tag,
    is_disabled: bool,
    reason: Option<String>,
    delivered: Number,
    failed: Number,
    failing: Option<(Ago, Number)>,
    paused: Option<Until>,
    is_probing: bool,
    next_secret: Option<Until>,
}

impl WebhookCard {
    fn new(site: &Site, row: &WebhookRow, language: Language) -> Self {
        let now = site.now() * 1_000;
        let until = |at: u64| labels::until(site, at, language);
        Self {
            state: labels::webhook(row.state, language),
            is_disabled: row.state == WebhookState::Disabled,
            reason: row.disabled_reason.clone(),
            delivered: Number(row.delivered_count),
            failed: Number(row.failed_count),
            failing: row.failing_since.map(|at| (labels::ago(site, at, language), Number(row.failures))),
            paused: Some(row.paused_until).filter(|at| *at > now).map(until),
            is_probing: row.failures >= PROBED_AFTER,
            next_secret: row.secrets.next.as_ref().map(|(_, at)| *at).filter(|at| *at > now).map(until),
        }
    }
}

/// A choice of deliveries.
struct StateTab {
    place: String,
    title: &'static str,
    is_current: bool,
}

struct DeliveryLine {
    id: String,
    kind: &'static str,
    state: Tag,
    attempts: u64,
    answer: String,
    next: Option<Until>,
    made: Ago,
}

impl DeliveryLine {
    fn new(site: &Site, row: &DeliveryRow, language: Language) -> Self {
        let status = row.last_status.map(|status| status.to_string());
        Self {
            id: row.id.to_string(),
            kind: row.kind.name(),
            state: labels::delivery(row.state, language),
            attempts: row.attempts,
            answer: status.or_else(|| row.last_error.clone()).unwrap_or_else(|| "–".to_owned()),
            next: row.finished_at.is_none().then(|| labels::until(site, row.due_at, language)),
            made: labels::ago(site, row.created_at, language),
        }
    }
}

/// Which deliveries are shown.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Wanted {
    state: Option<String>,
    before: Option<String>,
    /// A test that went on without us.
    test: Option<String>,
}

/// What the page says about what was sent.
#[derive(Default)]
pub(crate) struct Said {
    /// What was typed.
    pub(crate) url: Option<String>,
    pub(crate) error: Option<&'static str>,
    pub(crate) note: Option<&'static str>,
}

/// `GET /developers/webhook`.
pub(crate) async fn show(
    State(site): State<Arc<Site>>,
    visit: Visit,
    member: Member,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Shown {
    let wanted = asked(wanted)?;
    let note = wanted.test.is_some().then_some(WebhookWords::of(visit.language).test_slow);
    render(&site, &visit, &member, wanted, Said { note, ..Said::default() }).await
}

/// The page, with what is to be said about what was sent.
pub(crate) async fn render(site: &Site, visit: &Visit, member: &Member, wanted: Wanted, said: Said) -> Shown {
    let (language, webhooks) = (visit.language, &portal(site)?.webhooks);
    let w = WebhookWords::of(language);
    let webhook = webhooks.find(member.wallet()).await.map_err(refused)?;
    let malformed = |name| Failure::Malformed(Malformed::Parameter(name));
    let only: Option<DeliveryState> =
        wanted.state.as_deref().map(str::parse).transpose().map_err(|_| malformed("state"))?;
    let before = wanted.before.as_deref().map(read_id).transpose()?;
    let mut rows = webhooks.deliveries(member.wallet(), only, before, ROWS + 1).await.map_err(refused)?;
    let has_more = rows.len() > ROWS as usize;
    rows.truncate(ROWS as usize);
    let place = place_of(only);
    let older = rows
        .last()
        .filter(|_| has_more)
        .map(|row| format!("{place}{}before={}", if only.is_some() { "&" } else { "?" }, row.id));
    let status = if said.error.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let page = Page {
        frame: Frame::new(site, visit, Section::Developers, w.title),
        w,
        tabs: Tabs::new("webhook", member, language),
        url: said.url.or_else(|| webhook.as_ref().map(|row| row.url.clone())).unwrap_or_default(),
        error: said.error,
        note: said.note,
        webhook: webhook.as_ref().map(|row| WebhookCard::new(site, row, language)),
        states: state_tabs(only, language),
        deliveries: rows.iter().map(|row| DeliveryLine::new(site, row, language)).collect(),
        is_first: before.is_none(),
        older,
    };
    show_as(status, &page)
}

fn place_of(state: Option<DeliveryState>) -> String {
    let place = "/developers/webhook";
    state.map_or_else(|| place.to_owned(), |state| format!("{place}?state={state}"))
}

fn state_tabs(current: Option<DeliveryState>, language: Language) -> Vec<StateTab> {
    let choices = [None].into_iter().chain(DeliveryState::ALL.iter().copied().map(Some));
    let tab = |state: Option<DeliveryState>| StateTab {
        place: place_of(state),
        title: state.map_or(WebhookWords::of(language).all, |state| labels::delivery(state, language).text),
        is_current: state == current,
    };
    choices.map(tab).collect()
}
