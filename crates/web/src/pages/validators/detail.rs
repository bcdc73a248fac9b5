//! `/validators/{address}`: one validator in full. The address is the operator's or the node's.

use std::{collections::HashMap, sync::Arc};

use askama::Template;
use axum::extract::{Query, State};
use ibft::votes::VoteKind;
use store::index::{TurnOutcome, TurnRow};
use validators::{
    board::{Ballot, Standing, ValidatorRecord},
    detail::{Evidence, read_detail},
    ranking::RankedValidator,
};

use super::{
    board,
    breakdown::{ScoreLine, score_lines},
    figures::{Bar, UNKNOWN, bps_percent, ppm_percent},
    history::{self, EventLine},
    region,
    standing::StandingTag,
    strip::{self, LegendWords, Strip},
};
use crate::{
    failure::{Failure, Malformed},
    format::{Number, utc},
    frame::{Frame, Section},
    page::{Shown, show as show_page},
    pages::address,
    parts::{AddressLink, Ago, Amount, BlockLink, Identicon, Mono},
    segment::Segment,
    site::Site,
    visit::Visit,
    words::Language,
};

/// Rows of each list.
const ROWS: usize = 25;

words! {
    DetailWords {
        validator: "Validator", "Validator";
        all: "All validators", "Semua validator";
        rank: "Rank", "Peringkat";
        of: "of", "dari";
        score: "Score", "Skor";
        uptime: "Uptime 24 h", "Aktif 24 jam";
        uptime_month: "30 days", "30 hari";
        stake: "Stake", "Stake";
        missed_turns: "Missed turns", "Giliran terlewat";
        blocks_proposed: "blocks proposed", "blok diusulkan";
        status: "Status", "Status";
        in_set: "In the validator set", "Dalam set validator";
        removal_pending: "Yes, although out of the registry: it proposes until it is voted out", "Ya, meskipun sudah keluar dari registri: tetap mengusulkan blok sampai dikeluarkan lewat pemungutan suara";
        yes: "yes", "ya";
        no: "no", "tidak";
        operator: "Operator", "Operator";
        node: "Node (seals blocks)", "Node (menyegel blok)";
        same_address: "the operator's address", "alamat operator";
        website: "Website", "Situs web";
        region: "Region", "Wilayah";
        commission: "Commission", "Komisi";
        unclaimed: "Rewards not yet taken", "Imbalan belum diambil";
        registered: "Registered", "Terdaftar";
        jailed_until: "Jailed until", "Dipenjara hingga";
        withdrawable: "Stake withdrawable from", "Stake dapat ditarik sejak";
        slashes: "Slashes", "Slash";
        removed_at: "the third removes it", "yang ketiga mengeluarkannya";
        last_proposed: "Last proposed block", "Blok terakhir diusulkan";
        last_sealed: "Last block with its seal", "Blok terakhir dengan segelnya";
        strip: "Last 60 blocks", "60 blok terakhir";
        breakdown: "Score", "Skor";
        part: "Part", "Bagian";
        basis: "Because of", "Karena";
        points: "Points", "Poin";
        penalties: "Penalties for downtime", "Penalti karena tidak aktif";
        total: "Total", "Jumlah";
        double_signed: "It was slashed for signing two blocks of one height: no score is left.", "Validator ini kena slash karena menandatangani dua blok pada satu ketinggian: skornya nol.";
        missed_list: "Turns it missed", "Giliran yang terlewat";
        missed_note: "Each is a block that another validator had to propose.", "Setiap baris adalah blok yang harus diusulkan validator lain.";
        never_missed: "It has never missed a turn.", "Belum pernah melewatkan giliran.";
        turns: "Latest turns", "Giliran terbaru";
        no_turns: "It has had no turn yet.", "Belum pernah mendapat giliran.";
        block: "Block", "Blok";
        round: "Round", "Ronde";
        outcome: "Outcome", "Hasil";
        age: "Age", "Usia";
        older: "Older", "Lebih lama";
        newest: "Newest", "Terbaru";
        history: "Jail and slash history", "Riwayat penjara dan slash";
        no_history: "The registry has logged nothing about it since the chain began.", "Registri belum mencatat apa pun tentangnya sejak rantai dimulai.";
        event: "Event", "Peristiwa";
        transaction: "Transaction", "Transaksi";
        amount: "Amount", "Jumlah";
        note: "Note", "Catatan";
        rewards: "Rewards", "Imbalan";
        no_rewards: "No rewards were set aside yet.", "Belum ada imbalan yang disisihkan.";
        evidence: "Evidence of double signing", "Bukti tanda tangan ganda";
        no_evidence: "None is known.", "Tidak ada yang diketahui.";
        votes: "Votes about its node", "Pemungutan suara tentang nodenya";
        no_votes: "Nobody votes about it at present.", "Saat ini tidak ada pemungutan suara tentangnya.";
        votes_of: "votes of", "suara dari";
        needed: "needed", "yang diperlukan";
        as_of: "As of block", "Hingga blok";
    }
}

