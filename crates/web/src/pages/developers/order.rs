//! An order: what is to be paid and how, and claiming what it buys.

use std::sync::Arc;

use askama::Template;
use axum::{
    body::Bytes,
    extract::{Query, State, rejection::QueryRejection},
};
use domain::portal::{OrderId, OrderState};
use hyper::StatusCode;
use merchant::{Order, OrderError, PaymentHint};
use serde::Deserialize;
use store::portal::Purchase;

use super::{
    Member, Tabs, asked,
    dashboard::PaymentLine,
    labels::{self, Tag, Until},
    portal, read_id, refused,
    secret::{SecretOf, reveal},
    show_as,
};
use crate::{
    fields::Fields,
    format::coin,
    frame::{Frame, Section},
    page::{Shown, go_to},
    parts::{AddressLink, Mono},
    segment::Segment,
    site::Site,
    visit::Visit,
    wallet::WalletKit,
    words::Language,
};

words! {
    OrderWords {
        key: "Order of a key", "Pesanan kunci";
        webhook: "Order of a webhook", "Pesanan webhook";
        what: "What", "Apa";
        state: "State", "Status";
        price: "Price", "Harga";
        burned: "burned", "dibakar";
        held: "kept for operations", "disimpan untuk operasional";
        until: "Offer ends", "Penawaran berakhir";
        webhook_what: "Saving the first webhook URL, once", "Menyimpan URL webhook pertama, sekali saja";
        pay: "Pay with wallet", "Bayar dengan dompet";
        any_wallet: "Any wallet may pay; what is bought is for the wallet that ordered. Send exactly this transaction once:", "Dompet mana pun boleh membayar; yang dibeli menjadi milik dompet pemesan. Kirim tepat transaksi ini, sekali saja:";
        by_hand: "The transaction, to send it by other means", "Transaksinya, untuk dikirim dengan cara lain";
        to: "To", "Ke";
        value: "Value in wei", "Nilai dalam wei";
        data: "Data", "Data";
        claim_key: "I have paid: give me the key", "Sudah saya bayar: berikan kuncinya";
        claim_webhook: "I have paid: save the webhook", "Sudah saya bayar: simpan webhook";
        to_webhook: "Save a URL", "Simpan URL";
        payments: "Payments", "Pembayaran";
        none: "Nothing was paid for it yet.", "Belum ada pembayaran untuknya.";
        expired: "Nobody paid in time. A payment that comes all the same still counts if there is a free slot; otherwise order again.", "Tidak dibayar tepat waktu. Pembayaran yang tetap datang masih dihitung bila ada slot; jika tidak, pesan lagi.";
        cancelled: "It was cancelled and its slot is free. A payment that comes all the same still counts if there is a free slot; otherwise it waits for one.", "Pesanan dibatalkan dan slotnya bebas. Pembayaran yang tetap datang masih dihitung bila ada slot; jika tidak, menunggu slot.";
        cancel: "Cancel this order", "Batalkan pesanan ini";
        not_open: "This order is paid or over; there is nothing to cancel.", "Pesanan ini sudah dibayar atau berakhir; tidak ada yang bisa dibatalkan.";
        no_rate: "The operator of this network has not said what the coin costs: invoices can be made, but not paid until then.", "Operator jaringan ini belum menetapkan harga koin: tagihan dapat dibuat, tetapi belum dapat dibayar.";
        waiting: "It was paid late, when all slots were taken. Revoke a key, then claim this one.", "Dibayar terlambat, ketika semua slot terpakai. Cabut sebuah kunci, lalu ambil yang ini.";
        claimed: "What it bought exists. A secret is shown once; if it was lost, revoke the key and buy another.", "Yang dibeli sudah ada. Rahasia hanya ditampilkan sekali; jika hilang, cabut kuncinya dan beli yang lain.";
        not_paid: "No payment has arrived yet. If you have sent it, try again in a moment; do not pay twice.", "Belum ada pembayaran yang masuk. Jika sudah Anda kirim, coba lagi sebentar lagi; jangan membayar dua kali.";
        failed: "The transaction failed: nothing was paid with it.", "Transaksi gagal: tidak ada yang terbayar.";
        other: "That transaction is in a block, but has not paid this order. Compare amount and data.", "Transaksi itu ada di blok, tetapi tidak membayar pesanan ini. Bandingkan jumlah dan datanya.";
        full: "All five slots are taken. Revoke a key first.", "Kelima slot sudah terpakai. Cabut sebuah kunci lebih dulu.";
        transaction: "Transaction", "Transaksi";
        payer: "Payer", "Pembayar";
        amount: "Amount", "Jumlah";
        block: "Block", "Blok";
        age: "Age", "Usia";
        keys: "Back to keys", "Kembali ke kunci";
    }
}

#[derive(Template)]
#[template(path = "developers_order.html")]
struct Page<'a> {
    frame: Frame,
    w: &'static OrderWords,
    tabs: Tabs,
    wallet: WalletKit<'a>,
    id: String,
    is_key: bool,
    what: String,
    state: Tag,
    explanation: Option<&'static str>,
    error: Option<&'static str>,
    price: String,
    burned: String,
    held: String,
    until: Until,
    can_pay: bool,
    can_claim: bool,
    /// A key is bought on a network where no invoice can be paid yet.
    lacks_rate: bool,
    to: AddressLink,
    to_text: String,
    value: String,
    value_hex: String,
    data: Mono,
    data_text: String,
    payments: Vec<PaymentLine>,
    /// The webhook URL that is to be saved.
    url: String,
}

