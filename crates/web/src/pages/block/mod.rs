//! A block: who proposed and sealed it, what is in it, and everything its header says.

mod agreed;
mod stored;

use std::sync::Arc;

use alloy_primitives::{B256, U256, hex};
use api::{BlockName, find_block};
use askama::Template;
use axum::extract::State;
use chain::Block;

use self::agreed::Agreed;
use super::transaction_table::{Kind, ROWS, TableWords, Tables, TransactionTable};
use crate::{
    charts::Meter,
    failure::{Failure, Malformed, Missing},
    format::{Number, bytes, coin, gwei, percent, utc},
    frame::{Frame, Section},
    page::{Shown, show as show_page},
    parts::{Ago, Mono},
    segment::{Segment, repeated},
    site::Site,
    visit::Visit,
};

words! {
    /// Words of a block's page.
    BlockWords {
        title: "Block", "Blok";
        previous: "Previous", "Sebelumnya";
        following: "Next", "Berikutnya";
        time: "Time", "Waktu";
        final_at_once: "final", "final";
        transactions: "Transactions", "Transaksi";
        no_transactions: "This block has no transactions. Blocks are made on time, whether or not anybody sends something.", "Blok ini tidak berisi transaksi. Blok dibuat tepat waktu, ada kiriman ataupun tidak.";
        proposer: "Proposer", "Pengusul";
        nobody: "nobody: this is where the chain begins", "tidak ada: di sinilah rantai dimulai";
        round: "Round", "Ronde";
        round_zero: "The first proposer in line was on time.", "Pengusul pertama dalam giliran tepat waktu.";
        round_more: "The proposers before did not deliver in time, and the next in line took over.", "Pengusul sebelumnya tidak tepat waktu, lalu pengusul berikutnya menggantikan.";
        seals: "Seals", "Segel";
        seals_of: "of", "dari";
        seals_hint: "A block is sealed as soon as a quorum has signed it; who is missing may simply have been a moment later.", "Blok disegel begitu kuorum menandatanganinya; yang tidak tercantum mungkin hanya terlambat sesaat.";
        sealed: "sealed", "menyegel";
        not_needed: "not among the first", "tidak termasuk yang pertama";
        vote: "Vote", "Suara";
        votes_to_add: "to add", "untuk menambah";
        votes_to_drop: "to drop", "untuk mengeluarkan";
        gas: "Gas used", "Gas terpakai";
        base_fee: "Base fee", "Biaya dasar";
        burned: "burned", "dibakar";
        size: "Size", "Ukuran";
        hash: "Hash", "Hash";
        parent: "Parent hash", "Hash induk";
        details: "Roots and extra data", "Akar dan data tambahan";
        state_root: "State root", "Akar status";
        transactions_root: "Transactions root", "Akar transaksi";
        receipts_root: "Receipts root", "Akar tanda terima";
        extra: "Extra data", "Data tambahan";
        from_index: "No node answers, so this is what the index knows of the block. Seals, roots and extra data are missing.", "Tidak ada node yang menjawab, jadi ini yang diketahui indeks tentang blok ini. Segel, akar, dan data tambahan tidak tersedia.";
    }
}

#[derive(Template)]
#[template(path = "block.html")]
struct Page {
    frame: Frame,
    w: &'static BlockWords,
    t: &'static TableWords,
    number: u64,
    shown_number: Number,
    previous: Option<u64>,
    following: Option<u64>,
    hash: Mono,
    parent: Option<Mono>,
    time: String,
    ago: Ago,
    agreed: Agreed,
    gas: Gas,
    base_fee: Option<BaseFee>,
    size: String,
    roots: Option<Roots>,
    transactions: TransactionPart,
}

struct Gas {
    used: Number,
    limit: Number,
    percent: String,
    meter: Meter,
}

struct BaseFee {
    gwei: String,
    /// What its transactions paid of it, in coin.
    burned: Option<String>,
}

struct Roots {
    state: Mono,
    transactions: Mono,
    receipts: Mono,
    extra: String,
}

