//! `/validators`: everybody who ever validated, best first, with what each did in the last blocks.

use std::{collections::HashMap, sync::Arc};

use askama::Template;
use axum::extract::{Query, State};
use ibft::quorum::{quorum, tolerated_faults};
use store::index::StripBlock;
use validators::{Board, board::Standing, ranking::RankedValidator};

use super::{
    board,
    breakdown::{Rule, penalty_rule, rules},
    concentration::Concentration,
    figures::{Share, UNKNOWN, bps_percent, permille, ppm_percent},
    standing::StandingTag,
    strip::{self, LegendWords, Strip},
};
use crate::{
    failure::{Failure, Malformed},
    format::{Number, short_coin},
    frame::{Frame, Section},
    page::{Shown, show as show_page},
    parts::{AddressLink, Amount, BlockLink},
    site::Site,
    visit::Visit,
    words::Language,
};

/// Rows of a page: with their strips about two kilobytes each.
const ROWS: usize = 20;

words! {
    RankingWords {
        title: "Validators", "Validator";
        in_the_set: "In the validator set", "Dalam set validator";
        may_fail: "may fail at once", "boleh gagal bersamaan";
        quorum: "Quorum", "Kuorum";
        seals_per_block: "seals make a block final", "segel membuat blok final";
        staked: "Staked", "Total stake";
        third: "Hold over a third", "Memegang lebih dari sepertiga";
        two_thirds: "hold over two thirds", "memegang lebih dari dua pertiga";
        hold_third: "validators hold over a third", "validator memegang lebih dari sepertiga";
        status: "Status", "Status";
        caption: "Validators, best first", "Validator, terbaik lebih dulu";
        rank: "#", "#";
        validator: "Validator", "Validator";
        score: "Score", "Skor";
        uptime: "Uptime", "Waktu aktif";
        day_month: "24 h / 30 d", "24 jam / 30 hari";
        stake: "Stake", "Stake";
        commission: "Commission", "Komisi";
        missed: "Missed turns", "Giliran terlewat";
        last_proposed: "Last proposed", "Terakhir mengusulkan";
        strip: "Last 60 blocks", "60 blok terakhir";
        provisional: "provisional", "sementara";
        provisional_title: "It has had turns for less than a day and is ranked after those with more.", "Gilirannya belum genap sehari, maka diperingkat setelah yang lebih lama.";
        nobody: "No validator has this status.", "Tidak ada validator dengan status ini.";
        next: "Next", "Berikutnya";
        first: "First", "Pertama";
        spread: "How the stake is spread", "Sebaran stake";
        spread_note: "Members from the largest stake to the smallest. Consensus counts validators, not stake; stake is what misbehaviour costs.", "Anggota dari stake terbesar ke terkecil. Konsensus menghitung validator, bukan stake; stake adalah taruhan atas perilaku buruk.";
        method: "How the score is made", "Cara skor dihitung";
        method_note: "The score is the sum of the parts below less penalties, from 0 to 100. Anybody can compute it again from", "Skor adalah jumlah bagian di bawah dikurangi penalti, dari 0 sampai 100. Siapa pun dapat menghitungnya ulang dari";
        component: "Part", "Bagian";
        points: "Points", "Poin";
        rule: "Rule", "Aturan";
        as_of: "Turns and seals as of block", "Giliran dan segel hingga blok";
    }
}

/// Which validators are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Filter {
    All,
    Active,
    Jailed,
    Former,
}

impl Filter {
    const ALL: [Self; 4] = [Self::All, Self::Active, Self::Jailed, Self::Former];

    const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Active => "active",
            Self::Jailed => "jailed",
            Self::Former => "former",
        }
    }

    const fn label(self, language: Language) -> &'static str {
        match self {
            Self::All => language.choose("All", "Semua"),
            Self::Active => language.choose("Active", "Aktif"),
            Self::Jailed => language.choose("Jailed", "Dipenjara"),
            Self::Former => language.choose("Former", "Mantan"),
        }
    }

    /// A node that was voted in without the registry validates like the others.
    const fn takes(self, standing: Standing) -> bool {
        match self {
            Self::All => true,
            Self::Active => matches!(standing, Standing::Active | Standing::None),
            Self::Jailed => matches!(standing, Standing::Jailed),
            Self::Former => standing.is_former(),
        }
    }
}

#[derive(Template)]
#[template(path = "validators.html")]
struct Page {
    frame: Frame,
    w: &'static RankingWords,
    legend: &'static LegendWords,
    stats: Stats,
    tabs: Vec<Tab>,
    lines: Vec<Line>,
    /// Where the rest of the list is.
    next: Option<String>,
    /// Whether this is not the first page, which is the one that stays up to date.
    is_later: bool,
    filter: &'static str,
    spread: Option<Concentration>,
    rules: Vec<Rule>,
    penalty: String,
    as_of: Option<BlockLink>,
}

