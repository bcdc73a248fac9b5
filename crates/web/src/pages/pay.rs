//! The payment page of an invoice, for whoever has the link: what it costs, how to pay it, and the receipt.
//!
//! The token in the path is the permission. It is not logged, not sent elsewhere and not found by search engines; what the
//! merchant wrote about the customer is not shown, because links are passed on.

use std::sync::Arc;

use api::{Portal, code::Code, qr_picture};
use askama::Template;
use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use domain::portal::{InvoiceState, InvoiceToken, Rate};
use hyper::{
    StatusCode,
    header::{self, HeaderValue},
};
use merchant::{QuoteError, payment_link};
use store::portal::{InvoicePaymentRow, InvoiceRecord, QuoteRow};

use super::developers::{labels, portal};
use crate::{
    failure::{Failure, Missing},
    format::{coin, rupiah, utc},
    frame::{Frame, Section},
    page::{Shown, show_with},
    parts::{AddressLink, BlockLink},
    segment::Segment,
    site::Site,
    visit::Visit,
    wallet::WalletKit,
};

words! {
    PayWords {
        title: "Payment", "Pembayaran";
        to_pay: "To pay", "Yang harus dibayar";
        paid_title: "Paid", "Lunas";
        to: "To the merchant", "Kepada penjual";
        rate: "Rate", "Kurs";
        per: "per", "per";
        open: "Waiting for payment", "Menunggu pembayaran";
        closing: "The merchant took this invoice back. The price below can still be paid until it ends; there will be no other.", "Penjual membatalkan tagihan ini. Harga di bawah masih dapat dibayar sampai berakhir; tidak akan ada harga lain.";
        closed: "The merchant took this invoice back. Do not pay it.", "Penjual membatalkan tagihan ini. Jangan dibayar.";
        expired: "The time to pay this invoice is over. Ask the merchant for a new one.", "Waktu untuk membayar tagihan ini sudah habis. Minta yang baru kepada penjual.";
        void: "The merchant has taken this invoice back. There is nothing to pay.", "Penjual telah membatalkan tagihan ini. Tidak ada yang perlu dibayar.";
        paid: "This invoice is paid. The merchant has the coin.", "Tagihan ini sudah lunas. Penjual telah menerima koinnya.";
        until: "Can be paid until", "Dapat dibayar sampai";
        holds: "This price holds for", "Harga ini berlaku selama";
        holds_until: "until", "sampai";
        no_quote: "The price in coin is fixed for 15 minutes when you ask for it.", "Harga dalam koin dikunci selama 15 menit saat Anda memintanya.";
        ask: "Show the price in coin", "Tampilkan harga dalam koin";
        pay: "Connect and pay", "Hubungkan dan bayar";
        scan: "Or scan with a wallet that reads payment links (EIP-681)", "Atau pindai dengan dompet yang membaca tautan pembayaran (EIP-681)";
        scan_page: "Scan to go on with your phone", "Pindai untuk melanjutkan di ponsel";
        in_wallet: "Open in a wallet", "Buka di dompet";
        exact: "The contract takes exactly this amount, once. Too little, too much, twice or too late is refused by the chain, and only the network fee is lost. Do not send bare coin.", "Kontrak menerima tepat jumlah ini, sekali. Kurang, lebih, dua kali, atau terlambat akan ditolak rantai, dan hanya biaya jaringan yang hilang. Jangan kirim koin begitu saja.";
        receipt: "Receipt", "Bukti pembayaran";
        amount: "Amount", "Jumlah";
        transaction: "Transaction", "Transaksi";
        block: "Block", "Blok";
        time: "Time", "Waktu";
        payer: "Payer", "Pembayar";
        network: "Network", "Jaringan";
        print: "Print", "Cetak";
        rate_missing: "There is no price for the coin at the moment. Try again later.", "Saat ini belum ada harga koin. Coba lagi nanti.";
        behind: "The last price has just ended and may have been paid. Try again in a moment.", "Harga terakhir baru saja berakhir dan mungkin sudah dibayar. Coba lagi sebentar lagi.";
        silent: "No node of the chain answers. Try again in a moment.", "Tidak ada node rantai yang menjawab. Coba lagi sebentar lagi.";
        too_many: "The price was asked for too often. Try again in a minute.", "Harga terlalu sering diminta. Coba lagi dalam satu menit.";
    }
}

#[derive(Template)]
#[template(path = "pay.html")]
struct Page<'a> {
    frame: Frame,
    w: &'static PayWords,
    wallet: WalletKit<'a>,
    error: Option<&'static str>,
    status: &'static str,
    is_open: bool,
    is_closing: bool,
    /// The state in words.
    tone: &'static str,
    state: &'static str,
    amount: String,
    merchant: AddressLink,
    rate: Option<String>,
    until: String,
    quote: Option<QuotePart>,
    receipt: Option<Receipt>,
    /// The page as a QR code.
    page_qr: Option<String>,
}

/// What it costs in coin, for a while.
struct QuotePart {
    id: String,
    price: String,
    rate: String,
    /// Seconds of the chain that are left.
    left: u64,
    until: String,
    link: String,
    qr: Option<String>,
}

struct Receipt {
    price: String,
    rate: Option<String>,
    hash: String,
    block: BlockLink,
    time: String,
    payer: AddressLink,
}

