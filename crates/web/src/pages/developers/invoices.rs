//! Invoices: the list, and making one by hand.

use std::sync::Arc;

use askama::Template;
use axum::{
    body::Bytes,
    extract::{Query, State, rejection::QueryRejection},
};
use domain::portal::{AMOUNT_IDR, DEFAULT_INVOICE_MINUTES, InvoiceState};
use hyper::StatusCode;
use merchant::{Done, InvoiceError};
use serde::Deserialize;
use store::portal::{InvoiceFilter, InvoiceRecord};

use super::{
    Member, ROWS, Tabs, asked,
    invoice_draft::Draft,
    labels::{self, Tag, Until},
    portal, read_id, refused, show_as,
};
use crate::{
    failure::{Failure, Malformed},
    fields::Fields,
    format::{rupiah, span},
    frame::{Frame, Section},
    page::{Shown, go_to},
    parts::Ago,
    site::Site,
    visit::Visit,
    words::Language,
};

/// Lifetimes that the form offers, in minutes.
const LIFETIMES: [u64; 6] = [15, 60, 180, DEFAULT_INVOICE_MINUTES, 7 * 1_440, 30 * 1_440];

words! {
    InvoiceListWords {
        title: "Invoices", "Tagihan";
        make: "Make an invoice", "Buat tagihan";
        needs_key: "Making invoices is part of a plan: your wallet needs an active key.", "Membuat tagihan termasuk dalam paket: dompet Anda memerlukan kunci aktif.";
        buy: "Buy a key", "Beli kunci";
        label: "Customer", "Pelanggan";
        label_hint: "Who is to pay, in your words. Customers do not see it.", "Siapa yang membayar, menurut Anda. Pelanggan tidak melihatnya.";
        amount_idr: "Amount in rupiah", "Jumlah dalam rupiah";
        amount_hint: "From 1000, without points.", "Mulai 1000, tanpa titik.";
        note: "Note", "Catatan";
        note_hint: "What it is for. Only you see it.", "Untuk apa. Hanya Anda yang melihatnya.";
        external: "Your own number (optional)", "Nomor Anda sendiri (opsional)";
        external_hint: "Such as ORD-1042; no two invoices share one.", "Misalnya ORD-1042; tidak boleh sama pada dua tagihan.";
        lifetime: "Can be paid for", "Dapat dibayar selama";
        create: "Make it", "Buat";
        all: "All", "Semua";
        none: "No invoices here.", "Tidak ada tagihan di sini.";
        customer: "Customer", "Pelanggan";
        state: "State", "Status";
        amount: "Amount", "Jumlah";
        external_id: "Your number", "Nomor Anda";
        made: "Made", "Dibuat";
        until: "Expires", "Kedaluwarsa";
        older: "Older", "Lebih lama";
        newest: "Newest", "Terbaru";
        required: "This must be filled in.", "Ini harus diisi.";
        too_long: "This is too long.", "Ini terlalu panjang.";
        control: "This has characters that cannot be shown.", "Ini memuat karakter yang tidak dapat ditampilkan.";
        space: "This must not have spaces.", "Ini tidak boleh memuat spasi.";
        bad_amount: "A whole number from 1000 to 1 000 000 000 000.", "Bilangan bulat dari 1000 sampai 1 000 000 000 000.";
        bad_lifetime: "From 15 minutes to 30 days.", "Dari 15 menit sampai 30 hari.";
        taken: "You have an invoice with this number.", "Anda sudah punya tagihan dengan nomor ini.";
    }
}

/// An invoice in a list.
pub(crate) struct InvoiceLine {
    pub(crate) place: String,
    pub(crate) label: String,
    pub(crate) state: Tag,
    pub(crate) amount: String,
    pub(crate) external_id: String,
    pub(crate) made: Ago,
    /// While it is open.
    pub(crate) until: Option<Until>,
}

impl InvoiceLine {
    pub(crate) fn new(site: &Site, record: &InvoiceRecord, language: Language) -> Self {
        let row = &record.invoice;
        let is_open = row.state == InvoiceState::Open;
        Self {
            place: format!("/developers/invoices/{}", row.id),
            label: row.customer_label.clone(),
            state: labels::invoice(row.state, language),
            amount: rupiah(row.amount_idr),
            external_id: row.external_id.clone().unwrap_or_default(),
            made: labels::ago(site, row.created_at, language),
            until: is_open.then(|| labels::until(site, row.expires_at, language)),
        }
    }
}

