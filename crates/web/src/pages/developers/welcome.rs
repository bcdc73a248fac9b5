//! What the portal is and costs, and the button to sign in: for everybody who is not signed in, wherever they wanted to go.

use askama::Template;
use axum::response::{IntoResponse, Response};
use domain::portal::{FeeSplit, Plan};
use hyper::StatusCode;

use super::{labels, show_as};
use crate::{
    format::short_coin,
    frame::{Frame, Section},
    site::Site,
    visit::Visit,
    wallet::WalletKit,
    words::Language,
};

words! {
    WelcomeWords {
        title: "Developer portal", "Portal pengembang";
        about: "Take payments in coin for invoices in rupiah. A wallet signs in, buys a key for its programs, and its programs make invoices; customers pay with a link or a QR code, and your server is told by a signed webhook.", "Terima pembayaran dalam koin untuk tagihan dalam rupiah. Dompet masuk dan membeli kunci untuk programnya, lalu program itu membuat tagihan; pelanggan membayar lewat tautan atau kode QR, dan server Anda diberi tahu lewat webhook bertanda tangan.";
        sign_in: "Sign in with wallet", "Masuk dengan dompet";
        free: "Nobody registers: your wallet signs a text (EIP-4361). Nothing is sent to the chain and nothing is paid.", "Tidak perlu mendaftar: dompet Anda menandatangani sebuah teks (EIP-4361). Tidak ada yang dikirim ke rantai dan tidak ada yang dibayar.";
        needs_script: "Signing in needs a wallet in the browser, and therefore JavaScript. Programs can do without: see the API.", "Untuk masuk diperlukan dompet di peramban, jadi juga JavaScript. Program dapat melakukannya tanpa itu: lihat API.";
        plans: "Plans", "Paket";
        days: "days", "hari";
        of_which: "of which burned", "di antaranya dibakar";
        five: "A wallet has up to five keys at a time. Of every fee 30 % is burned and 70 % kept for operations. Saving the first webhook URL costs 1 coin, once.", "Satu dompet dapat memiliki hingga lima kunci sekaligus. Dari setiap biaya 30 % dibakar dan 70 % disimpan untuk operasional. Menyimpan URL webhook pertama berbiaya 1 koin, sekali saja.";
        how: "How it works", "Cara kerjanya";
        step_sign_in: "Sign in with your wallet.", "Masuk dengan dompet Anda.";
        step_key: "Buy a key with one transaction. Its secret is shown once.", "Beli kunci dengan satu transaksi. Rahasianya ditampilkan sekali saja.";
        step_webhook: "Save the URL that your server is told at, and test it.", "Simpan URL tempat server Anda diberi tahu, lalu uji.";
        step_invoice: "Make an invoice, here or by the API, and send its link.", "Buat tagihan, di sini atau lewat API, lalu kirim tautannya.";
        step_paid: "The customer pays; the coin goes to your wallet in the same transaction.", "Pelanggan membayar; koin masuk ke dompet Anda dalam transaksi yang sama.";
        docs: "API documentation", "Dokumentasi API";
        network: "Connect a wallet to this network", "Hubungkan dompet ke jaringan ini";
    }
}

/// A plan as it is offered.
pub(crate) struct PlanLine {
    pub(crate) word: &'static str,
    pub(crate) title: &'static str,
    pub(crate) days: u64,
    pub(crate) price: String,
    pub(crate) burned: String,
}

/// Every plan, shortest first.
pub(crate) fn plans(language: Language) -> Vec<PlanLine> {
    let line = |plan: Plan| PlanLine {
        word: plan.name(),
        title: labels::plan(plan, language),
        days: plan.days(),
        price: short_coin(plan.fee().0),
        burned: short_coin(FeeSplit::of(plan.fee()).burned.0),
    };
    Plan::ALL.map(line).into()
}

#[derive(Template)]
#[template(path = "developers_welcome.html")]
struct Page<'a> {
    frame: Frame,
    w: &'static WelcomeWords,
    plans: Vec<PlanLine>,
    wallet: WalletKit<'a>,
}

/// How to sign in, in place of the page that needs it.
pub(crate) fn ask(site: &Site, visit: &Visit) -> Response {
    let w = WelcomeWords::of(visit.language);
    let is_first_page = visit.place.split('?').next() == Some("/developers");
    let page = Page {
        frame: Frame::new(site, visit, Section::Developers, w.title).with_scripts(&["developers.js"]),
        w,
        plans: plans(visit.language),
        wallet: WalletKit::new(site, visit),
    };
    let status = if is_first_page { StatusCode::OK } else { StatusCode::UNAUTHORIZED };
    show_as(status, &page).unwrap_or_else(IntoResponse::into_response)
}