struct Stats {
    set_size: usize,
    faults: usize,
    quorum: usize,
    staked: String,
}

struct Tab {
    name: &'static str,
    label: &'static str,
    count: usize,
    is_current: bool,
}

struct Line {
    rank: u32,
    validator: AddressLink,
    is_provisional: bool,
    standing: StandingTag,
    score: String,
    day: String,
    month: String,
    stake: Amount,
    share: Option<Share>,
    commission: String,
    missed: Number,
    /// The validator's list of missed turns, if it has one.
    missed_at: Option<String>,
    last_block: Option<BlockLink>,
    strip: Option<Strip>,
}

fn line(entry: &RankedValidator, board: &Board, blocks: &[StripBlock], language: Language) -> Line {
    let record = &entry.record;
    let uptime = |ppm: Option<u32>| ppm.map_or_else(|| UNKNOWN.to_owned(), ppm_percent);
    let name = Some(record.moniker.clone()).filter(|name| !name.is_empty());
    let is_member = matches!(record.standing, Standing::Active | Standing::Jailed);
    let missed = record.activity.missed_turns;
    Line {
        rank: entry.rank,
        validator: AddressLink::new(record.address(), name).of_validator().pictured(),
        is_provisional: entry.is_provisional,
        standing: StandingTag { standing: record.standing, language },
        score: entry.score.total.to_string(),
        day: uptime(record.activity.day.uptime_ppm()),
        month: uptime(record.activity.month.uptime_ppm()),
        stake: Amount(record.stake.0),
        share: is_member.then(|| Share(permille(record.stake.0, board.total_staked.0))),
        commission: record.commission_bps.map_or_else(|| UNKNOWN.to_owned(), bps_percent),
        missed: Number(missed),
        missed_at: (missed > 0).then(|| format!("/validators/{}#missed", record.address().to_checksum(None))),
        last_block: record.activity.last_proposed_block.map(BlockLink),
        strip: record.consensus.map(|node| Strip::of(node, blocks, language)),
    }
}

fn filter(query: &HashMap<String, String>) -> Result<Filter, Failure> {
    let Some(text) = query.get("status") else { return Ok(Filter::All) };
    let found = Filter::ALL.into_iter().find(|filter| filter.name() == text);
    found.ok_or(Failure::Malformed(Malformed::Parameter("status")))
}

/// `GET /validators?status=…&after=…`; `after` is how many rows came on the pages before.
pub(super) async fn show(
    State(site): State<Arc<Site>>,
    visit: Visit,
    Query(query): Query<HashMap<String, String>>,
) -> Shown {
    let w = RankingWords::of(visit.language);
    let filter = filter(&query)?;
    let after = query.get("after").map_or(Ok(0), |text| text.parse::<usize>());
    let after = after.map_err(|_| Failure::Malformed(Malformed::Parameter("after")))?;
    let board = board(&site)?;
    let blocks = site.api.db.recent_blocks_strip(strip::BLOCKS).await?;
    let ranking = board.ranking();
    let listed: Vec<_> = ranking.entries.iter().filter(|entry| filter.takes(entry.record.standing)).collect();
    let end = after.saturating_add(ROWS);
    let tabs = Filter::ALL.into_iter().map(|tab| Tab {
        name: tab.name(),
        label: tab.label(visit.language),
        count: board.validators.iter().filter(|record| tab.takes(record.standing)).count(),
        is_current: tab == filter,
    });
    let rows = listed.iter().skip(after).take(ROWS);
    show_page(&Page {
        frame: Frame::new(&site, &visit, Section::Validators, w.title),
        w,
        legend: LegendWords::of(visit.language),
        stats: Stats {
            set_size: board.set_size(),
            faults: tolerated_faults(board.set_size()),
            quorum: quorum(board.set_size()),
            staked: short_coin(board.total_staked.0),
        },
        tabs: tabs.collect(),
        lines: rows.map(|entry| line(entry, &board, &blocks, visit.language)).collect(),
        next: (end < listed.len()).then(|| format!("/validators?status={}&after={end}", filter.name())),
        is_later: after > 0,
        filter: filter.name(),
        spread: Concentration::of(&board),
        rules: rules(&ranking.method, visit.language),
        penalty: penalty_rule(&ranking.method, visit.language),
        as_of: board.as_of_block.map(BlockLink),
    })
}
