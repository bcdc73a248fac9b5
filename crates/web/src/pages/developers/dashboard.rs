//! What a wallet has done, at a glance; and signing out.

use std::sync::Arc;

use askama::Template;
use axum::{extract::State, response::Response};
use domain::{
    Wei,
    portal::{KeyState, MOST_ACTIVE_KEYS},
};
use hyper::header;
use merchant::Dashboard;
use store::portal::{DeveloperKeyRow, PaymentRow, RevenueRow, WalletRow, WebhookRow};

use super::{
    Member, Tabs,
    invoices::{InvoiceLine, InvoiceListWords},
    keys::KeyLine,
    labels::{self, Tag},
    portal, refused, show as show_page,
};
use crate::{
    charts::{About, Bar, Bars, Edges},
    failure::Failure,
    format::{Number, rupiah, short_coin, utc},
    frame::{Frame, Section},
    page::{Shown, go_to},
    parts::{AddressLink, Ago, Amount, BlockLink, TransactionLink},
    site::Site,
    visit::Visit,
    words::Language,
};

/// Payments that are shown.
const PAYMENTS: u32 = 10;
const DAY_SECONDS: u64 = 86_400;

words! {
    DashboardWords {
        title: "Dashboard", "Dasbor";
        revenue: "Revenue", "Pendapatan";
        open: "Open invoices", "Tagihan terbuka";
        paid: "Paid invoices", "Tagihan lunas";
        expired: "expired", "kedaluwarsa";
        void: "void", "dibatalkan";
        active_keys: "Active keys", "Kunci aktif";
        next_expiry: "the next one ends", "yang berikutnya berakhir";
        no_key: "Buy one to make invoices.", "Beli satu untuk membuat tagihan.";
        keys: "Active keys", "Kunci aktif";
        all_keys: "All keys", "Semua kunci";
        name: "Name", "Nama";
        plan: "Plan", "Paket";
        ends: "Ends", "Berakhir";
        used: "Last used", "Terakhir dipakai";
        never: "never", "belum pernah";
        webhook: "Webhook", "Webhook";
        no_webhook: "none", "tidak ada";
        delivered: "delivered", "terkirim";
        failed: "failed", "gagal";
        by_day: "Paid per day, last 30 days (UTC)", "Dibayar per hari, 30 hari terakhir (UTC)";
        in_all: "in all", "seluruhnya";
        nothing_paid: "Nothing was paid in these days. Bars appear here with the first payment.", "Belum ada pembayaran dalam hari-hari ini. Batang akan tampil di sini pada pembayaran pertama.";
        invoices: "Latest invoices", "Tagihan terbaru";
        all: "All invoices", "Semua tagihan";
        no_invoices: "No invoices yet.", "Belum ada tagihan.";
        make: "Make the first one", "Buat yang pertama";
        payments: "Latest payments", "Pembayaran terbaru";
        no_payments: "Nothing was paid yet: neither by you for keys nor by customers.", "Belum ada pembayaran: baik dari Anda untuk kunci maupun dari pelanggan.";
        purpose: "For", "Untuk";
        transaction: "Transaction", "Transaksi";
        payer: "Payer", "Pembayar";
        amount: "Amount", "Jumlah";
        block: "Block", "Blok";
        age: "Age", "Usia";
    }
}

#[derive(Template)]
#[template(path = "developers_dashboard.html")]
struct Page {
    frame: Frame,
    w: &'static DashboardWords,
    list_words: &'static InvoiceListWords,
    tabs: Tabs,
    revenue_idr: String,
    revenue: String,
    open: Number,
    paid: Number,
    expired: Number,
    void: Number,
    keys: Vec<KeyLine>,
    most_keys: u64,
    next_expiry: Option<labels::Until>,
    webhook: Option<WebhookLine>,
    has_revenue: bool,
    chart: Bars,
    invoices: Vec<InvoiceLine>,
    payments: Vec<PaymentLine>,
}

struct WebhookLine {
    state: Tag,
    delivered: Number,
    failed: Number,
}

/// A payment to a wallet's invoice, or for its order.
pub(crate) struct PaymentLine {
    pub(crate) purpose: &'static str,
    /// The page of what it was for.
    pub(crate) place: Option<String>,
    pub(crate) odd: Option<Tag>,
    pub(crate) hash: TransactionLink,
    pub(crate) payer: AddressLink,
    pub(crate) amount: Amount,
    pub(crate) block: BlockLink,
    pub(crate) age: Ago,
}

impl PaymentLine {
    pub(crate) fn new(site: &Site, row: &PaymentRow, language: Language) -> Self {
        let invoice = row.invoice_id.map(|id| format!("/developers/invoices/{id}"));
        let order = row.order_id.map(|id| format!("/developers/orders/{id}"));
        Self {
            purpose: labels::purpose(row.purpose, language),
            place: invoice.or(order),
            odd: labels::exception(row.exception, language),
            hash: TransactionLink(row.tx_hash),
            payer: site.address_link(row.payer),
            amount: Amount(row.amount.0),
            block: BlockLink(row.block_number),
            age: labels::ago(site, row.block_time, language),
        }
    }
}

