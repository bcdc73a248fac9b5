//! The public part of a developer key.

use std::{fmt, str::FromStr};

/// Names a developer key: twelve letters and digits, which its text carries behind `pdk_`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeveloperKeyId([u8; Self::LENGTH]);

/// The text is not the id of a developer key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the id of a developer key has {} letters and digits", DeveloperKeyId::LENGTH)]
pub struct NotADeveloperKeyId;

impl DeveloperKeyId {
    /// Characters of an id.
    pub const LENGTH: usize = 12;

    /// Its text.
    pub fn as_str(&self) -> &str {
        // Letters and digits are text.
        str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Debug for DeveloperKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for DeveloperKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for DeveloperKeyId {
    type Err = NotADeveloperKeyId;

    fn from_str(text: &str) -> Result<Self, NotADeveloperKeyId> {
        let bytes: [u8; Self::LENGTH] = text.as_bytes().try_into().map_err(|_| NotADeveloperKeyId)?;
        if bytes.iter().all(u8::is_ascii_alphanumeric) { Ok(Self(bytes)) } else { Err(NotADeveloperKeyId) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_twelve_letters_and_digits() {
        let id: DeveloperKeyId = "7Kq2mXc9TzPa".parse().unwrap();
        assert_eq!((id.as_str(), id.to_string().as_str()), ("7Kq2mXc9TzPa", "7Kq2mXc9TzPa"));
        for text in ["", "7Kq2mXc9TzP", "7Kq2mXc9TzPa0", "7Kq2mXc9Tz_a", "7Kq2mXc9Tzä"] {
            assert_eq!(text.parse::<DeveloperKeyId>(), Err(NotADeveloperKeyId), "{text}");
        }
    }
}
