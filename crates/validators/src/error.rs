//! Why the validator program did not do what was asked.

use std::borrow::Cow;

use chain::ChainError;
use domain::{ApplicationState, Failure, FailureKind, FieldFailure};
use store::StoreError;

/// Why something about an application was not done.
#[derive(Debug, thiserror::Error)]
pub enum ApplicationError {
    /// Fields of the application break rules.
    #[error("the application breaks {} rules", .0.len())]
    Invalid(Vec<FieldFailure>),
    /// The operator has an open application.
    #[error("the operator has an open application")]
    Exists,
    /// There is no such application.
    #[error("there is no such application")]
    NotFound,
    /// There were too many of this address, of this client or in all.
    #[error("there were too many applications")]
    Limited {
        /// Seconds until the same one may be taken.
        retry_after: u64,
    },
    /// No link has this token, or it is too old.
    #[error("there is no such link")]
    LinkUnknown,
    /// The application's state does not permit it.
    #[error("an application that is {from} cannot become {to}")]
    TransitionNotAllowed {
        /// The state it is in.
        from: ApplicationState,
        /// The state that was asked for.
        to: ApplicationState,
    },
    /// The database failed.
    #[error("applications cannot be read or written")]
    Store(#[from] StoreError),
}

/// Why something about validators cannot be answered.
#[derive(Debug, thiserror::Error)]
pub enum ValidatorError {
    /// No validator has this address, neither as operator nor as node.
    #[error("there is no such validator")]
    NotFound,
    /// No board has been computed yet.
    #[error("nothing is known of the validators yet")]
    NotReady,
    /// The chain did not answer.
    #[error("the registry cannot be read")]
    Chain(#[from] ChainError),
    /// A header is not one of IBFT 2.0.
    #[error("block {number} states no validators")]
    Header {
        /// The block.
        number: u64,
        /// What is wrong with it.
        #[source]
        source: ibft::extra_data::ExtraDataError,
    },
    /// The chain does not have a block that it must have.
    #[error("block {number} is missing")]
    MissingBlock {
        /// The block.
        number: u64,
    },
    /// The database failed.
    #[error("the index cannot be read")]
    Store(#[from] StoreError),
}

impl Failure for ApplicationError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Invalid(_) => FailureKind::Invalid,
            Self::Exists | Self::TransitionNotAllowed { .. } => FailureKind::Conflict,
            Self::NotFound | Self::LinkUnknown => FailureKind::NotFound,
            Self::Limited { .. } => FailureKind::Limited,
            Self::Store(error) => error.kind(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "validation_failed",
            Self::Exists => "application_exists",
            Self::NotFound => "application_not_found",
            Self::Limited { .. } => "rate_limited",
            Self::LinkUnknown => "confirmation_not_found",
            Self::TransitionNotAllowed { .. } => "transition_not_allowed",
            Self::Store(error) => error.code(),
        }
    }

    fn detail(&self) -> Cow<'static, str> {
        match self {
            Self::Invalid(_) => "The application is not complete or not acceptable; see the fields.".into(),
            Self::Exists => "This operator has an open application already.".into(),
            Self::NotFound => "There is no application with this id.".into(),
            Self::Limited { .. } => {
                "There were too many applications with this e-mail address or from this client within 24 hours.".into()
            }
            Self::LinkUnknown => {
                "This link is not known, or is older than 7 days. The next change of the application brings another one."
                    .into()
            }
            Self::TransitionNotAllowed { from, to } => {
                format!("An application that is {from} cannot become {to}.").into()
            }
            Self::Store(error) => error.detail(),
        }
    }

    fn fields(&self) -> &[FieldFailure] {
        match self {
            Self::Invalid(fields) => fields,
            Self::Exists
            | Self::NotFound
            | Self::Limited { .. }
            | Self::LinkUnknown
            | Self::TransitionNotAllowed { .. }
            | Self::Store(_) => &[],
        }
    }
}

impl Failure for ValidatorError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::NotFound => FailureKind::NotFound,
            Self::NotReady => FailureKind::Unavailable,
            Self::Chain(error) => error.kind(),
            Self::Header { .. } | Self::MissingBlock { .. } => FailureKind::Internal,
            Self::Store(error) => error.kind(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NotFound => "validator_not_found",
            Self::NotReady => "chain_unavailable",
            Self::Chain(error) => error.code(),
            Self::Header { .. } | Self::MissingBlock { .. } => "internal_error",
            Self::Store(error) => error.code(),
        }
    }

    fn detail(&self) -> Cow<'static, str> {
        match self {
            Self::NotFound => "No validator has this operator or consensus address.".into(),
            Self::NotReady => "The validators have not been read from the chain yet.".into(),
            Self::Chain(error) => error.detail(),
            Self::Header { .. } | Self::MissingBlock { .. } => "Something went wrong on our side.".into(),
            Self::Store(error) => error.detail(),
        }
    }
}
