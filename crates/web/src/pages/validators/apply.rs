//! `/validators/apply`: the form that makes an application, by the same rules and through the same service as the API.

use std::sync::Arc;

use access::UniformLimiter;
use askama::Template;
use axum::{Extension, body::Bytes, extract::State};
use domain::{FieldFailure, address::NotAnAddress};
use hyper::StatusCode;
use url::form_urlencoded;
use validators::{
    ApplicationError,
    application::{ApplicationDraft, MESSAGE_CHARS, MONIKER_CHARS, WEBSITE_CHARS},
    program::{MAX_COMMISSION_BPS, MIN_STAKE_COIN, REGIONS, REVIEW_DAYS},
};

use super::{figures::bps_percent, region};
use crate::{
    failure::Failure,
    format::Number,
    frame::{Frame, Section},
    page::{Shown, go_to, show_with},
    site::Site,
    visit::Visit,
    words::Language,
};

/// A field that people do not see; programs that fill every form do. A dull name, because browsers fill others by themselves.
const TRAP: &str = "subject";

words! {
    ApplyWords {
        title: "Apply as a validator", "Daftar sebagai validator";
        about: "An application starts the onboarding. You may follow it under a link that you get when it is sent.", "Pendaftaran memulai proses penerimaan. Anda dapat mengikutinya lewat tautan yang diberikan saat pendaftaran terkirim.";
        program: "Requirements of the program", "Persyaratan program";
        review: "Technical review: up to", "Tinjauan teknis: hingga";
        days: "days", "hari";
        wrong: "The application was not sent. Look at the fields marked below.", "Pendaftaran belum terkirim. Periksa isian yang ditandai di bawah.";
        trapped: "A hidden field was filled, as programs do. If your browser did it, empty the form and try again.", "Isian tersembunyi terisi, seperti yang dilakukan program. Jika peramban Anda yang mengisinya, kosongkan formulir dan coba lagi.";
        moniker: "Name of the validator", "Nama validator";
        moniker_hint: "Shown in the ranking.", "Tampil di peringkat.";
        operator: "Operator address", "Alamat operator";
        operator_hint: "The account that will stake and register: 0x and 40 digits.", "Akun yang akan mempertaruhkan stake dan mendaftar: 0x dan 40 digit.";
        email: "E-mail", "Surel";
        email_hint: "Where the reviewers reach you. Never shown.", "Tempat peninjau menghubungi Anda. Tidak pernah ditampilkan.";
        stake: "Stake", "Stake";
        stake_hint: "At least", "Sedikitnya";
        commission: "Commission in percent", "Komisi dalam persen";
        commission_hint: "At most", "Paling banyak";
        region: "Region", "Wilayah";
        optional: "optional", "opsional";
        no_region: "Not stated", "Tidak disebutkan";
        website: "Website", "Situs web";
        message: "Message to the reviewers", "Pesan untuk peninjau";
        message_hint: "Never shown.", "Tidak pernah ditampilkan.";
        send: "Send the application", "Kirim pendaftaran";
        leave_empty: "Leave this empty", "Biarkan kosong";
        not_a_number: "Must be a number such as 5 or 7.25.", "Harus berupa angka seperti 5 atau 7.25.";
        exists: "This operator has an open application already.", "Operator ini sudah memiliki pendaftaran yang masih berjalan.";
    }
}

/// What was typed, and what is wrong with it.
#[derive(Default)]
struct Field {
    value: String,
    error: Option<String>,
}

/// The form.
#[derive(Default)]
struct Form {
    moniker: Field,
    operator: Field,
    email: Field,
    stake: Field,
    commission: Field,
    region: Field,
    website: Field,
    message: Field,
    is_trapped: bool,
}

impl Form {
    fn read(body: &[u8]) -> Self {
        let mut form = Self::default();
        for (name, value) in form_urlencoded::parse(body) {
            if name == TRAP {
                form.is_trapped = !value.is_empty();
            } else if let Some(field) = form.field(&name) {
                field.value = value.into_owned();
            }
        }
        form
    }

