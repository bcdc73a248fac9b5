//! Burned and held fees: totals, sources, history by day, latest payments. All from the index.

use std::sync::Arc;

use alloy_primitives::{B256, U256};
use askama::Template;
use axum::extract::State;
use contracts::fees::{BURN_BPS, FeeSource};
use store::index::{ContractEvent, EventFilter, EventKind, EventRow, FeeDay, FeeSums, FeeTotals};

use crate::{
    charts::{About, Bar, Bars, Edges, Row, Rows},
    format::{Number, short_coin, utc},
    frame::{Frame, Section},
    page::{Shown, show as show_page},
    parts::{AddressLink, Ago, Amount, BlockLink, TransactionLink},
    site::Site,
    visit::Visit,
    words::Language,
};

/// Days of the history.
const DAYS: u32 = 30;
/// Payments that are listed.
const PAYMENTS: u32 = 10;

words! {
    BurnsWords {
        title: "Burned fees", "Biaya yang dibakar";
        policy: "Of every platform fee, a fixed part is burned for ever and the rest is held for operations. The contract splits each payment in the moment it is made; nobody can change the shares.", "Dari setiap biaya platform, sebagian tetap dibakar selamanya dan sisanya disimpan untuk operasional. Kontrak membagi setiap pembayaran saat itu juga; tidak seorang pun dapat mengubah pembagiannya.";
        burned: "Burned", "Dibakar";
        held: "Held", "Disimpan";
        collected: "Collected", "Terkumpul";
        payments: "Payments", "Pembayaran";
        of_each: "of each payment", "dari setiap pembayaran";
        in_all: "in all", "seluruhnya";
        sources: "By source", "Menurut sumber";
        source: "Source", "Sumber";
        history: "Last 30 days", "30 hari terakhir";
        as_table: "As a table", "Sebagai tabel";
        day: "Day (UTC)", "Hari (UTC)";
        no_history: "No fees were paid in the last 30 days.", "Tidak ada biaya yang dibayar dalam 30 hari terakhir.";
        latest: "Latest payments", "Pembayaran terbaru";
        no_payments: "No fees were paid yet. Buying an API key plan in the developer portal is the first way to pay one.", "Belum ada biaya yang dibayar. Membeli paket kunci API di portal pengembang adalah cara pertama untuk membayarnya.";
        transaction: "Transaction", "Transaksi";
        block: "Block", "Blok";
        age: "Age", "Usia";
        payer: "Payer", "Pembayar";
        paid: "Paid", "Dibayar";
        counted: "Counted up to block", "Dihitung sampai blok";
        most: "highest day", "hari tertinggi";
        contract: "Contract", "Kontrak";
    }
}

#[derive(Template)]
#[template(path = "burns.html")]
struct Page {
    frame: Frame,
    w: &'static BurnsWords,
    burn_percent: u64,
    hold_percent: u64,
    total: Sums,
    contract: AddressLink,
    chart: Rows,
    sources: Vec<(String, Sums)>,
    days: Vec<(String, Sums)>,
    history: Bars,
    payments: Vec<Payment>,
    as_of: Option<BlockLink>,
}

struct Sums {
    burned: Amount,
    held: Amount,
    collected: Amount,
    payments: Number,
}

impl From<&FeeSums> for Sums {
    fn from(sums: &FeeSums) -> Self {
        Self {
            burned: Amount(sums.burned.0),
            held: Amount(sums.held.0),
            collected: Amount(sums.collected.0),
            payments: Number(sums.payments),
        }
    }
}

struct Payment {
    transaction: TransactionLink,
    block: BlockLink,
    age: Ago,
    source: String,
    payer: AddressLink,
    paid: Amount,
    burned: Amount,
}

