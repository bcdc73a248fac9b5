//! Why nobody is signed in.

use std::borrow::Cow;

use chain::ChainError;
use domain::{Failure, FailureKind};
use store::StoreError;

/// What whoever is not signed in has to do.
macro_rules! how_to_sign_in {
    () => {
        "Sign in with a wallet: POST /api/v1/platform-dev/session/challenge, sign its message, \
         POST /api/v1/platform-dev/session, and send the token as Authorization: Bearer pds_… or as the cookie that was set."
    };
}

/// Why a signature did not begin a session.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    /// There is no such challenge, or it is too late, or it was answered before. Which of them is nobody's business.
    #[error("the challenge is unknown, used or over")]
    ChallengeExpired,
    /// The wallet has not signed this text.
    #[error("the signature is not the wallet's")]
    SignatureInvalid,
    /// A contract has to be asked and cannot be. The challenge can be answered again.
    #[error("the wallet's contract cannot be asked")]
    Chain(#[source] ChainError),
    /// The database failed.
    #[error("the session cannot be written")]
    Store(#[from] StoreError),
}

impl Failure for SignInError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::ChallengeExpired | Self::SignatureInvalid => FailureKind::Unauthenticated,
            Self::Chain(_) => FailureKind::Unavailable,
            Self::Store(error) => error.kind(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::ChallengeExpired => "challenge_expired",
            Self::SignatureInvalid => "signature_invalid",
            Self::Chain(_) => "chain_unavailable",
            Self::Store(error) => error.code(),
        }
    }

    fn detail(&self) -> Cow<'static, str> {
        match self {
            Self::ChallengeExpired => {
                "This challenge is not known, was answered before, or is older than five minutes; ask for a new one.".into()
            }
            Self::SignatureInvalid => {
                "The signature is not one of the wallet over the message of the challenge; ask for a new one.".into()
            }
            Self::Chain(_) => {
                "The wallet is a contract and the chain cannot be asked at the moment; send the same signature again."
                    .into()
            }
            Self::Store(error) => error.detail(),
        }
    }
}

/// Why a token is refused.
#[derive(Debug, thiserror::Error)]
pub enum SessionDenied {
    /// There is none.
    #[error("no session was presented")]
    Missing,
    /// There is no such session, or the wallet ended it.
    #[error("there is no such session")]
    Invalid,
    /// It was not used for too long, or its time is over.
    #[error("the session is over")]
    Expired,
    /// The database failed.
    #[error("the session cannot be looked up")]
    Store(#[from] StoreError),
}

impl Failure for SessionDenied {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Missing | Self::Invalid | Self::Expired => FailureKind::Unauthenticated,
            Self::Store(error) => error.kind(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Missing => "session_missing",
            Self::Invalid => "session_invalid",
            Self::Expired => "session_expired",
            Self::Store(error) => error.code(),
        }
    }

    fn detail(&self) -> Cow<'static, str> {
        match self {
            Self::Missing => how_to_sign_in!().into(),
            Self::Invalid => concat!("This session is not known or was ended. ", how_to_sign_in!()).into(),
            Self::Expired => concat!("This session is over. ", how_to_sign_in!()).into(),
            Self::Store(error) => error.detail(),
        }
    }
}