/// What paid invoices brought on each day, as bars.
fn chart(days: &[RevenueRow], w: &'static DashboardWords) -> Bars {
    let most = days.iter().map(|row| row.amount_idr).max().unwrap_or(0);
    let sum: u64 = days.iter().map(|row| row.amount_idr).sum();
    let date = |row: &RevenueRow| {
        let text = utc(row.day.saturating_mul(DAY_SECONDS));
        text.split(' ').next().unwrap_or_default().to_owned()
    };
    let bar = |row: &RevenueRow| Bar {
        tip: format!("{}: {}", date(row), rupiah(row.amount_idr)),
        value: row.amount_idr as f64,
        second: 0.0,
    };
    Bars {
        about: About::new(w.by_day, format!("{} {}", rupiah(sum), w.in_all)),
        bars: days.iter().map(bar).collect(),
        edges: Edges {
            top: rupiah(most),
            start: days.first().map(date).unwrap_or_default(),
            end: days.last().map(date).unwrap_or_default(),
        },
        ..Bars::default()
    }
}

/// `GET /developers`.
pub(crate) async fn show(State(site): State<Arc<Site>>, visit: Visit, member: Member) -> Shown {
    let (portal, db, wallet) = (portal(&site)?, &site.api.db, member.wallet());
    let dashboard = portal.dashboards.get(wallet).await?;
    let keys = portal.orders.list_keys(wallet).await.map_err(refused)?;
    let webhook = db.find_webhook(wallet).await?;
    let payments = db.list_payments(wallet, None, PAYMENTS).await?;
    show_page(&page(&site, &visit, &member, Parts { dashboard, keys, webhook, payments }))
}

/// What the page is made from.
struct Parts {
    dashboard: Dashboard,
    keys: Vec<DeveloperKeyRow>,
    webhook: Option<WebhookRow>,
    payments: Vec<PaymentRow>,
}

fn page(site: &Site, visit: &Visit, member: &Member, parts: Parts) -> Page {
    let (language, now) = (visit.language, site.now() * 1_000);
    let w = DashboardWords::of(language);
    let Parts { dashboard: Dashboard { wallet, days, recent }, keys, webhook, payments } = parts;
    let count = |count: fn(&WalletRow) -> u64| Number(wallet.as_ref().map_or(0, count));
    let active: Vec<_> = keys.iter().filter(|key| key.state_at(now) == KeyState::Active).collect();
    let next_expiry = active.iter().map(|key| key.expires_at).min();
    Page {
        frame: Frame::new(site, visit, Section::Developers, w.title),
        w,
        list_words: InvoiceListWords::of(language),
        tabs: Tabs::new("dashboard", member, language),
        revenue_idr: rupiah(wallet.as_ref().map_or(0, |wallet| wallet.revenue_idr)),
        revenue: short_coin(wallet.as_ref().map_or(Wei::default(), |wallet| wallet.revenue).0),
        open: count(|wallet| wallet.open_count),
        paid: count(|wallet| wallet.paid_count),
        expired: count(|wallet| wallet.expired_count),
        void: count(|wallet| wallet.void_count),
        keys: active.iter().map(|row| KeyLine::new(site, row, language)).collect(),
        most_keys: MOST_ACTIVE_KEYS,
        next_expiry: next_expiry.map(|at| labels::until(site, at, language)),
        webhook: webhook.map(|row| WebhookLine {
            state: labels::webhook(row.state, language),
            delivered: Number(row.delivered_count),
            failed: Number(row.failed_count),
        }),
        has_revenue: days.iter().any(|day| day.amount_idr > 0),
        chart: chart(&days, w),
        invoices: recent.iter().map(|record| InvoiceLine::new(site, record, language)).collect(),
        payments: payments.iter().map(|row| PaymentLine::new(site, row, language)).collect(),
    }
}

/// `POST /developers`: signs out.
pub(crate) async fn sign_out(State(site): State<Arc<Site>>, member: Member) -> Result<Response, Failure> {
    let cleared = portal(&site)?.sign_out(&member.session, member.origin()).await.map_err(refused)?;
    let mut response = go_to("/developers");
    response.headers_mut().extend(cleared.map(|line| (header::SET_COOKIE, line)));
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_told_with_what_it_brought() {
        let row = |day, amount_idr| RevenueRow { day, invoices: 1, amount_idr, amount: Wei::default() };
        let chart = chart(&[row(20_000, 0), row(20_001, 150_000)], DashboardWords::of(Language::English));
        assert_eq!(chart.about.detail, "Rp\u{a0}150.000 in all");
        assert_eq!((chart.edges.start.as_str(), chart.edges.end.as_str()), ("2024-10-04", "2024-10-05"));
        let tips: Vec<_> = chart.bars.iter().map(|bar| bar.tip.as_str()).collect();
        assert_eq!(tips, ["2024-10-04: Rp\u{a0}0", "2024-10-05: Rp\u{a0}150.000"]);
    }
}