/// `GET /burns`.
pub(crate) async fn show(State(site): State<Arc<Site>>, visit: Visit) -> Shown {
    let w = BurnsWords::of(visit.language);
    let totals = site.api.db.fee_totals().await?;
    let days = site.api.db.fee_history_by_day(DAYS).await?;
    let filter = EventFilter { kinds: vec![EventKind::FeePaid], ..EventFilter::default() };
    let events = site.api.db.contract_events(&filter, PAYMENTS).await?;
    let burn_percent = BURN_BPS / 100;
    let sources: Vec<_> = sources(&totals).collect();
    show_page(&Page {
        frame: Frame::new(&site, &visit, Section::Chain, w.title),
        w,
        burn_percent,
        hold_percent: 100 - burn_percent,
        total: Sums::from(&totals.total),
        contract: site.address_link(site.deployment().contracts.platform_fees),
        chart: Rows { rows: sources.iter().map(|(name, sums)| row(&site, name, sums)).collect(), full: 0.0 },
        sources: sources.iter().map(|(name, sums)| (name.clone(), Sums::from(sums))).collect(),
        history: history(&site, &days, w),
        days: days.iter().rev().map(|day| (date(day.start), Sums::from(&day.total))).collect(),
        payments: events.iter().filter_map(|event| payment(&site, event, visit.language)).collect(),
        as_of: totals.as_of_block.map(BlockLink),
    })
}

/// Every source with its sums, those nobody has paid for included.
fn sources(totals: &FeeTotals) -> impl Iterator<Item = (String, FeeSums)> {
    FeeSource::ALL.into_iter().map(|source| {
        let paid = totals.sources.iter().find(|paid| paid.source == source.id());
        (source.name().to_owned(), paid.map_or(FeeSums::default(), |paid| paid.sums))
    })
}

fn row(site: &Site, name: &str, sums: &FeeSums) -> Row {
    Row {
        name: name.to_owned(),
        figure: format!("{} {}", short_coin(sums.collected.0), site.symbol()),
        value: number(sums.burned.0),
        second: number(sums.held.0),
    }
}

fn history(site: &Site, days: &[FeeDay], w: &BurnsWords) -> Bars {
    let most = days.iter().map(|day| day.total.collected.0).max().unwrap_or(U256::ZERO);
    let symbol = site.symbol();
    let bar = |day: &FeeDay| Bar {
        tip: format!(
            "{}: {} {} {symbol}, {} {} {symbol}",
            date(day.start),
            w.burned,
            short_coin(day.total.burned.0),
            w.held,
            short_coin(day.total.held.0)
        ),
        value: number(day.total.burned.0),
        second: number(day.total.held.0),
    };
    let edge = |day: Option<&FeeDay>| day.map(|day| date(day.start)).unwrap_or_default();
    let top = format!("{} {symbol} ({})", short_coin(most), w.most);
    Bars {
        about: About::new(w.history, top.clone()),
        bars: days.iter().map(bar).collect(),
        edges: Edges {
            top,
            start: if days.len() > 1 { edge(days.first()) } else { String::new() },
            end: edge(days.last()),
        },
        full: 0.0,
        places: DAYS as usize,
    }
}

fn payment(site: &Site, row: &EventRow, language: Language) -> Option<Payment> {
    let ContractEvent::FeePaid { source, payer, amount, burned, .. } = &row.event else { return None };
    Some(Payment {
        transaction: TransactionLink(row.transaction_hash),
        block: BlockLink(row.block_number),
        age: Ago { at: row.timestamp, now: site.now(), language },
        source: source_name(*source),
        payer: site.address_link(*payer),
        paid: Amount(amount.0),
        burned: Amount(burned.0),
    })
}

fn source_name(id: B256) -> String {
    FeeSource::from_id(id).map_or_else(|| id.to_string(), |source| source.name().to_owned())
}

/// `2026-11-15`.
fn date(seconds: u64) -> String {
    utc(seconds).split(' ').next().unwrap_or_default().to_owned()
}

/// For drawing only.
fn number(amount: U256) -> f64 {
    f64::from(amount)
}