/// What the page of a webhook's order carries along.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Carried {
    /// The URL that is to be saved.
    #[serde(default)]
    url: String,
}

/// `GET /developers/orders/{id}`.
pub(crate) async fn show(
    State(site): State<Arc<Site>>,
    visit: Visit,
    member: Member,
    Segment(id): Segment,
    carried: Result<Query<Carried>, QueryRejection>,
) -> Shown {
    let Carried { url } = asked(carried)?;
    render(&site, &visit, &member, read_id(&id)?, Said { url, ..Said::default() }).await
}

/// `POST /developers/orders/{id}`: the key of a paid order, with its secret; with `action=cancel`, its end.
pub(crate) async fn change(
    State(site): State<Arc<Site>>,
    visit: Visit,
    member: Member,
    Segment(id): Segment,
    body: Bytes,
) -> Shown {
    let id: OrderId = read_id(&id)?;
    let fields = Fields::read(&body);
    if fields.text("action") == "cancel" {
        return cancel(&site, &visit, &member, id).await;
    }
    let transaction = fields.text("tx").parse().ok();
    let orders = &portal(&site)?.orders;
    let w = OrderWords::of(visit.language);
    let error = match orders.claim(member.wallet(), id, transaction, member.origin()).await {
        Ok(claimed) => return reveal(&site, &visit, &member, SecretOf::Key, claimed.secret.expose()),
        Err(OrderError::NotPaid { hint, .. }) => match hint {
            PaymentHint::None | PaymentHint::Unknown | PaymentHint::Pending => w.not_paid,
            PaymentHint::Failed => w.failed,
            PaymentHint::Other => w.other,
        },
        Err(OrderError::KeyLimitReached) => w.full,
        Err(OrderError::Claimed) => w.claimed,
        Err(error) => return Err(refused(error)),
    };
    render(&site, &visit, &member, id, Said { error: Some(error), ..Said::default() }).await
}

/// An order that is not wanted any more.
async fn cancel(site: &Site, visit: &Visit, member: &Member, id: OrderId) -> Shown {
    match portal(site)?.orders.cancel(member.wallet(), id, member.origin()).await {
        Ok(_) => Ok(go_to(&format!("/developers/orders/{id}"))),
        Err(OrderError::NotOpen(_)) => {
            let error = Some(OrderWords::of(visit.language).not_open);
            render(site, visit, member, id, Said { error, ..Said::default() }).await
        }
        Err(error) => Err(refused(error)),
    }
}

/// What the page says beside the order.
#[derive(Default)]
struct Said {
    url: String,
    error: Option<&'static str>,
    has_rate: bool,
}

async fn render(site: &Site, visit: &Visit, member: &Member, id: OrderId, said: Said) -> Shown {
    let order = portal(site)?.orders.get(member.wallet(), id).await.map_err(refused)?;
    let payments = site.api.db.payments_of_orders(&[id]).await?;
    let payments = payments.iter().map(|row| PaymentLine::new(site, row, visit.language)).collect();
    let has_rate = portal(site)?.rates.current().await?.is_some();
    let said = Said { has_rate, ..said };
    let status = if said.error.is_some() { StatusCode::CONFLICT } else { StatusCode::OK };
    show_as(status, &page(site, visit, member, (&order, payments), said))
}

fn page<'a>(
    site: &'a Site,
    visit: &Visit,
    member: &Member,
    (order, payments): (&Order, Vec<PaymentLine>),
    said: Said,
) -> Page<'a> {
    let language = visit.language;
    let w = OrderWords::of(language);
    let (row, split, request) = (&order.row, order.split(), &order.request);
    let (is_key, what) = what(&row.purchase, language);
    let can_claim = match row.state {
        OrderState::AwaitingPayment
        | OrderState::Paid
        | OrderState::PaidWaiting
        | OrderState::Expired
        | OrderState::Cancelled => true,
        OrderState::Claimed => false,
    };
    let title = if is_key { w.key } else { w.webhook };
    Page {
        frame: Frame::new(site, visit, Section::Developers, title).with_scripts(&["developers.js"]),
        w,
        tabs: Tabs::new(if is_key { "keys" } else { "webhook" }, member, language),
        wallet: WalletKit::new(site, visit),
        id: row.id.to_string(),
        is_key,
        what,
        state: labels::order(row.state, language),
        explanation: match row.state {
            OrderState::AwaitingPayment | OrderState::Paid => None,
            OrderState::PaidWaiting => Some(w.waiting),
            OrderState::Claimed => is_key.then_some(w.claimed),
            OrderState::Expired => Some(w.expired),
            OrderState::Cancelled => Some(w.cancelled),
        },
        error: said.error,
        price: coin(row.amount.0),
        burned: coin(split.burned.0),
        held: coin(split.held.0),
        until: labels::until(site, row.expires_at, language),
        can_pay: row.state == OrderState::AwaitingPayment,
        can_claim,
        lacks_rate: is_key && can_claim && !said.has_rate,
        to: site.address_link(request.to),
        to_text: request.to.to_checksum(None),
        value: request.value.0.to_string(),
        value_hex: format!("{:#x}", request.value.0),
        data: Mono(request.data.to_string()),
        data_text: request.data.to_string(),
        payments,
        url: said.url,
    }
}

/// Whether an order is for a key, and what it buys.
fn what(purchase: &Purchase, language: Language) -> (bool, String) {
    match purchase {
        Purchase::Key { plan, name, .. } => (true, format!("{name} ({})", labels::plan(*plan, language))),
        Purchase::Webhook => (false, OrderWords::of(language).webhook_what.to_owned()),
    }
}
