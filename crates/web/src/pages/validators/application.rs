//! `/validators/applications/{id}`: where an application stands, for whoever has its link. Never the e-mail address.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use domain::{ApplicationId, ApplicationState};
use validators::{ApplicationError, application::PublicApplication};

use super::{figures::bps_percent, region};
use crate::{
    failure::{Failure, Missing},
    format::utc,
    frame::{Frame, Section},
    page::{Shown, show as show_page},
    parts::{AddressLink, Ago, Amount},
    segment::Segment,
    site::Site,
    visit::Visit,
    words::Language,
};

words! {
    ApplicationWords {
        title: "Application", "Pendaftaran";
        keep: "Keep the address of this page: it is how you follow the application.", "Simpan alamat halaman ini: lewat sinilah pendaftaran dapat diikuti.";
        confirm: "A mail was sent to the address of the application. Follow its link: news is sent there only after that.", "Surel dikirim ke alamat pendaftaran. Ikuti tautannya: kabar baru dikirim ke sana hanya setelah itu.";
        next: "What comes next", "Langkah berikutnya";
        course: "Steps", "Langkah";
        operator: "Operator", "Operator";
        stake: "Intended stake", "Rencana stake";
        commission: "Commission", "Komisi";
        website: "Website", "Situs web";
        region: "Region", "Wilayah";
        submitted: "Submitted", "Dikirim";
        review_due: "Review due by", "Tinjauan selesai paling lambat";
        updated: "Last change", "Perubahan terakhir";
        id: "Id", "Id";
        current: "here now", "di sini sekarang";
        validator: "The validator's page", "Halaman validator";
        apply_again: "New application", "Pendaftaran baru";
    }
}

/// What people call a state.
pub(super) const fn state_name(state: ApplicationState, language: Language) -> &'static str {
    match state {
        ApplicationState::Submitted => language.choose("Submitted", "Dikirim"),
        ApplicationState::InReview => language.choose("In review", "Ditinjau"),
        ApplicationState::Approved => language.choose("Approved", "Disetujui"),
        ApplicationState::Staked => language.choose("Staked", "Stake terpasang"),
        ApplicationState::Voting => language.choose("Voting", "Pemungutan suara"),
        ApplicationState::Active => language.choose("Active", "Aktif"),
        ApplicationState::Rejected => language.choose("Rejected", "Ditolak"),
        ApplicationState::Withdrawn => language.choose("Withdrawn", "Ditarik kembali"),
        ApplicationState::Removed => language.choose("Removed", "Dikeluarkan"),
    }
}

/// What has to happen next. English is the product's own sentence.
const fn next_step(state: ApplicationState, language: Language) -> &'static str {
    let indonesian = match state {
        ApplicationState::Submitted => "Tinjauan teknis dimulai dalam 7 hari sejak pendaftaran.",
        ApplicationState::InReview => "Tinjauan teknis sedang berlangsung; belum ada yang perlu dilakukan.",
        ApplicationState::Approved => {
            "Pertaruhkan sedikitnya 100\u{202f}000 koin dengan memanggil registerValidator pada registri."
        }
        ApplicationState::Staked => {
            "Pasang node validator; validator genesis kemudian mengusulkan pemungutan suara untuk menambahkannya."
        }
        ApplicationState::Voting => "Jaga node tetap berjalan dan sinkron sampai pemungutan suara lolos.",
        ApplicationState::Active => "Node ini adalah validator. Jaga waktu aktifnya di 99% atau lebih.",
        ApplicationState::Rejected | ApplicationState::Withdrawn => "Pendaftaran baru boleh dikirim.",
        ApplicationState::Removed => {
            "Operator dikeluarkan dari registri. Sisa stake dapat ditarik setelah 7 hari; pendaftaran baru boleh dikirim."
        }
    };
    language.choose(state.next_step(), indonesian)
}

