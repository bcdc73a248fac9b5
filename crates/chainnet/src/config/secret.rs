//! Texts that are never printed.

use std::fmt;

use alloy_primitives::B256;

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

/// A private key. It does not print itself.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretKey(B256);

impl SecretKey {
    pub(crate) fn new(key: B256) -> Self {
        Self(key)
    }

    /// The key itself, for whoever signs.
    pub fn expose(&self) -> B256 {
        self.0
    }

    /// What is shown instead.
    pub fn masked(&self) -> String {
        MASK.to_owned()
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
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
            ("redis://:hunter2@redis:6379/0", "redis://:***@redis:6379/0"),
            ("sqlite:data/devnet/chainnet.db", "sqlite:data/devnet/chainnet.db"),
        ] {
            assert_eq!(SecretUrl::new(text).masked(), shown);
            assert_eq!(format!("{:?}", SecretUrl::new(text)), shown);
        }
    }
}
