//! `/validators/program`: what the program asks, what it takes away, and how an operator gets in.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use validators::program::{
    HARDWARE, Hardware, JAIL_DAYS, MAX_COMMISSION_BPS, MIN_UPTIME_PERCENT, ONBOARDING, OnboardingStep,
    PHASES, Phase, REGIONS, REVIEW_DAYS, SLASHING, SOFTWARE, min_stake,
};

use super::{figures::bps_percent, region};
use crate::{
    format::short_coin,
    frame::{Frame, Section},
    page::{Shown, show as show_page},
    site::Site,
    visit::Visit,
    words::Language,
};

words! {
    ProgramWords {
        title: "Validator program", "Program validator";
        about: "Validators propose and seal the blocks of this network. This is what the program asks of them.", "Validator mengusulkan dan menyegel blok jaringan ini. Inilah yang diminta program dari mereka.";
        apply: "Apply", "Daftar";
        expansion: "Open slots", "Slot terbuka";
        requirements: "Requirements", "Persyaratan";
        min_stake: "Minimum stake", "Stake minimum";
        max_commission: "Maximum commission", "Komisi maksimum";
        min_uptime: "Minimum uptime", "Waktu aktif minimum";
        uptime_note: "of its turns to propose", "dari giliran mengusulkannya";
        hardware: "Hardware", "Perangkat keras";
        software: "Software", "Perangkat lunak";
        review: "Technical review", "Tinjauan teknis";
        up_to: "up to", "hingga";
        days: "days", "hari";
        slashing: "Slashing and jail", "Slash dan penjara";
        offence: "Offence", "Pelanggaran";
        penalty: "Penalty", "Penalti";
        consequence: "Consequence", "Akibat";
        downtime: "Downtime", "Tidak aktif";
        double_sign: "Double signing", "Tanda tangan ganda";
        of_stake: "of the stake", "dari stake";
        jail: "jail of", "penjara selama";
        third: "Third slash of either kind", "Slash ketiga, jenis apa pun";
        as_above: "as above", "seperti di atas";
        removed: "removed for good, status SLASHED", "dikeluarkan selamanya, status SLASHED";
        unjail: "After the jail the validator is active again by itself: anybody may call unjailValidator on the registry.", "Setelah masa penjara, validator aktif kembali secara otomatis: siapa pun boleh memanggil unjailValidator pada registri.";
        phases: "Phases", "Fase";
        phase: "Phase", "Fase";
        name: "Name", "Nama";
        most: "Most validators", "Validator maksimum";
        label: "Label", "Label";
        now: "now", "sekarang";
        regions: "Regions of the 21 slots", "Wilayah dari 21 slot";
        region: "Region", "Wilayah";
        code: "Code", "Kode";
        slots: "Slots", "Slot";
        onboarding: "How to become a validator", "Cara menjadi validator";
        registry: "Registry contract", "Kontrak registri";
    }
}

#[derive(Template)]
#[template(path = "program.html")]
struct Page {
    frame: Frame,
    w: &'static ProgramWords,
    min_stake: String,
    max_commission: String,
    min_uptime: u8,
    hardware: Hardware,
    software: String,
    review_days: u8,
    jail_days: u8,
    downtime: String,
    double_sign: String,
    phases: Vec<PhaseLine>,
    regions: Vec<RegionLine>,
    steps: Vec<(&'static str, &'static str)>,
    registry: String,
}

struct PhaseLine {
    phase: u8,
    name: &'static str,
    most: u8,
    label: &'static str,
    is_current: bool,
}

struct RegionLine {
    name: &'static str,
    code: &'static str,
    slots: u8,
}

/// What people call a phase.
pub(super) const fn phase_name(phase: &Phase, language: Language) -> &'static str {
    match (language, phase.phase) {
        (Language::Indonesian, 1) => "Validator Genesis",
        (Language::Indonesian, 2) => "Perluasan Program (komunitas awal, +6)",
        (Language::Indonesian, 3) => "Validator Komunitas (+10)",
        (Language::English | Language::Indonesian, _) => phase.name,
    }
}

/// A step of the onboarding: what happens, and how.
const fn step_text(step: &OnboardingStep, language: Language) -> (&'static str, &'static str) {
    match (language, step.step) {
        (Language::Indonesian, 1) => {
            ("Kirim pendaftaran", "Lewat halaman pendaftaran, atau POST /api/v1/validators/applications.")
        }
        (Language::Indonesian, 2) => ("Tinjauan teknis", "Berlangsung hingga 7 hari."),
        (Language::Indonesian, 3) => (
            "Pertaruhkan sedikitnya 100\u{202f}000 koin di rantai",
            "Panggil registerValidator pada registri.",
        ),
        (Language::Indonesian, 4) => (
            "Pasang node validator",
            "Besu 24.x dalam container runtime; setConsensusAddress bila kunci node bukan kunci operator.",
        ),
        (Language::Indonesian, 5) => (
            "Pemungutan suara validator IBFT",
            "Diusulkan dari node validator genesis dan lolos dengan lebih dari setengah validator.",
        ),
        (Language::Indonesian, 6) => {
            ("Mulai di mainnet", "Node mengusulkan blok pada gilirannya dan mendapat peringkat.")
        }
        // As the specification says it, with the figure grouped.
        (Language::English, 3) => ("Stake at least 100\u{202f}000 coin on-chain", step.detail),
        (Language::English | Language::Indonesian, _) => (step.title, step.detail),
    }
}

/// `GET /validators/program`. Only the mark of the current phase needs the chain, and the page does without.
pub(super) async fn show(State(site): State<Arc<Site>>, visit: Visit) -> Shown {
    let (w, language) = (ProgramWords::of(visit.language), visit.language);
    let current = site.api.boards.borrow().as_ref().map(|board| board.expansion.phase);
    let phases = PHASES.iter().map(|phase| PhaseLine {
        phase: phase.phase,
        name: phase_name(phase, language),
        most: phase.max_validators,
        label: phase.status,
        is_current: current == Some(phase.phase),
    });
    let regions = REGIONS.iter().map(|place| RegionLine {
        name: region::name(place, language),
        code: place.code,
        slots: place.slots,
    });
    show_page(&Page {
        frame: Frame::new(&site, &visit, Section::Validators, w.title),
        w,
        min_stake: short_coin(min_stake().0),
        max_commission: bps_percent(MAX_COMMISSION_BPS),
        min_uptime: MIN_UPTIME_PERCENT,
        hardware: HARDWARE,
        software: SOFTWARE.join(", "),
        review_days: REVIEW_DAYS,
        jail_days: JAIL_DAYS,
        downtime: bps_percent(SLASHING.downtime_bps),
        double_sign: bps_percent(SLASHING.double_sign_bps),
        phases: phases.collect(),
        regions: regions.collect(),
        steps: ONBOARDING.iter().map(|step| step_text(step, language)).collect(),
        registry: site.address_link(site.deployment().contracts.platform_validator_registry).to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_and_phase_is_told_in_both_languages() {
        for step in &ONBOARDING {
            assert_ne!(step_text(step, Language::English), step_text(step, Language::Indonesian));
        }
        for phase in &PHASES {
            assert_ne!(phase_name(phase, Language::English), phase_name(phase, Language::Indonesian));
        }
    }
}
