//! The first page: where the chain is, its latest blocks and transactions.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use serde::Serialize;
use store::index::{BlockRow, TransactionRow};

use crate::{
    charts::{About, Area, Bar, Bars, Edges},
    failure::Failure,
    format::{Number, percent, short_coin},
    frame::{Frame, Section},
    page::{Shown, show as show_page},
    parts::{AddressLink, Ago, Amount, BlockLink, TransactionLink},
    site::Site,
    visit::Visit,
    words::Language,
};

/// Rows of each list.
const ROWS: usize = 8;
/// Blocks that rates are made from.
const WINDOW: u32 = 60;

/// Places of the chart while there are few blocks.
const FEWEST_PLACES: usize = 20;

words! {
    HomeWords {
        title: "Explorer", "Penjelajah";
        latest_block: "Latest block", "Blok terbaru";
        block_time: "Block time", "Waktu blok";
        transactions_per_second: "Transactions per second", "Transaksi per detik";
        of_the_last: "of the last 60 blocks", "dari 60 blok terakhir";
        validators: "Validators", "Validator";
        staked: "staked", "dipertaruhkan";
        latest_blocks: "Latest blocks", "Blok terbaru";
        latest_transactions: "Latest transactions", "Transaksi terbaru";
        all_blocks: "All blocks", "Semua blok";
        all_transactions: "All transactions", "Semua transaksi";
        block: "Block", "Blok";
        age: "Age", "Usia";
        proposer: "Proposer", "Pengusul";
        transactions: "Txns", "Tx";
        hash: "Transaction", "Transaksi";
        from: "From", "Dari";
        to: "To", "Ke";
        value: "Value", "Nilai";
        created: "new contract", "kontrak baru";
        failed: "failed", "gagal";
        activity: "Transactions per block", "Transaksi per blok";
        gas: "Gas used per block", "Gas terpakai per blok";
        the_most: "the most", "terbanyak";
        of_the_limit: "of the limit", "dari batas";
        no_blocks: "No blocks are indexed yet. This page fills itself as soon as there are some.", "Belum ada blok yang diindeks. Halaman ini terisi sendiri begitu ada.";
        no_transactions: "No transactions yet. They appear here in the very moment of their block.", "Belum ada transaksi. Transaksi tampil di sini tepat pada saat bloknya.";
    }
}

/// What the page is made from, whoever looks at it.
#[derive(Debug)]
pub(crate) struct Reading {
    blocks: Vec<BlockRow>,
    transactions: Vec<TransactionRow>,
}

impl Reading {
    /// Of the newest block that the index has: read before, when it came, or now.
    async fn newest(site: &Site) -> Result<Arc<Self>, Failure> {
        let block = site.api.boards.borrow().as_ref().and_then(|board| board.as_of_block);
        match block.and_then(|block| site.live.reading_of(block)) {
            Some(reading) => Ok(reading),
            None => Ok(Arc::new(Self::read(site).await?)),
        }
    }

    /// The newest block in it.
    pub(crate) fn block(&self) -> Option<u64> {
        self.blocks.first().map(|block| block.number)
    }

    pub(crate) async fn read(site: &Site) -> Result<Self, Failure> {
        let rows = u32::try_from(ROWS).unwrap_or(u32::MAX);
        Ok(Self {
            blocks: site.api.db.list_blocks(None, WINDOW).await?,
            transactions: site.api.db.list_transactions(None, rows).await?,
        })
    }

    /// The blocks whose times tell something: that of genesis is older than the chain.
    fn timed(&self) -> impl Iterator<Item = &BlockRow> {
        self.blocks.iter().filter(|block| block.number > 0)
    }

    /// Seconds and transactions from the oldest block of the window to the newest.
    fn pace(&self) -> Option<(u64, u64)> {
        let (newest, oldest) = (self.blocks.first()?, self.timed().last()?);
        let count = self.timed().map(|block| u64::from(block.transaction_count)).sum();
        Some((newest.timestamp.checked_sub(oldest.timestamp).filter(|seconds| *seconds > 0)?, count))
    }
}

#[derive(Template)]
#[template(path = "home.html")]
struct Page<'a> {
    frame: Frame,
    w: &'static HomeWords,
    stats: Stats<'a>,
    charts: Charts,
    blocks: Blocks,
    transactions: Transactions,
}

/// Transactions and gas of the last blocks.
#[derive(Template)]
#[template(path = "home_charts.html")]
struct Charts {
    w: &'static HomeWords,
    transactions: Bars,
    gas: Area,
}

/// The figures at the top.
#[derive(Template)]
#[template(path = "home_stats.html")]
struct Stats<'a> {
    w: &'static HomeWords,
    head: String,
    block_time: String,
    per_second: String,
    validators: String,
    staked: String,
    symbol: &'a str,
}

/// The latest blocks.
#[derive(Template)]
#[template(path = "home_blocks.html")]
struct Blocks {
    w: &'static HomeWords,
    lines: Vec<BlockLine>,
}

struct BlockLine {
    number: BlockLink,
    age: Ago,
    /// None of genesis.
    proposer: Option<AddressLink>,
    transactions: u32,
}

/// The latest transactions.
#[derive(Template)]
#[template(path = "home_transactions.html")]
struct Transactions {
    w: &'static HomeWords,
    lines: Vec<TransactionLine>,
}

