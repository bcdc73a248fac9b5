//! Why a key is refused.

use std::borrow::Cow;

use domain::{Failure, FailureKind};

/// Why a key is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyDenied {
    /// There is none.
    #[error("no key was presented")]
    Missing,
    /// There are two, and they differ.
    #[error("two different keys were presented")]
    Ambiguous,
    /// What was presented is no key.
    #[error("what was presented is not a key")]
    Malformed,
    /// There is no such key, or its secret is another.
    #[error("there is no such key")]
    Unknown,
    /// An operator took it back.
    #[error("the key was revoked")]
    Revoked,
    /// Its time is over.
    #[error("the key has expired")]
    Expired,
    /// It may not be used from there.
    #[error("the key may not be used from this address")]
    IpNotAllowed,
}

impl KeyDenied {
    /// The stable word for it. A key that is no key and one that does not exist have the same: who guesses learns nothing.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Missing => "api_key_missing",
            Self::Ambiguous => "api_key_ambiguous",
            Self::Malformed | Self::Unknown => "api_key_invalid",
            Self::Revoked => "api_key_revoked",
            Self::Expired => "api_key_expired",
            Self::IpNotAllowed => "ip_not_allowed",
        }
    }
}

impl Failure for KeyDenied {
    fn kind(&self) -> FailureKind {
        FailureKind::Unauthenticated
    }

    fn code(&self) -> &'static str {
        self.reason()
    }

    fn detail(&self) -> Cow<'static, str> {
        match self {
            Self::Missing => "An API key is needed: send it in the header X-API-Key.".into(),
            Self::Ambiguous => "Two different API keys were sent; send one.".into(),
            Self::Malformed | Self::Unknown => "This API key is not known.".into(),
            Self::Revoked => "This API key was revoked.".into(),
            Self::Expired => "This API key has expired.".into(),
            Self::IpNotAllowed => "This API key may not be used from this address.".into(),
        }
    }
}
