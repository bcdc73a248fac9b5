//! The words of gateway keys: ids, teams and permissions.
//!
//! Secrets are not here: how they are made, kept and compared is for the crate that decides about access.

use std::{fmt, str::FromStr};

/// The public part of a gateway key: letters, digits and dashes. It names the key in commands, logs and tables.
///
/// It is kept in place, so that whoever counts requests by key copies it instead of sharing it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId {
    // Zeros behind the text, so that comparing the bytes compares the texts.
    bytes: [u8; KeyId::LONGEST],
    length: u8,
}

/// The text is not the id of a gateway key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the id of a key has 1 to {} letters, digits and dashes", KeyId::LONGEST)]
pub struct NotAKeyId;

impl KeyId {
    /// Characters of the longest id.
    pub const LONGEST: usize = 23;

    /// The id as text.
    pub fn as_str(&self) -> &str {
        let text = self.bytes.get(..usize::from(self.length)).unwrap_or_default();
        str::from_utf8(text).unwrap_or_default()
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyId({})", self.as_str())
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for KeyId {
    type Err = NotAKeyId;

    fn from_str(text: &str) -> Result<Self, NotAKeyId> {
        let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if text.is_empty() || !text.bytes().all(is_fit) {
            return Err(NotAKeyId);
        }
        let mut bytes = [0; Self::LONGEST];
        bytes.get_mut(..text.len()).ok_or(NotAKeyId)?.copy_from_slice(text.as_bytes());
        Ok(Self { bytes, length: u8::try_from(text.len()).map_err(|_| NotAKeyId)? })
    }
}

/// Who a key or a wallet belongs to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Team(String);

/// The text cannot be the name of a team.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the name of a team has 1 to {} letters, digits, spaces, dots, dashes and underscores, and begins and ends with a \
     letter or digit",
    Team::LONGEST
)]
pub struct NotATeam;

impl Team {
    /// Characters of the longest name.
    pub const LONGEST: usize = 40;

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Team {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for Team {
    type Err = NotATeam;

    fn from_str(text: &str) -> Result<Self, NotATeam> {
        let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'.' | b'-' | b'_');
        let is_end_fit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        let bytes = text.as_bytes();
        let is_name = (1..=Self::LONGEST).contains(&bytes.len())
            && bytes.iter().copied().all(is_fit)
            && is_end_fit(bytes.first())
            && is_end_fit(bytes.last());
        if is_name { Ok(Self(text.to_owned())) } else { Err(NotATeam) }
    }
}

/// What a key may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Permission {
    /// The JSON-RPC gateway.
    Rpc,
    /// The faucet.
    Faucet,
    /// The explorer.
    Explorer,
}

impl Permission {
    /// Every permission, in the order of the specification.
    pub const ALL: [Self; 3] = [Self::Rpc, Self::Faucet, Self::Explorer];

    /// The name in commands and answers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rpc => "rpc",
            Self::Faucet => "faucet",
            Self::Explorer => "explorer",
        }
    }

    const fn bit(self) -> u8 {
        match self {
            Self::Rpc => 1,
            Self::Faucet => 2,
            Self::Explorer => 4,
        }
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of permissions, at least one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Permissions(u8);

/// The text is not a list of permissions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotPermissions {
    /// There is none in it.
    #[error("at least one permission is needed (known: rpc, faucet, explorer)")]
    Empty,
    /// One of them does not exist.
    #[error("unknown permission `{0}` (known: rpc, faucet, explorer)")]
    Unknown(String),
}

impl Permissions {
    /// The set of these.
    pub const fn of<const N: usize>(members: [Permission; N]) -> Self {
        const { assert!(N > 0, "a key without a permission is of no use") };
        let mut bits = 0;
        let mut rest: &[Permission] = &members;
        while let [first, others @ ..] = rest {
            bits |= first.bit();
            rest = others;
        }
        Self(bits)
    }

    /// Whether this one is in the set.
    pub const fn contains(self, permission: Permission) -> bool {
        self.0 & permission.bit() != 0
    }

    /// The members, in the order of the specification.
    pub fn iter(self) -> impl Iterator<Item = Permission> {
        Permission::ALL.into_iter().filter(move |&permission| self.contains(permission))
    }

    /// The set as a number, for the database.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The way back of [`Self::bits`].
    pub fn from_bits(bits: u8) -> Option<Self> {
        let known = Permission::ALL.into_iter().fold(0, |bits, permission| bits | permission.bit());
        (bits != 0 && bits & !known == 0).then_some(Self(bits))
    }
}

impl fmt::Display for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.iter().map(Permission::name).collect();
        f.pad(&names.join(","))
    }
}

impl fmt::Debug for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Permissions({self})")
    }
}

impl FromStr for Permissions {
    type Err = NotPermissions;

    fn from_str(text: &str) -> Result<Self, NotPermissions> {
        let mut bits = 0;
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let found = Permission::ALL.into_iter().find(|permission| permission.name() == name);
            bits |= found.ok_or_else(|| NotPermissions::Unknown(name.to_owned()))?.bit();
        }
        if bits == 0 { Err(NotPermissions::Empty) } else { Ok(Self(bits)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_short_and_plain() {
        for text in ["internal-dev", "a", "0123456789ABCDEFGHIJKLM"] {
            assert_eq!(text.parse::<KeyId>().unwrap().as_str(), text);
        }
        for text in ["", "0123456789ABCDEFGHIJKLMN", "a_b", "a b", "\u{e9}", "a\0"] {
            assert_eq!(text.parse::<KeyId>(), Err(NotAKeyId), "{text:?}");
        }
        let [a, b]: [KeyId; 2] = ["a", "ab"].map(|text| text.parse().unwrap());
        assert!(a < b && a != b, "as their texts");
    }

    #[test]
    fn team_names_are_words_that_fit_a_line() {
        for text in ["internal-dev", "Partner QA", "a", "v1.2_x"] {
            assert_eq!(text.parse::<Team>().unwrap().as_str(), text);
        }
        for text in ["", " a", "a ", "-a", "a,b", "a\nb", "t\u{e9}am", &"a".repeat(41)] {
            assert_eq!(text.parse::<Team>(), Err(NotATeam), "{text:?}");
        }
    }

    #[test]
    fn permissions_are_read_and_written_as_a_list() {
        let both: Permissions = "explorer, rpc,rpc".parse().unwrap();
        assert_eq!(both, Permissions::of([Permission::Rpc, Permission::Explorer]));
        assert_eq!(both.to_string(), "rpc,explorer");
        assert!(both.contains(Permission::Rpc) && !both.contains(Permission::Faucet));
        assert_eq!(Permissions::from_bits(both.bits()), Some(both));
        assert_eq!((Permissions::from_bits(0), Permissions::from_bits(8)), (None, None));
        assert_eq!(" , ".parse::<Permissions>(), Err(NotPermissions::Empty));
        assert_eq!("rpc,admin".parse::<Permissions>(), Err(NotPermissions::Unknown("admin".to_owned())));
    }
}
