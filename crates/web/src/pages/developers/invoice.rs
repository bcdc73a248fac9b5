//! An invoice as its merchant sees it: the link to send, what became of it, and taking it back.

use std::sync::Arc;

use api::qr_picture;
use askama::Template;
use axum::extract::State;
use domain::portal::{Actor, InvoiceId, InvoiceState};
use hyper::StatusCode;
use merchant::{InvoiceError, VoidedBy};
use store::portal::InvoiceRecord;

use super::{
    Member, Tabs,
    dashboard::PaymentLine,
    labels::{self, Tag, Until},
    portal, read_id, refused, show_as,
};
use crate::{
    failure::Failure,
    format::{coin, rupiah},
    frame::{Frame, Section},
    page::{Shown, go_to},
    parts::{Ago, Mono},
    segment::Segment,
    site::Site,
    visit::Visit,
};

words! {
    InvoiceWords {
        title: "Invoice", "Tagihan";
        state: "State", "Status";
        customer: "Customer", "Pelanggan";
        amount: "Amount", "Jumlah";
        note: "Note", "Catatan";
        external_id: "Your number", "Nomor Anda";
        id: "Id", "Id";
        made: "Made", "Dibuat";
        until: "Expires", "Kedaluwarsa";
        paid_at: "Paid", "Dibayar";
        quote: "Price in coin", "Harga dalam koin";
        quote_until: "ends", "berakhir";
        no_quote: "is made when the customer asks for it", "dibuat saat pelanggan memintanya";
        link: "Payment link", "Tautan pembayaran";
        link_hint: "Send it to the customer. Whoever has it can see and pay this invoice.", "Kirim kepada pelanggan. Siapa pun yang memilikinya dapat melihat dan membayar tagihan ini.";
        copy: "Copy", "Salin";
        open_link: "Open", "Buka";
        qr: "QR code of the payment link", "Kode QR tautan pembayaran";
        void: "Take it back", "Batalkan";
        void_ask: "The customer can no longer pay it. If a price is out right now, it can be paid until that ends.", "Pelanggan tidak dapat membayarnya lagi. Jika saat ini ada harga yang berlaku, masih dapat dibayar sampai harga itu berakhir.";
        void_yes: "Yes, take it back", "Ya, batalkan";
        voiding: "You took it back, but a customer holds a price: it stays open until that ends, and is paid if the customer is faster.", "Anda sudah membatalkannya, tetapi seorang pelanggan memegang harga: tagihan tetap terbuka sampai harga itu berakhir, dan lunas jika pelanggan lebih cepat.";
        too_late: "It is not open any more and cannot be taken back.", "Tagihan ini tidak terbuka lagi dan tidak dapat dibatalkan.";
        payments: "Payments", "Pembayaran";
        no_payments: "Nothing was paid yet.", "Belum ada pembayaran.";
        transaction: "Transaction", "Transaksi";
        payer: "Payer", "Pembayar";
        block: "Block", "Blok";
        age: "Age", "Usia";
        back: "All invoices", "Semua tagihan";
    }
}

#[derive(Template)]
#[template(path = "developers_invoice.html")]
struct Page {
    frame: Frame,
    w: &'static InvoiceWords,
    tabs: Tabs,
    error: Option<&'static str>,
    id: Mono,
    id_text: String,
    state: Tag,
    is_open: bool,
    is_voiding: bool,
    label: String,
    amount: String,
    note: String,
    external_id: Option<String>,
    made: Ago,
    until: Until,
    paid_at: Option<Ago>,
    quote: Option<(String, Until)>,
    pay_url: String,
    qr: Option<String>,
    payments: Vec<PaymentLine>,
}

/// `GET /developers/invoices/{id}`.
pub(crate) async fn show(
    State(site): State<Arc<Site>>,
    visit: Visit,
    member: Member,
    Segment(id): Segment,
) -> Shown {
    render(&site, &visit, &member, read_id(&id)?, None).await
}

/// `POST /developers/invoices/{id}`: takes the invoice back.
pub(crate) async fn void(
    State(site): State<Arc<Site>>,
    visit: Visit,
    member: Member,
    Segment(id): Segment,
) -> Shown {
    let id: InvoiceId = read_id(&id)?;
    let by = VoidedBy { actor: Actor::Wallet, origin: member.origin() };
    match portal(&site)?.void(member.wallet(), id, by, None).await {
        Ok(_) => Ok(go_to(&format!("/developers/invoices/{id}"))),
        Err(InvoiceError::NotOpen(_)) => {
            let error = InvoiceWords::of(visit.language).too_late;
            render(&site, &visit, &member, id, Some(error)).await
        }
        Err(error) => Err(refused(error)),
    }
}

async fn render(
    site: &Site,
    visit: &Visit,
    member: &Member,
    id: InvoiceId,
    error: Option<&'static str>,
) -> Shown {
    let record = portal(site)?.invoices.get(member.wallet(), id).await.map_err(refused)?;
    let payments = site.api.db.payments_of_invoices(&[id]).await?;
    let payments = payments.iter().map(|row| PaymentLine::new(site, row, visit.language)).collect();
    let page = Page { error, ..page(site, visit, member, record, payments)? };
    show_as(if error.is_some() { StatusCode::CONFLICT } else { StatusCode::OK }, &page)
}

fn page(
    site: &Site,
    visit: &Visit,
    member: &Member,
    record: InvoiceRecord,
    payments: Vec<PaymentLine>,
) -> Result<Page, Failure> {
    let language = visit.language;
    let w = InvoiceWords::of(language);
    let chain_time = site.last_head().map(|head| head.header.timestamp);
    let quote = record.payable_quote(chain_time);
    let quote = quote.map(|quote| {
        (coin(quote.amount.0), labels::until(site, quote.deadline.saturating_mul(1_000), language))
    });
    let row = record.invoice;
    let is_open = row.state == InvoiceState::Open;
    let pay_url = portal(site)?.checkout.pay_url(row.token);
    Ok(Page {
        frame: Frame::new(site, visit, Section::Developers, w.title),
        w,
        tabs: Tabs::new("invoices", member, language),
        error: None,
        id_text: row.id.to_string(),
        id: Mono(row.id.to_string()),
        state: labels::invoice(row.state, language),
        is_open,
        is_voiding: is_open && row.void_requested_at.is_some(),
        label: row.customer_label,
        amount: rupiah(row.amount_idr),
        note: row.note,
        external_id: row.external_id,
        made: labels::ago(site, row.created_at, language),
        until: labels::until(site, row.expires_at, language),
        paid_at: row.paid_at.map(|at| labels::ago(site, at, language)),
        quote,
        qr: qr_picture(&pay_url).filter(|_| is_open),
        pay_url,
        payments,
    })
}