struct TransactionPart {
    count: Number,
    table: TransactionTable,
    /// Where the next page begins.
    next: Option<usize>,
    is_first: bool,
}

/// `GET /block/{number or hash}`.
pub(crate) async fn show(State(site): State<Arc<Site>>, Segment(name): Segment, visit: Visit) -> Shown {
    let name = find_block(&name).ok_or_else(|| Failure::Malformed(Malformed::Block(repeated(&name))))?;
    let head = site.last_head().map_or(0, |head| head.number());
    let found = match name {
        BlockName::Latest => site.api.chain.block(head).await,
        BlockName::Number(number) => site.api.chain.block(number).await,
        BlockName::Hash(hash) => site.api.chain.block_by_hash(hash).await,
    };
    match (found, name) {
        (Ok(Some(block)), _) => show_block(&site, &visit, &block, head).await,
        (Ok(None), BlockName::Number(number)) => Err(Failure::Missing(Missing::FutureBlock { number, head })),
        (Ok(None), BlockName::Latest | BlockName::Hash(_)) => Err(Failure::Missing(Missing::BlockHash)),
        (Err(_), BlockName::Number(number)) if number > head => {
            Err(Failure::Missing(Missing::FutureBlock { number, head }))
        }
        (Err(error), BlockName::Number(number)) => stored::show(&site, &visit, number, error).await,
        (Err(error), BlockName::Latest | BlockName::Hash(_)) => Err(error.into()),
    }
}

async fn show_block(site: &Site, visit: &Visit, block: &Block, head: u64) -> Shown {
    let w = BlockWords::of(visit.language);
    let header = &block.header;
    let receipts = site.api.chain.receipts(block).await?;
    let from = first_row(visit)?;
    let tables = Tables {
        site,
        language: visit.language,
        kind: Kind::Block,
        caption: w.transactions,
        empty: w.no_transactions,
    };
    let count = block.transactions.len();
    let root = |root: B256| Mono(root.to_string());
    show_page(&Page {
        frame: Frame::new(site, visit, Section::Chain, format!("{} {}", w.title, Number(header.number))),
        w,
        t: TableWords::of(visit.language),
        number: header.number,
        shown_number: Number(header.number),
        previous: header.number.checked_sub(1),
        following: Some(header.number + 1).filter(|number| *number <= head),
        hash: Mono(block.hash.to_string()),
        parent: (header.number > 0).then(|| Mono(header.parent_hash.to_string())),
        time: utc(header.timestamp),
        ago: Ago { at: header.timestamp, now: site.now(), language: visit.language },
        agreed: Agreed::of(site, block),
        gas: gas(header.gas_used, header.gas_limit),
        base_fee: header.base_fee_per_gas.map(|fee| BaseFee {
            gwei: gwei(U256::from(fee)),
            burned: (fee > 0).then(|| coin(U256::from(fee) * U256::from(header.gas_used))),
        }),
        size: bytes(block.encoded_length() as u64),
        roots: Some(Roots {
            state: root(header.state_root),
            transactions: root(header.transactions_root),
            receipts: root(header.receipts_root),
            extra: hex::encode_prefixed(&header.extra_data),
        }),
        transactions: TransactionPart {
            count: Number(count as u64),
            table: tables.of_block(block, &receipts, from),
            next: Some(from + ROWS).filter(|next| *next < count),
            is_first: from == 0,
        },
    })
}

fn gas(used: u64, limit: u64) -> Gas {
    let text = percent(used, limit);
    let share = used as f64 / limit.max(1) as f64;
    let meter = Meter { title: text.clone(), share, second: 0.0 };
    Gas { used: Number(used), limit: Number(limit), percent: text, meter }
}

/// The transaction that the list begins with: `?from=`.
fn first_row(visit: &Visit) -> Result<usize, Failure> {
    let Some(text) = visit.parameter("from") else { return Ok(0) };
    text.parse().map_err(|_| Failure::Malformed(Malformed::Parameter("from")))
}
