//! The standing of a validator in the registry, in words.

use std::fmt::{self, Display};

use askama::filters::HtmlSafe;
use validators::board::Standing;

use crate::words::Language;

/// What people call a standing.
pub(super) const fn name(standing: Standing, language: Language) -> &'static str {
    match standing {
        Standing::None => language.choose("Not registered", "Tidak terdaftar"),
        Standing::Active => language.choose("Active", "Aktif"),
        Standing::Jailed => language.choose("Jailed", "Dipenjara"),
        Standing::Inactive => language.choose("Left", "Keluar"),
        Standing::Slashed => language.choose("Slashed out", "Dikeluarkan"),
        Standing::Removed => language.choose("Removed", "Dihapus"),
    }
}

/// A standing as a tag.
#[derive(Debug, Clone, Copy)]
pub(super) struct StandingTag {
    pub(super) standing: Standing,
    pub(super) language: Language,
}

impl Display for StandingTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tone = match self.standing {
            Standing::Active => " good",
            Standing::Jailed => " warn",
            Standing::Slashed => " bad",
            Standing::None | Standing::Inactive | Standing::Removed => "",
        };
        write!(f, "<span class=\"tag{tone}\">{}</span>", name(self.standing, self.language))
    }
}

impl HtmlSafe for StandingTag {}