#[derive(Template)]
#[template(path = "developers_invoices.html")]
struct Page {
    frame: Frame,
    w: &'static InvoiceListWords,
    list_words: &'static InvoiceListWords,
    tabs: Tabs,
    may_invoice: bool,
    draft: Draft,
    least: u64,
    most: u64,
    lifetimes: Vec<LifetimeLine>,
    states: Vec<StateTab>,
    invoices: Vec<InvoiceLine>,
    is_first: bool,
    older: Option<String>,
}

struct LifetimeLine {
    minutes: u64,
    title: String,
    is_chosen: bool,
}

struct StateTab {
    place: String,
    title: &'static str,
    is_current: bool,
}

/// Which invoices are shown.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Wanted {
    status: Option<String>,
    before: Option<String>,
}

/// `GET /developers/invoices`.
pub(crate) async fn show(
    State(site): State<Arc<Site>>,
    visit: Visit,
    member: Member,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Shown {
    let wanted = asked(wanted)?;
    render(&site, &visit, &member, wanted, Draft::default()).await
}

/// `POST /developers/invoices`: makes an invoice.
pub(crate) async fn create(
    State(site): State<Arc<Site>>,
    visit: Visit,
    member: Member,
    body: Bytes,
) -> Shown {
    let w = InvoiceListWords::of(visit.language);
    let portal = portal(&site)?;
    let (mut draft, invoice) = Draft::read(&Fields::read(&body), w);
    let may = portal.may_invoice(member.wallet(), site.api.clock.now()).await.map_err(refused)?;
    let Some(invoice) = invoice.filter(|_| may) else {
        return render(&site, &visit, &member, Wanted::default(), draft).await;
    };
    match portal.invoices.create(member.wallet(), invoice, None).await {
        Ok(Done::Now(record)) => Ok(go_to(&format!("/developers/invoices/{}", record.invoice.id))),
        Ok(Done::Before(_)) => Ok(go_to("/developers/invoices")),
        Err(InvoiceError::ExternalIdTaken(_)) => {
            draft.external_id.error = Some(w.taken);
            render(&site, &visit, &member, Wanted::default(), draft).await
        }
        Err(error) => Err(refused(error)),
    }
}

async fn render(site: &Site, visit: &Visit, member: &Member, wanted: Wanted, draft: Draft) -> Shown {
    let (language, portal) = (visit.language, portal(site)?);
    let w = InvoiceListWords::of(language);
    let status = wanted.status.as_deref().map(str::parse).transpose();
    let state: Option<InvoiceState> =
        status.map_err(|_| Failure::Malformed(Malformed::Parameter("status")))?;
    let before = wanted.before.as_deref().map(read_id).transpose()?;
    let filter = InvoiceFilter { state, external_id: None, before };
    let (records, next) = portal.invoices.list(member.wallet(), filter, ROWS).await?;
    let place = place_of(state);
    let mark = if state.is_some() { '&' } else { '?' };
    let may_invoice = portal.may_invoice(member.wallet(), site.api.clock.now()).await.map_err(refused)?;
    let lifetime = |minutes: u64| LifetimeLine {
        minutes,
        title: span(minutes * 60, language),
        is_chosen: draft.lifetime.typed.parse().unwrap_or(DEFAULT_INVOICE_MINUTES) == minutes,
    };
    let is_refused = draft.has_error();
    let page = Page {
        frame: Frame::new(site, visit, Section::Developers, w.title),
        w,
        list_words: w,
        tabs: Tabs::new("invoices", member, language),
        may_invoice,
        lifetimes: LIFETIMES.into_iter().map(lifetime).collect(),
        draft,
        least: *AMOUNT_IDR.start(),
        most: *AMOUNT_IDR.end(),
        states: state_tabs(state, language),
        invoices: records.iter().map(|record| InvoiceLine::new(site, record, language)).collect(),
        is_first: before.is_none(),
        older: next.map(|id| format!("{place}{mark}before={id}")),
    };
    show_as(if is_refused { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK }, &page)
}

fn place_of(state: Option<InvoiceState>) -> String {
    let place = "/developers/invoices";
    state.map_or_else(|| place.to_owned(), |state| format!("{place}?status={state}"))
}

fn state_tabs(current: Option<InvoiceState>, language: Language) -> Vec<StateTab> {
    let choices = [None].into_iter().chain(InvoiceState::ALL.iter().copied().map(Some));
    let tab = |state: Option<InvoiceState>| StateTab {
        place: place_of(state),
        title: state
            .map_or(InvoiceListWords::of(language).all, |state| labels::invoice(state, language).text),
        is_current: state == current,
    };
    choices.map(tab).collect()
}
