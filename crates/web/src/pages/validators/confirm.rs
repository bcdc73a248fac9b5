//! `/validators/confirm/{token}`: the link in the first mail to an applicant. Looking changes nothing, because mail programs follow
//! links by themselves; the button does.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use hyper::StatusCode;
use validators::ApplicationError;

use crate::{
    failure::Failure,
    frame::{Frame, Section},
    page::{Shown, show_with},
    segment::Segment,
    site::Site,
    visit::Visit,
};

words! {
    ConfirmWords {
        title: "Confirm your e-mail address", "Konfirmasi alamat surel Anda";
        about: "Somebody has applied to run a validator and named your address. If that was you, confirm it: news of the application is sent to it from then on.", "Seseorang mendaftar untuk menjalankan validator dan mencantumkan alamat Anda. Jika itu Anda, konfirmasikan: sejak saat itu kabar pendaftaran dikirim ke sana.";
        confirm: "Confirm", "Konfirmasi";
        confirmed: "The address is confirmed.", "Alamat sudah dikonfirmasi.";
        unknown: "This link is not known, or is older than 7 days. The next change of the application brings another one.", "Tautan ini tidak dikenal, atau lebih dari 7 hari. Perubahan pendaftaran berikutnya membawa tautan baru.";
    }
}

#[derive(Template)]
#[template(path = "confirm.html")]
struct Page {
    frame: Frame,
    w: &'static ConfirmWords,
    /// What became of it, and its tone; none before the button is pressed.
    outcome: Option<(&'static str, &'static str)>,
}

fn page(
    site: &Site,
    visit: &Visit,
    status: StatusCode,
    outcome: Option<(&'static str, &'static str)>,
) -> Shown {
    let w = ConfirmWords::of(visit.language);
    show_with(status, &Page { frame: Frame::new(site, visit, Section::Validators, w.title), w, outcome })
}

/// `GET /validators/confirm/{token}`.
pub(super) async fn show(State(site): State<Arc<Site>>, visit: Visit) -> Shown {
    page(&site, &visit, StatusCode::OK, None)
}

/// `POST /validators/confirm/{token}`.
pub(super) async fn confirm(State(site): State<Arc<Site>>, visit: Visit, Segment(token): Segment) -> Shown {
    let w = ConfirmWords::of(visit.language);
    let now = u64::try_from(site.api.clock.now().as_millisecond()).unwrap_or(0);
    match site.api.applications.confirm_email(&token, now).await {
        Ok(()) => page(&site, &visit, StatusCode::OK, Some(("good", w.confirmed))),
        Err(ApplicationError::LinkUnknown) => {
            page(&site, &visit, StatusCode::NOT_FOUND, Some(("bad", w.unknown)))
        }
        Err(ApplicationError::Store(error)) => Err(error.into()),
        Err(
            error @ (ApplicationError::Invalid(_)
            | ApplicationError::Exists
            | ApplicationError::NotFound
            | ApplicationError::Limited { .. }
            | ApplicationError::TransitionNotAllowed { .. }),
        ) => Err(Failure::Internal(error.to_string())),
    }
}
