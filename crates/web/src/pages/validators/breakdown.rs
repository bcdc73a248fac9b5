//! How a score is made, in words: the method of the ranking, and the score of one validator part by part.

use validators::ranking::{Method, RankedValidator};

use super::figures::{Bar, UNKNOWN, bps_percent, ppm_percent};
use crate::{
    format::{Number, short_coin},
    words::Language,
};

/// A component of the score.
#[derive(Debug, Clone, Copy)]
enum Component {
    Uptime,
    Stake,
    Seals,
    Tenure,
    Commission,
}

impl Component {
    const ALL: [Self; 5] = [Self::Uptime, Self::Stake, Self::Seals, Self::Tenure, Self::Commission];

    const fn name(self, language: Language) -> &'static str {
        match self {
            Self::Uptime => language.choose("Uptime", "Waktu aktif"),
            Self::Stake => language.choose("Stake", "Stake"),
            Self::Seals => language.choose("Seals", "Segel"),
            Self::Tenure => language.choose("Tenure", "Masa keanggotaan"),
            Self::Commission => language.choose("Commission", "Komisi"),
        }
    }

    const fn weight(self, method: &Method) -> u8 {
        match self {
            Self::Uptime => method.weights.uptime,
            Self::Stake => method.weights.stake,
            Self::Seals => method.weights.seals,
            Self::Tenure => method.weights.tenure,
            Self::Commission => method.weights.commission,
        }
    }

    fn rule(self, method: &Method, language: Language) -> String {
        let is_english = language == Language::English;
        match self {
            Self::Uptime => {
                let windows = method.windows.map(|window| format!("{}% {}", window.percent, window.name));
                let (windows, floor) = (windows.join(" + "), method.uptime_floor_percent);
                if is_english {
                    format!(
                        "Proposer turns kept, blended {windows}. {floor}% or less earns nothing, 100% everything."
                    )
                } else {
                    format!(
                        "Giliran mengusulkan yang ditepati, gabungan {windows}. {floor}% atau kurang tidak mendapat poin, 100% mendapat semuanya."
                    )
                }
            }
            Self::Stake => language
                .choose(
                    "On a logarithmic scale against the largest stake.",
                    "Skala logaritmik terhadap stake terbesar.",
                )
                .to_owned(),
            Self::Seals => {
                let full = method.seals_full_percent;
                if is_english {
                    format!(
                        "Seals seen in 24 h against a quorum's share; {full}% of it earns all points, because which seals a block keeps is partly chance."
                    )
                } else {
                    format!(
                        "Segel yang terlihat dalam 24 jam terhadap bagian kuorum; {full}% sudah mendapat semua poin, karena segel mana yang disimpan blok sebagian kebetulan."
                    )
                }
            }
            Self::Tenure => {
                let days = method.tenure_full_days;
                if is_english {
                    format!("{days} days since registration earn all points.")
                } else {
                    format!("{days} hari sejak pendaftaran mendapat semua poin.")
                }
            }
            Self::Commission => {
                let zero = bps_percent(method.commission_zero_bps);
                if is_english {
                    format!("No commission earns all points, {zero} none.")
                } else {
                    format!("Tanpa komisi mendapat semua poin, {zero} tidak mendapat poin.")
                }
            }
        }
    }
}

/// A component and its rule.
pub(super) struct Rule {
    pub(super) name: &'static str,
    pub(super) weight: u8,
    pub(super) text: String,
}

/// The rules of the method.
pub(super) fn rules(method: &Method, language: Language) -> Vec<Rule> {
    let rules = Component::ALL.into_iter().map(|component| Rule {
        name: component.name(language),
        weight: component.weight(method),
        text: component.rule(method, language),
    });
    rules.collect()
}

/// What slashes take from a score.
pub(super) fn penalty_rule(method: &Method, language: Language) -> String {
    let (points, half, gone) =
        (method.downtime.points, method.downtime.half_life_days, method.downtime.forgotten_days);
    match language {
        Language::English => format!(
            "A slash for downtime takes {points} points, half of that after {half} days and nothing after {gone}. Signing two blocks of one height leaves no score."
        ),
        Language::Indonesian => format!(
            "Slash karena tidak aktif mengurangi {points} poin, setengahnya setelah {half} hari, dan tidak lagi setelah {gone} hari. Menandatangani dua blok pada satu ketinggian menghapus seluruh skor."
        ),
    }
}

/// A component of one validator's score.
pub(super) struct ScoreLine {
    pub(super) name: &'static str,
    /// What the points are for.
    pub(super) basis: String,
    pub(super) points: String,
    pub(super) weight: u8,
    pub(super) bar: Bar,
}

/// The score of one validator, part by part.
pub(super) fn score_lines(ranked: &RankedValidator, method: &Method, language: Language) -> Vec<ScoreLine> {
    let (points, parts) = (&ranked.score.components, &ranked.score.fulfilment);
    let lines = Component::ALL.into_iter().map(|component| {
        let (points, part) = match component {
            Component::Uptime => (points.uptime, parts.uptime),
            Component::Stake => (points.stake, parts.stake),
            Component::Seals => (points.seals, parts.seals),
            Component::Tenure => (points.tenure, parts.tenure),
            Component::Commission => (points.commission, parts.commission),
        };
        ScoreLine {
            name: component.name(language),
            basis: basis(component, ranked, method, language),
            points: points.to_string(),
            weight: component.weight(method),
            bar: Bar(u16::try_from(part.ppm() / 1_000).unwrap_or(1_000)),
        }
    });
    lines.collect()
}

fn basis(component: Component, ranked: &RankedValidator, method: &Method, language: Language) -> String {
    let basis = &ranked.basis;
    match component {
        Component::Uptime => {
            let windows = basis.windows.iter().zip(&method.windows).map(|(turns, window)| {
                let uptime = turns.uptime_ppm().map_or_else(|| UNKNOWN.to_owned(), ppm_percent);
                let kept = turns.assigned.saturating_sub(turns.missed);
                format!("{}: {uptime} ({}/{})", window.name, Number(kept), Number(turns.assigned))
            });
            windows.collect::<Vec<_>>().join(" · ")
        }
        Component::Stake => short_coin(basis.stake),
        Component::Seals => {
            let [day, _, _] = &basis.windows;
            let (seen, expected) = (Number(day.sealed), Number(basis.expected_seals));
            match language {
                Language::English => format!("{seen} seen, {expected} expected in 24 h"),
                Language::Indonesian => format!("{seen} terlihat, {expected} diharapkan dalam 24 jam"),
            }
        }
        Component::Tenure => match basis.tenure_days {
            Some(days) => format!("{} {}", Number(days), language.choose("days", "hari")),
            None => UNKNOWN.to_owned(),
        },
        Component::Commission => basis.commission_bps.map_or_else(|| UNKNOWN.to_owned(), bps_percent),
    }
}
