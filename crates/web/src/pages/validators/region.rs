//! The regions of the program in both languages.

use validators::program::Region;

use crate::words::Language;

/// What people call a region.
pub(super) fn name(region: &Region, language: Language) -> &'static str {
    match (language, region.code) {
        (Language::Indonesian, "ID-JB") => "Jawa Barat",
        (Language::Indonesian, "ID-JT") => "Jawa Tengah",
        (Language::Indonesian, "ID-JI") => "Jawa Timur",
        (Language::Indonesian, "ID-SU") => "Sumatera",
        (Language::Indonesian, "ID-ML") => "Maluku dan Papua",
        (Language::Indonesian, "GLOBAL") => "Internasional",
        (Language::English | Language::Indonesian, _) => region.name,
    }
}

/// The region of a code in words; the code itself if the program does not know it.
pub(super) fn name_of(code: &str, language: Language) -> String {
    validators::program::region(code).map_or(code, |region| name(region, language)).to_owned()
}