#[derive(Template)]
#[template(path = "application.html")]
struct Page {
    frame: Frame,
    w: &'static ApplicationWords,
    moniker: String,
    state: &'static str,
    tone: &'static str,
    next_step: &'static str,
    steps: Vec<Step>,
    operator: AddressLink,
    stake: Amount,
    commission: String,
    website: Option<String>,
    region: Option<String>,
    submitted: Ago,
    review_due: Option<String>,
    updated: Ago,
    id: String,
    /// Where the validator is shown, once it is one.
    validator: Option<String>,
    is_closed: bool,
    /// The applicant has to confirm the e-mail address.
    is_unconfirmed: bool,
}

struct Step {
    name: &'static str,
    /// When it was reached.
    at: Option<String>,
    is_current: bool,
}

/// The states it has been in, and those that are still before it.
fn steps(application: &PublicApplication, language: Language) -> Vec<Step> {
    let been = application.history.iter().map(|(state, at)| Step {
        name: state_name(*state, language),
        at: Some(utc(*at / 1_000)),
        is_current: *state == application.state,
    });
    let place = ApplicationState::COURSE.iter().position(|state| *state == application.state);
    let ahead = place.and_then(|place| ApplicationState::COURSE.get(place + 1..)).unwrap_or_default();
    let ahead =
        ahead.iter().map(|state| Step { name: state_name(*state, language), at: None, is_current: false });
    been.chain(ahead).collect()
}

/// `GET /validators/applications/{id}`.
pub(super) async fn show(State(site): State<Arc<Site>>, visit: Visit, Segment(id): Segment) -> Shown {
    let (w, language, now) = (ApplicationWords::of(visit.language), visit.language, site.now());
    let missing = || Failure::Missing(Missing::Application);
    let id: ApplicationId = id.parse().map_err(|_| missing())?;
    let application = site.api.applications.get(&id).await.map_err(|error| match error {
        ApplicationError::NotFound => missing(),
        ApplicationError::Store(error) => error.into(),
        ApplicationError::Invalid(_)
        | ApplicationError::Exists
        | ApplicationError::Limited { .. }
        | ApplicationError::LinkUnknown
        | ApplicationError::TransitionNotAllowed { .. } => Failure::Internal(error.to_string()),
    })?;
    let application = application.public();
    let state = application.state;
    let ago = |millis: u64| Ago { at: millis / 1_000, now, language };
    let is_reviewed = !matches!(state, ApplicationState::Submitted | ApplicationState::InReview);
    show_page(&Page {
        frame: Frame::new(&site, &visit, Section::Validators, application.moniker.clone()),
        w,
        state: state_name(state, language),
        tone: match state {
            ApplicationState::Approved | ApplicationState::Active => "good",
            ApplicationState::Rejected | ApplicationState::Removed => "bad",
            ApplicationState::Submitted
            | ApplicationState::InReview
            | ApplicationState::Staked
            | ApplicationState::Voting
            | ApplicationState::Withdrawn => "",
        },
        next_step: next_step(state, language),
        steps: steps(&application, language),
        operator: AddressLink::new(application.operator, None).full(),
        stake: Amount(application.stake.0),
        commission: bps_percent(application.commission_bps),
        region: application.region.as_deref().map(|code| region::name_of(code, language)),
        submitted: ago(application.submitted_at),
        review_due: (!is_reviewed).then(|| utc(application.review_due_at / 1_000)),
        updated: ago(application.updated_at),
        id: id.to_string(),
        validator: (state == ApplicationState::Active)
            .then(|| format!("/validators/{}", application.operator.to_checksum(None))),
        is_closed: matches!(
            state,
            ApplicationState::Rejected | ApplicationState::Withdrawn | ApplicationState::Removed
        ),
        is_unconfirmed: application.is_email_confirmed == Some(false) && state.is_open(),
        moniker: application.moniker,
        website: application.website,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_is_told_in_both_languages() {
        for state in ApplicationState::ALL {
            assert_ne!(next_step(state, Language::English), next_step(state, Language::Indonesian));
            assert_ne!(
                state_name(state, Language::English),
                state_name(state, Language::Indonesian),
                "{state}"
            );
        }
    }
}
