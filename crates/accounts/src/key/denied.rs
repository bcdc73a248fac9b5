//! Why a developer key is refused.

use std::borrow::Cow;

use domain::{Failure, FailureKind, portal::Scope};
use jiff::Timestamp;
use store::StoreError;

/// Why a developer key is refused.
#[derive(Debug, thiserror::Error)]
pub enum DeveloperKeyDenied {
    /// There is none.
    #[error("no developer key was presented")]
    Missing,
    /// There are two, and they differ.
    #[error("two different keys were presented")]
    Ambiguous,
    /// What was presented is no developer key.
    #[error("what was presented is not a developer key")]
    Malformed,
    /// There is no such key, or its secret is another.
    #[error("there is no such developer key")]
    Unknown,
    /// Its owner took it back.
    #[error("the developer key was revoked")]
    Revoked,
    /// Its plan is over.
    #[error("the developer key expired at {at}")]
    Expired {
        /// Since when.
        at: Timestamp,
    },
    /// The database failed.
    #[error("the developer key cannot be looked up")]
    Store(#[from] StoreError),
}

impl Failure for DeveloperKeyDenied {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Ambiguous => FailureKind::Malformed,
            Self::Missing | Self::Malformed | Self::Unknown | Self::Revoked | Self::Expired { .. } => {
                FailureKind::Unauthenticated
            }
            Self::Store(error) => error.kind(),
        }
    }

    /// A key that is no key and one that does not exist have the same: who guesses learns nothing.
    fn code(&self) -> &'static str {
        match self {
            Self::Missing => "api_key_missing",
            Self::Ambiguous => "api_key_ambiguous",
            Self::Malformed | Self::Unknown => "api_key_invalid",
            Self::Revoked => "api_key_revoked",
            Self::Expired { .. } => "api_key_expired",
            Self::Store(error) => error.code(),
        }
    }

    fn detail(&self) -> Cow<'static, str> {
        match self {
            Self::Missing => "A developer key is needed: send it in the header X-Platform-Dev-Key, or as Authorization: Bearer pdk_…; POST /api/v1/platform-dev/keys sells them.".into(),
            Self::Ambiguous => "Two different API keys were sent; send one.".into(),
            Self::Malformed | Self::Unknown => "This developer key is not known. Send one as it was shown, in the header X-Platform-Dev-Key.".into(),
            Self::Revoked => "This developer key was revoked.".into(),
            Self::Expired { at } => {
                format!("The plan of this developer key ended at {at}; buy a new key.").into()
            }
            Self::Store(error) => error.detail(),
        }
    }
}

/// The key is good, but not for this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the developer key lacks the scope {0}")]
pub struct ScopeMissing(pub Scope);

impl Failure for ScopeMissing {
    fn kind(&self) -> FailureKind {
        FailureKind::Forbidden
    }

    fn code(&self) -> &'static str {
        "scope_missing"
    }

    fn detail(&self) -> Cow<'static, str> {
        format!("This developer key lacks the scope {}.", self.0).into()
    }
}
