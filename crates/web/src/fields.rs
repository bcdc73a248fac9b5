//! The fields of a form that was sent.

use url::form_urlencoded;

/// The fields of a form.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Reads the body of a form.
    pub(crate) fn read(body: &[u8]) -> Self {
        Self(form_urlencoded::parse(body).into_owned().collect())
    }

    /// What was typed, without white space around it; empty if there is no such field.
    pub(crate) fn text(&self, name: &str) -> &str {
        let field = self.0.iter().find(|(found, _)| found == name);
        field.map(|(_, value)| value.trim()).unwrap_or_default()
    }

    /// What was typed, if anything was.
    pub(crate) fn filled(&self, name: &str) -> Option<&str> {
        Some(self.text(name)).filter(|text| !text.is_empty())
    }

    /// Every value of a field that may be there several times.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_trimmed_and_by_name() {
        let fields = Fields::read(b"name=+Toko+Budi+&scope=a&scope=b%26c&empty=+");
        assert_eq!((fields.text("name"), fields.text("missing")), ("Toko Budi", ""));
        assert_eq!((fields.filled("empty"), fields.filled("name")), (None, Some("Toko Budi")));
        assert_eq!(fields.all("scope").collect::<Vec<_>>(), ["a", "b&c"]);
    }
}