#[derive(Template)]
#[template(path = "validator.html")]
struct Page {
    frame: Frame,
    w: &'static DetailWords,
    legend: &'static LegendWords,
    name: String,
    picture: Identicon,
    standing: StandingTag,
    facts: Facts,
    rank: Option<u32>,
    ranked: usize,
    score: String,
    strip: Option<Strip>,
    parts: Vec<ScoreLine>,
    penalty: Option<String>,
    has_double_signed: bool,
    missed: Vec<TurnLine>,
    missed_next: Option<String>,
    is_later: bool,
    turns: Vec<TurnLine>,
    history: Vec<EventLine>,
    rewards: Vec<EventLine>,
    evidence: Vec<EvidenceLine>,
    votes: Vec<VoteLine>,
    votes_needed: usize,
    as_of: Option<BlockLink>,
    place: String,
}

struct Facts {
    operator: Option<AddressLink>,
    node: Option<AddressLink>,
    is_one_address: bool,
    in_set: bool,
    /// Out of the registry, and still in the set.
    removal_pending: bool,
    /// To be linked to.
    website: Option<String>,
    region: Option<String>,
    stake: Amount,
    commission: String,
    unclaimed: Amount,
    registered: Option<Ago>,
    jailed_until: Option<String>,
    withdrawable: Option<String>,
    slashes: u8,
    day: String,
    month: String,
    missed: Number,
    proposed: Number,
    last_proposed: Option<BlockLink>,
    last_sealed: Option<BlockLink>,
}

struct TurnLine {
    block: BlockLink,
    round: u32,
    tone: &'static str,
    outcome: &'static str,
    age: Ago,
}

struct EvidenceLine {
    block: BlockLink,
    round: u32,
    digests: [Mono; 2],
    age: Ago,
}

/// Votes for one change of the set.
struct VoteLine {
    what: &'static str,
    count: usize,
    bar: Bar,
    voters: Vec<AddressLink>,
}

fn facts(record: &ValidatorRecord, now: u64, language: Language) -> Facts {
    let uptime = |ppm: Option<u32>| ppm.map_or_else(|| UNKNOWN.to_owned(), ppm_percent);
    let activity = &record.activity;
    let account = |address| AddressLink::new(address, None).full();
    Facts {
        operator: record.operator.map(account),
        node: record.consensus.map(account),
        is_one_address: record.operator == record.consensus,
        in_set: record.in_validator_set,
        removal_pending: record.is_removal_pending(),
        website: Some(record.website.clone()).filter(|text| is_linkable(text)),
        region: record.region.map(|code| region::name_of(code, language)),
        stake: Amount(record.stake.0),
        commission: record.commission_bps.map_or_else(|| UNKNOWN.to_owned(), bps_percent),
        unclaimed: Amount(record.rewards.0),
        registered: record.registered_at.map(|at| Ago { at, now, language }),
        jailed_until: record.jailed_until.filter(|_| record.standing == Standing::Jailed).map(utc),
        withdrawable: record.withdrawable_at.map(utc),
        slashes: record.slash_count,
        day: uptime(activity.day.uptime_ppm()),
        month: uptime(activity.month.uptime_ppm()),
        missed: Number(activity.missed_turns),
        proposed: Number(activity.proposed_blocks),
        last_proposed: activity.last_proposed_block.map(BlockLink),
        last_sealed: activity.last_sealed_block.map(BlockLink),
    }
}

/// Anybody can register any text as a website; only web addresses become links.
fn is_linkable(text: &str) -> bool {
    url::Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

fn turn_line(turn: &TurnRow, now: u64, language: Language) -> TurnLine {
    let (tone, outcome) = match turn.outcome {
        TurnOutcome::Kept => ("good", language.choose("✓ kept", "✓ ditepati")),
        TurnOutcome::Missed => ("bad", language.choose("✕ missed", "✕ terlewat")),
        TurnOutcome::Unclear => ("", language.choose("? unclear", "? tidak jelas")),
    };
    let age = Ago { at: turn.timestamp, now, language };
    TurnLine { block: BlockLink(turn.block_number), round: turn.round, tone, outcome, age }
}

fn evidence_line(evidence: &Evidence, now: u64, language: Language) -> EvidenceLine {
    EvidenceLine {
        block: BlockLink(evidence.block_number),
        round: evidence.round,
        digests: evidence.digests.map(|digest| Mono(digest.to_string())),
        age: Ago { at: evidence.seen_at, now, language },
    }
}

fn vote_line(site: &Site, ballot: &Ballot, needed: usize, language: Language) -> VoteLine {
    VoteLine {
        what: kind(ballot.kind, language),
        count: ballot.voters.len(),
        bar: tally(ballot.voters.len(), needed),
        voters: ballot.voters.iter().map(|voter| site.proposer_link(*voter)).collect(),
    }
}

/// What is voted on.
pub(super) const fn kind(kind: VoteKind, language: Language) -> &'static str {
    match kind {
        VoteKind::Add => language.choose("Add to the set", "Tambahkan ke set"),
        VoteKind::Drop => language.choose("Drop from the set", "Keluarkan dari set"),
    }
}

