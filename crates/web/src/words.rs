//! Words in both languages, side by side, so that neither can be forgotten.

/// The languages of the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Language {
    /// English.
    #[default]
    English,
    /// Indonesian.
    Indonesian,
}

impl Language {
    /// Both of them.
    pub(crate) const ALL: [Self; 2] = [Self::English, Self::Indonesian];

    /// The tag in `lang`, cookies and `Accept-Language`.
    pub(crate) const fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Indonesian => "id",
        }
    }

    /// The language with this tag.
    pub(crate) fn from_tag(tag: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.tag() == tag)
    }

    /// The first language of an `Accept-Language` line that we speak, by weight.
    pub(crate) fn accepted(line: &str) -> Option<Self> {
        let mut best: Option<(f32, Self)> = None;
        for entry in line.split(',') {
            let mut parts = entry.trim().split(';');
            let primary = parts.next().unwrap_or_default().split('-').next().unwrap_or_default();
            let weight = parts.find_map(|part| part.trim().strip_prefix("q=")?.parse().ok()).unwrap_or(1.0);
            let Some(language) = Self::from_tag(&primary.to_ascii_lowercase()) else { continue };
            if weight > 0.0 && best.is_none_or(|(known, _)| weight > known) {
                best = Some((weight, language));
            }
        }
        best.map(|(_, language)| language)
    }

    /// The one of two texts that is in this language.
    pub(crate) const fn choose(self, english: &'static str, indonesian: &'static str) -> &'static str {
        match self {
            Self::English => english,
            Self::Indonesian => indonesian,
        }
    }
}

/// The words of a page: `name: "English", "Indonesian";` for each. Templates say `{{ w.name }}`.
macro_rules! words {
    ($(#[$about:meta])* $set:ident { $($name:ident: $english:literal, $indonesian:literal;)* }) => {
        $(#[$about])*
        pub(crate) struct $set {
            $(pub(crate) $name: &'static str,)*
        }

        impl $set {
            /// The words in a language.
            pub(crate) const fn of(language: $crate::words::Language) -> &'static Self {
                const ENGLISH: $set = $set { $($name: $english,)* };
                const INDONESIAN: $set = $set { $($name: $indonesian,)* };
                match language {
                    $crate::words::Language::English => &ENGLISH,
                    $crate::words::Language::Indonesian => &INDONESIAN,
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_browser_says_which_language_it_prefers() {
        for (line, expected) in [
            ("id-ID,id;q=0.9,en;q=0.8", Some(Language::Indonesian)),
            ("en-US,en;q=0.9", Some(Language::English)),
            ("de,id;q=0.4,en;q=0.5", Some(Language::English)),
            ("id;q=0", None),
            ("fr, *", None),
            ("", None),
            ("ID", Some(Language::Indonesian)),
        ] {
            assert_eq!(Language::accepted(line), expected, "{line}");
        }
    }
}
