//! What a developer key may be used for.

use std::{fmt, str::FromStr};

/// One thing that a key may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// `GET /v1/dashboard`.
    DashboardRead,
    /// Reading invoices.
    InvoicesRead,
    /// Making and voiding invoices.
    InvoicesWrite,
}

/// The text names no scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown scope `{0}`")]
pub struct UnknownScope(String);

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 3] = [Self::DashboardRead, Self::InvoicesRead, Self::InvoicesWrite];

    /// Its word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::DashboardRead => "dashboard:read",
            Self::InvoicesRead => "invoices:read",
            Self::InvoicesWrite => "invoices:write",
        }
    }

    const fn bit(self) -> u8 {
        match self {
            Self::DashboardRead => 1,
            Self::InvoicesRead => 2,
            Self::InvoicesWrite => 4,
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Scope {
    type Err = UnknownScope;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|scope| scope.name() == text).ok_or_else(|| UnknownScope(text.to_owned()))
    }
}

/// A set of scopes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Scopes(u8);

impl Scopes {
    /// All of them.
    pub const ALL: Self = Self(7);

    /// The set with these bits, as it is stored; none if one of them means nothing.
    pub const fn from_bits(bits: u8) -> Option<Self> {
        if bits <= Self::ALL.0 { Some(Self(bits)) } else { None }
    }

    /// The set as it is stored.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether a scope is in it.
    pub const fn contains(self, scope: Scope) -> bool {
        self.0 & scope.bit() != 0
    }

    /// Whether nothing is in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Its members, in the order of [`Scope::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |scope| self.contains(*scope))
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        Self(scopes.into_iter().fold(0, |bits, scope| bits | scope.bit()))
    }
}

impl fmt::Debug for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(Scope::name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_stored_and_read_back() {
        for bits in 0..=7 {
            let scopes = Scopes::from_bits(bits).unwrap();
            assert_eq!(scopes.iter().collect::<Scopes>(), scopes);
            assert_eq!(scopes.bits(), bits);
        }
        assert_eq!(Scopes::from_bits(8), None);
        assert_eq!(Scopes::ALL, Scope::ALL.into_iter().collect());
        assert_eq!("invoices:read".parse(), Ok(Scope::InvoicesRead));
        assert!("invoices".parse::<Scope>().is_err());
    }
}