struct TransactionLine {
    hash: TransactionLink,
    is_failed: bool,
    from: AddressLink,
    /// None when a contract was created.
    to: Option<AddressLink>,
    value: Amount,
    age: Ago,
}

/// The parts that change with a block, by the id of the element they go into.
#[derive(Debug, Serialize)]
pub(crate) struct LiveParts {
    stats: String,
    charts: String,
    blocks: String,
    transactions: String,
}

/// The parts that change with a block.
pub(crate) fn live_parts(site: &Site, reading: &Reading, language: Language) -> Result<LiveParts, Failure> {
    Ok(LiveParts {
        stats: stats(site, reading, language).render()?,
        charts: charts(reading, language).render()?,
        blocks: blocks(site, reading, language).render()?,
        transactions: transactions(site, reading, language).render()?,
    })
}

fn stats<'a>(site: &'a Site, reading: &Reading, language: Language) -> Stats<'a> {
    let board = site.api.boards.borrow().clone();
    let unknown = || "–".to_owned();
    let hundredths = |value: u64| format!("{}.{:02}", value / 100, value % 100);
    let steps = reading.timed().count().saturating_sub(1) as u64;
    let block_time = reading.pace().and_then(|(seconds, _)| (seconds * 100).checked_div(steps));
    let per_second = reading.pace().map(|(seconds, count)| count * 100 / seconds);
    Stats {
        w: HomeWords::of(language),
        head: reading.blocks.first().map_or_else(unknown, |block| Number(block.number).to_string()),
        block_time: block_time.map_or_else(unknown, |value| format!("{} s", hundredths(value))),
        per_second: per_second.map_or_else(unknown, hundredths),
        validators: board.as_ref().map_or_else(unknown, |board| Number(board.set_size() as u64).to_string()),
        staked: board.as_ref().map_or_else(unknown, |board| short_coin(board.total_staked.0)),
        symbol: site.symbol(),
    }
}

fn charts(reading: &Reading, language: Language) -> Charts {
    let w = HomeWords::of(language);
    let oldest_first = || reading.blocks.iter().rev();
    let most = oldest_first().map(|block| block.transaction_count).max().unwrap_or(0);
    let fullest = oldest_first().max_by_key(|block| block.gas_used);
    let fullest = fullest.map(|block| percent(block.gas_used, block.gas_limit)).unwrap_or_default();
    let number = |block: Option<&BlockRow>| block.map(|block| Number(block.number).to_string());
    let edges = |top: String| Edges {
        top,
        start: number(reading.blocks.last()).unwrap_or_default(),
        end: number(reading.blocks.first()).unwrap_or_default(),
    };
    let tip = |block: &BlockRow| format!("{} {}: {}", w.block, Number(block.number), block.transaction_count);
    let bar = |block: &BlockRow| Bar {
        tip: tip(block),
        value: f64::from(block.transaction_count),
        ..Bar::default()
    };
    let top = format!("{}: {most}", w.the_most);
    let gas_top = format!("{}: {fullest} {}", w.the_most, w.of_the_limit);
    let share = |block: &BlockRow| block.gas_used as f64 / block.gas_limit.max(1) as f64;
    Charts {
        w,
        transactions: Bars {
            about: About::new(w.activity, format!("{}; {top}", w.of_the_last)),
            bars: oldest_first().map(bar).collect(),
            edges: edges(top),
            full: 1.0,
            places: FEWEST_PLACES,
        },
        gas: Area {
            about: About::new(w.gas, format!("{}; {gas_top}", w.of_the_last)),
            values: oldest_first().map(share).collect(),
            edges: edges(gas_top),
            full: 0.0,
        },
    }
}

fn blocks(site: &Site, reading: &Reading, language: Language) -> Blocks {
    let now = site.now();
    let lines = reading.blocks.iter().take(ROWS).map(|block| BlockLine {
        number: BlockLink(block.number),
        age: Ago { at: block.timestamp, now, language },
        proposer: (block.number > 0).then(|| site.proposer_link(block.proposer).pictured()),
        transactions: block.transaction_count,
    });
    Blocks { w: HomeWords::of(language), lines: lines.collect() }
}

fn transactions(site: &Site, reading: &Reading, language: Language) -> Transactions {
    let now = site.now();
    let lines = reading.transactions.iter().map(|transaction| TransactionLine {
        hash: TransactionLink(transaction.hash),
        is_failed: !transaction.success,
        from: site.address_link(transaction.from),
        to: transaction.to.map(|to| site.address_link(to)),
        value: Amount(transaction.value.0),
        age: Ago { at: transaction.timestamp, now, language },
    });
    Transactions { w: HomeWords::of(language), lines: lines.collect() }
}

/// `GET /`.
pub(crate) async fn show(State(site): State<Arc<Site>>, visit: Visit) -> Shown {
    let w = HomeWords::of(visit.language);
    let reading = Reading::newest(&site).await?;
    show_page(&Page {
        frame: Frame::new(&site, &visit, Section::Home, w.title),
        w,
        stats: stats(&site, &reading, visit.language),
        charts: charts(&reading, visit.language),
        blocks: blocks(&site, &reading, visit.language),
        transactions: transactions(&site, &reading, visit.language),
    })
}
