//! All blocks, newest first, from the index.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use store::index::BlockRow;

use super::transaction_table::{ROWS, TableWords};
use crate::{
    charts::Meter,
    failure::{Failure, Malformed},
    format::{bytes, percent},
    frame::{Frame, Section},
    page::{Shown, show as show_page},
    parts::{AddressLink, Ago, BlockLink},
    site::Site,
    visit::Visit,
};

words! {
    BlocksWords {
        title: "Blocks", "Blok";
        block: "Block", "Blok";
        age: "Age", "Usia";
        proposer: "Proposer", "Pengusul";
        transactions: "Transactions", "Transaksi";
        short: "Txns", "Trx";
        gas: "Gas used", "Gas terpakai";
        size: "Size", "Ukuran";
        round: "Round", "Ronde";
        genesis: "genesis", "genesis";
        round_hint: "Rounds above 0 mean that a proposer missed its turn and the next one took over.", "Ronde di atas 0 berarti seorang pengusul melewatkan gilirannya dan pengusul berikutnya menggantikan.";
        empty: "No blocks here.", "Tidak ada blok di sini.";
    }
}

#[derive(Template)]
#[template(path = "blocks.html")]
struct Page {
    frame: Frame,
    w: &'static BlocksWords,
    t: &'static TableWords,
    is_newest: bool,
    lines: Vec<Line>,
    next: Option<u64>,
}

struct Line {
    number: BlockLink,
    age: Ago,
    /// None of genesis.
    proposer: Option<AddressLink>,
    transactions: u32,
    gas: String,
    meter: Meter,
    size: String,
    round: u32,
}

/// `GET /blocks`.
pub(crate) async fn show(State(site): State<Arc<Site>>, visit: Visit) -> Shown {
    let w = BlocksWords::of(visit.language);
    let before = match visit.parameter("before") {
        None => None,
        Some(text) => {
            let number: Option<u64> = text.parse().ok();
            Some(number.ok_or(Failure::Malformed(Malformed::Parameter("before")))?)
        }
    };
    let most = u32::try_from(ROWS).unwrap_or(u32::MAX);
    let rows = site.api.db.list_blocks(before, most).await?;
    show_page(&Page {
        frame: Frame::new(&site, &visit, Section::Chain, w.title),
        w,
        t: TableWords::of(visit.language),
        is_newest: before.is_none(),
        lines: rows.iter().map(|row| line(&site, &visit, row)).collect(),
        next: rows.last().map(|row| row.number).filter(|number| *number > 0),
    })
}

fn line(site: &Site, visit: &Visit, row: &BlockRow) -> Line {
    let gas = percent(row.gas_used, row.gas_limit);
    Line {
        number: BlockLink(row.number),
        age: Ago { at: row.timestamp, now: site.now(), language: visit.language },
        proposer: (row.number > 0).then(|| site.proposer_link(row.proposer).pictured()),
        transactions: row.transaction_count,
        meter: Meter {
            title: gas.clone(),
            share: row.gas_used as f64 / row.gas_limit.max(1) as f64,
            second: 0.0,
        },
        gas,
        size: bytes(row.size),
        round: row.round,
    }
}