/// `GET /pay/{token}`.
pub(crate) async fn show(State(site): State<Arc<Site>>, visit: Visit, Segment(token): Segment) -> Shown {
    render(&site, &visit, read_token(&token)?, None).await
}

/// `POST /pay/{token}`: makes a price for whoever has no script, and leads back.
pub(crate) async fn quote(State(site): State<Arc<Site>>, visit: Visit, Segment(token): Segment) -> Shown {
    let token = read_token(&token)?;
    let w = PayWords::of(visit.language);
    let portal = portal(&site)?;
    let Err(problem) = portal.quote(token, visit.address.into(), site.api.clock.now()).await else {
        return Ok(back());
    };
    let told = [
        (Code::RateUnavailable, w.rate_missing),
        (Code::PaymentsBehind, w.behind),
        (Code::ChainUnavailable, w.silent),
        (Code::RateLimited, w.too_many),
    ];
    if let Some((_, error)) = told.into_iter().find(|(code, _)| *code == problem.code()) {
        return render(&site, &visit, token, Some(error)).await;
    }
    if problem.code() == Code::DatabaseUnavailable {
        return Err(Failure::DatabaseUnavailable(problem.detail().to_owned()));
    }
    if problem.code() == Code::InvoiceNotFound {
        return Err(Failure::Missing(Missing::PaymentLink));
    }
    // It cannot be paid any more; the page says why.
    Ok(back())
}

/// To the page itself, without its name: that is a permission, and headers are logged by others.
fn back() -> Response {
    (StatusCode::SEE_OTHER, [(header::LOCATION, HeaderValue::from_static("?"))]).into_response()
}

/// A text that cannot be a token is one that no link has.
fn read_token(text: &str) -> Result<InvoiceToken, Failure> {
    text.parse().map_err(|_| Failure::Missing(Missing::PaymentLink))
}

async fn render(site: &Site, visit: &Visit, token: InvoiceToken, error: Option<&'static str>) -> Shown {
    let portal = portal(site)?;
    let record = portal.checkout.find(token).await.map_err(|error| match error {
        QuoteError::Store(error) => Failure::from(error),
        QuoteError::NotFound
        | QuoteError::NotOpen
        | QuoteError::RateMissing
        | QuoteError::Unsettled
        | QuoteError::ChainUnavailable => Failure::Missing(Missing::PaymentLink),
    })?;
    let rate = portal.rates.current().await?.map(|row| row.rate);
    let page = Page { error, ..page(site, visit, portal, &record, rate) };
    let status = if error.is_some() { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
    let mut response = show_with(status, &page)?;
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-robots-tag", HeaderValue::from_static("noindex"));
    Ok(response)
}

fn page<'a>(
    site: &'a Site,
    visit: &Visit,
    portal: &Portal,
    record: &InvoiceRecord,
    rate: Option<Rate>,
) -> Page<'a> {
    let (language, invoice) = (visit.language, &record.invoice);
    let w = PayWords::of(language);
    let chain_time = site.last_head().map(|head| head.header.timestamp);
    let quote = record.payable_quote(chain_time);
    let is_open = invoice.state == InvoiceState::Open;
    let is_closing = is_open && invoice.void_requested_at.is_some();
    let (tone, state) = match (invoice.state, is_closing, quote) {
        (InvoiceState::Open, false, _) => ("", w.open),
        (InvoiceState::Open, true, Some(_)) => ("warn", w.closing),
        (InvoiceState::Open, true, None) => ("bad", w.closed),
        (InvoiceState::Paid, _, _) => ("good", w.paid),
        (InvoiceState::Expired, _, _) => ("warn", w.expired),
        (InvoiceState::Void, _, _) => ("bad", w.void),
    };
    let url = portal.checkout.pay_url(invoice.token);
    let left = |quote: &QuoteRow| quote.deadline.saturating_sub(chain_time.unwrap_or_else(|| site.now()));
    Page {
        frame: Frame::new(site, visit, Section::Elsewhere, w.title).with_scripts(&["pay.js"]),
        w,
        wallet: WalletKit::new(site, visit),
        error: None,
        status: invoice.state.name(),
        is_open,
        is_closing,
        tone,
        state,
        amount: rupiah(invoice.amount_idr),
        merchant: AddressLink::new(invoice.wallet, None).pictured().full(),
        rate: rate.map(labels::rate),
        until: utc(invoice.expires_at / 1_000),
        quote: quote.map(|quote| {
            let link = payment_link(&portal.checkout.terms(invoice, quote));
            QuotePart {
                id: quote.id.to_string(),
                price: coin(quote.amount.0),
                rate: labels::rate(quote.rate),
                left: left(quote),
                until: utc(quote.deadline),
                qr: qr_picture(&link),
                link,
            }
        }),
        receipt: record.payment.as_ref().map(|payment| receipt(site, invoice.amount_idr, payment)),
        page_qr: qr_picture(&url).filter(|_| is_open),
    }
}

fn receipt(site: &Site, amount_idr: u64, payment: &InvoicePaymentRow) -> Receipt {
    Receipt {
        price: coin(payment.amount.0),
        rate: Rate::of_price(amount_idr, payment.amount).map(labels::rate),
        hash: payment.tx_hash.to_string(),
        block: BlockLink(payment.block_number),
        time: utc(payment.block_time / 1_000),
        payer: site.address_link(payment.payer).full(),
    }
}
