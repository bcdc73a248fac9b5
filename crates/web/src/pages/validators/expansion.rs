//! `/validators/expansion`: how far the set has grown, where there is room, and what is being voted on.

use std::{
    fmt::{self, Display},
    sync::Arc,
};

use askama::{Template, filters::HtmlSafe};
use axum::extract::State;
use ibft::quorum::{quorum, tolerated_faults};
use validators::expansion::{ExpansionView, VoteProgress};

use super::{
    board,
    detail::{kind, tally},
    figures::Bar,
    map::Map,
    program::phase_name,
    region,
};
use crate::{
    format::{Number, span},
    frame::{Frame, Section},
    page::{Shown, show as show_page},
    parts::{AddressLink, BlockLink},
    site::Site,
    visit::Visit,
    words::Language,
};

/// Seconds of a block.
const BLOCK_SECONDS: u64 = 2;

words! {
    ExpansionWords {
        title: "Expansion of the validator set", "Perluasan set validator";
        phase: "Phase", "Fase";
        members: "Members", "Anggota";
        open: "Open slots", "Slot terbuka";
        registration_open: "anybody may register", "siapa pun boleh mendaftar";
        registration_closed: "by application", "lewat pendaftaran";
        set: "Validator set", "Set validator";
        may_fail: "may fail at once", "boleh gagal bersamaan";
        quorum: "quorum", "kuorum";
        target: "Target", "Target";
        progress: "Progress", "Kemajuan";
        slots_now: "slots now (the mark)", "slot saat ini (tanda)";
        status: "Status", "Status";
        phases: "Phases", "Fase";
        name: "Name", "Nama";
        most: "Most validators", "Validator maksimum";
        now: "now", "sekarang";
        reached: "reached", "tercapai";
        ahead: "ahead", "mendatang";
        regions: "Slots by region", "Slot per wilayah";
        regions_note: "A full square is a slot that is taken, a frame is a free one, as far as applications tell. All slots are there in the last phase.", "Kotak penuh adalah slot terisi, bingkai adalah slot kosong, sejauh diketahui dari pendaftaran. Semua slot ada pada fase terakhir.";
        without_region: "members whose region nobody has told", "anggota yang wilayahnya belum diberitahukan";
        table: "As a table", "Sebagai tabel";
        region: "Region", "Wilayah";
        taken: "Taken", "Terisi";
        slots: "Slots", "Slot";
        votes: "Pending votes", "Pemungutan suara berjalan";
        no_votes: "Nobody is being voted on.", "Tidak ada pemungutan suara.";
        candidate: "Node", "Node";
        what: "Vote", "Suara";
        tally: "Votes", "Perolehan";
        of: "of", "dari";
        voters: "Voters", "Pemilih";
        epoch: "Votes that have not passed are forgotten in", "Suara yang belum lolos dilupakan dalam";
        blocks: "blocks", "blok";
        about: "about", "sekitar";
        apply: "Apply", "Daftar";
        program: "The program", "Program";
        as_of: "As of block", "Hingga blok";
    }
}

#[derive(Template)]
#[template(path = "expansion.html")]
struct Page {
    frame: Frame,
    w: &'static ExpansionWords,
    phase: u8,
    current: Number,
    max: Number,
    target: Number,
    open: Number,
    is_open: bool,
    set_size: usize,
    faults: usize,
    quorum: usize,
    progress: Progress,
    phases: Vec<PhaseLine>,
    map: Map,
    regions: Vec<RegionLine>,
    without_region: usize,
    votes: Vec<VoteLine>,
    blocks_left: Number,
    time_left: String,
    block: BlockLink,
}

struct PhaseLine {
    phase: u8,
    name: &'static str,
    most: u8,
    tone: &'static str,
    state: &'static str,
    is_current: bool,
}

struct RegionLine {
    name: &'static str,
    taken: usize,
    slots: u8,
}

struct VoteLine {
    candidate: AddressLink,
    what: &'static str,
    count: usize,
    needed: usize,
    bar: Bar,
    voters: Vec<AddressLink>,
}

/// Members of slots of the target: a bar with a mark where the slots of this phase end.
#[derive(Debug, Clone, Copy)]
struct Progress {
    current: u64,
    max: u64,
    target: u64,
}

impl Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = |value: u64| (value * 1_000).checked_div(self.target).unwrap_or(0).min(1_000);
        let (filled, max) = (place(self.current), place(self.max));
        write!(
            f,
            "<svg class=\"chart spread\" viewBox=\"0 0 1000 22\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\
             <rect class=\"back\" y=\"4\" width=\"1000\" height=\"14\"/><rect class=\"fill\" y=\"4\" width=\"{filled}\" height=\"14\"/>\
             <path class=\"mark\" d=\"M{max} 0v22\"/></svg>"
        )
    }
}

impl HtmlSafe for Progress {}

fn phase_lines(view: &ExpansionView, w: &ExpansionWords, language: Language) -> Vec<PhaseLine> {
    let lines = view.phases.iter().map(|phase| {
        let (tone, state) = match phase.phase.cmp(&view.status.phase) {
            std::cmp::Ordering::Less => ("", w.reached),
            std::cmp::Ordering::Equal => ("good", w.now),
            std::cmp::Ordering::Greater => ("", w.ahead),
        };
        PhaseLine {
            phase: phase.phase,
            name: phase_name(phase, language),
            most: phase.max_validators,
            tone,
            state,
            is_current: phase.phase == view.status.phase,
        }
    });
    lines.collect()
}

fn vote_line(site: &Site, vote: &VoteProgress, language: Language) -> VoteLine {
    let name = vote.moniker.clone().filter(|name| !name.is_empty());
    let link = AddressLink::new(vote.candidate, name).pictured();
    VoteLine {
        candidate: if vote.operator.is_some() { link.of_validator() } else { link },
        what: kind(vote.kind, language),
        count: vote.voters.len(),
        needed: vote.needed,
        bar: tally(vote.voters.len(), vote.needed),
        voters: vote.voters.iter().map(|voter| site.proposer_link(*voter)).collect(),
    }
}

/// `GET /validators/expansion`.
pub(super) async fn show(State(site): State<Arc<Site>>, visit: Visit) -> Shown {
    let (w, language) = (ExpansionWords::of(visit.language), visit.language);
    let view = ExpansionView::of(&*board(&site)?);
    let status = view.status;
    let regions = view.regions.iter().map(|slots| RegionLine {
        name: region::name(slots.region, language),
        taken: slots.taken,
        slots: slots.region.slots,
    });
    show_page(&Page {
        frame: Frame::new(&site, &visit, Section::Validators, w.title),
        w,
        phase: status.phase,
        current: Number(status.current),
        max: Number(status.max),
        target: Number(status.target),
        open: Number(status.open_slots),
        is_open: status.community_open,
        set_size: view.validator_set_size,
        faults: tolerated_faults(view.validator_set_size),
        quorum: quorum(view.validator_set_size),
        progress: Progress { current: status.current, max: status.max, target: status.target },
        phases: phase_lines(&view, w, language),
        regions: regions.collect(),
        without_region: view.members_without_region,
        votes: view.votes.iter().map(|vote| vote_line(&site, vote, language)).collect(),
        blocks_left: Number(view.blocks_left),
        time_left: span(view.blocks_left * BLOCK_SECONDS, language),
        block: BlockLink(view.block),
        map: Map { regions: view.regions, language },
    })
}
