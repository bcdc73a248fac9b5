//! Texts that are never printed.

use std::fmt;

/// What is printed instead.
const MASK: &str = "***";

/// A text that is never printed whole: a URL with a password in it.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretUrl(String);

impl SecretUrl {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for whoever connects.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The URL without password and query.
    pub fn masked(&self) -> String {
        let Some((scheme, rest)) = self.0.split_once("://") else { return self.0.clone() };
        let (rest, query) = rest.split_once('?').map_or((rest, ""), |(rest, _)| (rest, "?***"));
        // At the last `@`, because a password that should have been encoded may hold others.
        let rest = match rest.rsplit_once('@') {
            Some((login, place)) => match login.split_once(':') {
                Some((user, _)) => format!("{user}:{MASK}@{place}"),
                None => format!("{login}@{place}"),
            },
            None => rest.to_owned(),
        };
        format!("{scheme}://{rest}{query}")
    }
}

impl fmt::Debug for SecretUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.masked())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_and_queries_are_never_shown() {
        for (text, shown) in [
            ("postgres://app:hunter2@db/chainnet", "postgres://app:***@db/chainnet"),
            ("postgres://app:a@b/c@db/chainnet", "postgres://app:***@db/chainnet"),
            ("postgres://app@db:5432/chainnet?password=hunter2", "postgres://app@db:5432/chainnet?***"),
            ("smtps://mailer:p%40ss@mail.example.org:465", "smtps://mailer:***@mail.example.org:465"),
            ("sqlite:data/devnet/chainnet.db", "sqlite:data/devnet/chainnet.db"),
        ] {
            assert_eq!(SecretUrl::new(text).masked(), shown);
            assert_eq!(format!("{:?}", SecretUrl::new(text)), shown);
        }
    }
}