/// How far a vote has come.
pub(super) fn tally(votes: usize, needed: usize) -> Bar {
    let thousandths = (votes * 1_000).checked_div(needed).unwrap_or(0);
    Bar(u16::try_from(thousandths).unwrap_or(1_000))
}

/// Turns that a validator missed before a block, and the block before which the next page begins. A block whose turns do
/// not fit any more is left to the next page.
async fn read_missed(
    site: &Site,
    record: &ValidatorRecord,
    before: Option<u64>,
) -> Result<(Vec<TurnRow>, Option<u64>), Failure> {
    let Some(node) = record.consensus.filter(|_| record.activity.missed_turns > 0) else {
        return Ok((Vec::new(), None));
    };
    let most = u32::try_from(ROWS + 1).unwrap_or(u32::MAX);
    let mut missed = site.api.db.missed_turns(node, before, most).await?;
    let next = missed.get(ROWS).map(|turn| turn.block_number + 1);
    missed.retain(|turn| next.is_none_or(|next| turn.block_number >= next));
    Ok((missed, next))
}

/// `GET /validators/{address}?missed_before=…`.
pub(super) async fn show(
    State(site): State<Arc<Site>>,
    visit: Visit,
    Segment(address): Segment,
    Query(query): Query<HashMap<String, String>>,
) -> Shown {
    let (w, language, now) = (DetailWords::of(visit.language), visit.language, site.now());
    let address = address::parse(&address)?;
    let before = query.get("missed_before").map(|text| text.parse::<u64>()).transpose();
    let before = before.map_err(|_| Failure::Malformed(Malformed::Parameter("missed_before")))?;
    let board = board(&site)?;
    let detail = read_detail(&site.api.db, &board, address).await?;
    let record = &detail.record;
    let (missed, next) = read_missed(&site, record, before).await?;
    let place = format!("/validators/{}", record.address().to_checksum(None));
    let blocks = site.api.db.recent_blocks_strip(strip::BLOCKS).await?;
    let ranked = detail.ranked.as_ref();
    let moniker = Some(record.moniker.clone()).filter(|moniker| !moniker.is_empty());
    let name = moniker.unwrap_or_else(|| record.address().to_checksum(None));
    let method = &board.ranking().method;
    let penalty = |ranked: &RankedValidator| {
        (ranked.score.penalty.hundredths() > 0).then(|| format!("−{}", ranked.score.penalty))
    };
    show_page(&Page {
        frame: Frame::new(&site, &visit, Section::Validators, name.clone()),
        w,
        legend: LegendWords::of(language),
        name,
        picture: Identicon(record.address()),
        standing: StandingTag { standing: record.standing, language },
        facts: facts(record, now, language),
        rank: ranked.map(|ranked| ranked.rank),
        ranked: board.validators.len(),
        score: ranked.map_or_else(|| UNKNOWN.to_owned(), |ranked| ranked.score.total.to_string()),
        strip: record.consensus.map(|node| Strip::of(node, &blocks, language)),
        parts: ranked.map(|ranked| score_lines(ranked, method, language)).unwrap_or_default(),
        penalty: ranked.and_then(penalty),
        has_double_signed: record.has_double_signed(),
        missed_next: next.map(|next| format!("{place}?missed_before={next}#missed")),
        missed: missed.iter().map(|turn| turn_line(turn, now, language)).collect(),
        is_later: before.is_some(),
        turns: detail.recent_turns.iter().take(ROWS).map(|turn| turn_line(turn, now, language)).collect(),
        history: history::lines(&detail.history, now, language).into_iter().take(ROWS).collect(),
        rewards: history::lines(&detail.rewards, now, language).into_iter().take(ROWS).collect(),
        evidence: detail
            .evidence
            .iter()
            .take(ROWS)
            .map(|evidence| evidence_line(evidence, now, language))
            .collect(),
        votes: detail
            .votes
            .iter()
            .map(|ballot| vote_line(&site, ballot, detail.votes_needed, language))
            .collect(),
        votes_needed: detail.votes_needed,
        as_of: detail.as_of_block.map(BlockLink),
        place,
    })
}