    /// The field that the API calls by this name.
    fn field(&mut self, name: &str) -> Option<&mut Field> {
        match name {
            "moniker" => Some(&mut self.moniker),
            "operatorAddress" => Some(&mut self.operator),
            "email" => Some(&mut self.email),
            "stakeAmount" => Some(&mut self.stake),
            "commission" => Some(&mut self.commission),
            "region" => Some(&mut self.region),
            "website" => Some(&mut self.website),
            "message" => Some(&mut self.message),
            _ => None,
        }
    }

    /// The application, with a commission that breaks the rules if it is no number.
    fn draft(&self) -> ApplicationDraft {
        let optional = |field: &Field| Some(field.value.clone());
        ApplicationDraft {
            moniker: self.moniker.value.clone(),
            operator_address: self.operator.value.trim().to_owned(),
            email: self.email.value.clone(),
            stake_amount: self.stake.value.trim().to_owned(),
            commission: self.percent().unwrap_or(f64::NAN),
            website: optional(&self.website),
            region: optional(&self.region),
            message: optional(&self.message),
        }
    }

    /// The commission; with a comma as Indonesia writes decimals, too.
    fn percent(&self) -> Option<f64> {
        self.commission
            .value
            .trim()
            .replace(',', ".")
            .parse()
            .ok()
            .filter(|percent: &f64| percent.is_finite())
    }

    /// Puts faults beside their fields.
    fn mark(&mut self, faults: &[FieldFailure], language: Language) {
        let is_number = self.percent().is_some();
        for fault in faults {
            let text = match &*fault.field {
                "commission" if !is_number => ApplyWords::of(language).not_a_number.to_owned(),
                _ => fault_text(fault, &self.operator.value, language),
            };
            if let Some(field) = self.field(&fault.field) {
                field.error.get_or_insert(text);
            }
        }
    }
}

/// A fault in the visitor's language. English is the rule's own sentence.
fn fault_text(fault: &FieldFailure, operator: &str, language: Language) -> String {
    let (least, most) = MONIKER_CHARS;
    match (language, &*fault.field, fault.code) {
        (Language::Indonesian, "moniker", "invalid_length") => {
            format!("Harus {least} sampai {most} karakter.")
        }
        (Language::Indonesian, _, "invalid_characters") => {
            "Tidak boleh memuat karakter kontrol atau pengubah arah teks.".to_owned()
        }
        (Language::Indonesian, _, "invalid_address") => match domain::parse_address(operator.trim()) {
            Err(NotAnAddress::Form | NotAnAddress::Checksum) => {
                "Harus 0x dan 40 digit heksadesimal.".to_owned()
            }
            Ok(_zero) => "Tidak boleh alamat nol.".to_owned(),
        },
        (Language::Indonesian, _, "invalid_checksum") => {
            "Huruf besar dan kecilnya tidak cocok dengan EIP-55.".to_owned()
        }
        (Language::Indonesian, _, "invalid_email") => {
            "Harus alamat surel seperti ops@example.org.".to_owned()
        }
        (Language::Indonesian, _, "invalid_amount") => "Harus jumlah koin desimal seperti 100000.".to_owned(),
        (Language::Indonesian, "stakeAmount", "too_precise") => "Paling banyak 18 angka desimal.".to_owned(),
        (Language::Indonesian, _, "too_large") => "Lebih banyak koin daripada yang mungkin ada.".to_owned(),
        (Language::Indonesian, _, "too_small") => format!("Sedikitnya {} koin.", Number(MIN_STAKE_COIN)),
        (Language::Indonesian, _, "out_of_range") => {
            format!("Harus antara 0 dan {}.", bps_percent(MAX_COMMISSION_BPS))
        }
        (Language::Indonesian, "commission", "too_precise") => "Paling banyak 2 angka desimal.".to_owned(),
        (Language::Indonesian, "website", "too_long") => format!("Paling banyak {WEBSITE_CHARS} karakter."),
        (Language::Indonesian, _, "too_long") => format!("Paling banyak {MESSAGE_CHARS} karakter."),
        (Language::Indonesian, _, "invalid_url") => {
            "Harus alamat yang dimulai dengan http:// atau https://.".to_owned()
        }
        (Language::Indonesian, _, "unknown_region") => "Harus wilayah dari program.".to_owned(),
        (Language::English | Language::Indonesian, _, _) => sentence(&fault.message),
    }
}

/// A clause as a sentence.
fn sentence(clause: &str) -> String {
    let mut characters = clause.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", characters.as_str())
}

#[derive(Template)]
#[template(path = "apply.html")]
struct Page {
    frame: Frame,
    w: &'static ApplyWords,
    form: Form,
    /// What is wrong with the whole.
    alarm: Option<&'static str>,
    regions: Vec<(&'static str, &'static str)>,
    trap: &'static str,
    website_chars: usize,
    min_stake: Number,
    max_commission: String,
    review_days: u8,
}

fn page(site: &Site, visit: &Visit, status: StatusCode, form: Form, alarm: Option<&'static str>) -> Shown {
    let w = ApplyWords::of(visit.language);
    let regions = REGIONS.iter().map(|place| (place.code, region::name(place, visit.language)));
    show_with(
        status,
        &Page {
            frame: Frame::new(site, visit, Section::Validators, w.title),
            w,
            form,
            alarm,
            regions: regions.collect(),
            trap: TRAP,
            website_chars: WEBSITE_CHARS,
            min_stake: Number(MIN_STAKE_COIN),
            max_commission: bps_percent(MAX_COMMISSION_BPS),
            review_days: REVIEW_DAYS,
        },
    )
}

/// `GET /validators/apply`.
pub(super) async fn show(State(site): State<Arc<Site>>, visit: Visit) -> Shown {
    page(&site, &visit, StatusCode::OK, Form::default(), None)
}

/// `POST /validators/apply` with the fields of the API's body.
pub(super) async fn submit(
    State(site): State<Arc<Site>>,
    Extension(limiter): Extension<Arc<UniformLimiter>>,
    visit: Visit,
    body: Bytes,
) -> Shown {
    let allowance = limiter.take(visit.address.into(), site.api.clock.now()).await;
    if !allowance.is_granted {
        return Err(Failure::TooMany(allowance.retry_seconds()));
    }
    let w = ApplyWords::of(visit.language);
    let mut form = Form::read(&body);
    if form.is_trapped {
        return page(&site, &visit, StatusCode::UNPROCESSABLE_ENTITY, form, Some(w.trapped));
    }
    let now = u64::try_from(site.api.clock.now().as_millisecond()).unwrap_or(0);
    match site.api.applications.submit(&form.draft(), Some(visit.address.into()), now).await {
        Ok(application) => Ok(go_to(&format!("/validators/applications/{}", application.row.id))),
        Err(ApplicationError::Invalid(faults)) => {
            form.mark(&faults, visit.language);
            page(&site, &visit, StatusCode::UNPROCESSABLE_ENTITY, form, Some(w.wrong))
        }
        Err(ApplicationError::Exists) => {
            form.operator.error = Some(w.exists.to_owned());
            page(&site, &visit, StatusCode::CONFLICT, form, Some(w.wrong))
        }
        Err(ApplicationError::Limited { retry_after }) => Err(Failure::TooMany(retry_after)),
        Err(ApplicationError::Store(error)) => Err(error.into()),
        Err(
            error @ (ApplicationError::NotFound
            | ApplicationError::LinkUnknown
            | ApplicationError::TransitionNotAllowed { .. }),
        ) => Err(Failure::Internal(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_told_in_indonesian() {
        let mut form = Form::read(
            b"moniker=ab&operatorAddress=0x1&email=x&stakeAmount=1&commission=x&website=x&region=x&message=%E2%80%AE",
        );
        let faults = form.draft().check().unwrap_err();
        form.mark(&faults, Language::Indonesian);
        let fields = [
            form.moniker,
            form.operator,
            form.email,
            form.stake,
            form.commission,
            form.website,
            form.region,
            form.message,
        ];
        for (field, fault) in fields.iter().zip(&faults) {
            let text = field.error.as_deref().unwrap();
            assert!(!text.to_lowercase().contains(&*fault.message), "{text}");
        }
    }

    #[test]
    fn a_comma_is_a_decimal_point() {
        let percent = |text: &str| {
            Form { commission: Field { value: text.to_owned(), error: None }, ..Form::default() }.percent()
        };
        assert_eq!(percent(" 7,25 "), Some(7.25));
        assert_eq!((percent(""), percent("NaN"), percent("5%")), (None, None, None));
    }

    #[test]
    fn clauses_become_sentences() {
        assert_eq!(sentence("must be good"), "Must be good.");
        assert_eq!(sentence(""), ".");
    }
}
