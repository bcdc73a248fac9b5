//! What a visitor is told when there is no page to show.

use axum::response::{IntoResponse, Response};
use chain::ChainError;
use hyper::StatusCode;
use store::StoreError;

/// Why there is no page to show. [`crate::Explorer`] renders it, because only it knows the visit.
#[derive(Debug, Clone)]
pub(crate) enum Failure {
    /// There is no such page.
    NoPage,
    /// There is no such thing.
    Missing(Missing),
    /// What was asked for cannot be read as what it should be.
    Malformed(Malformed),
    /// No node answers, and nothing that was kept will do.
    ChainUnavailable(String),
    /// The database does not answer.
    DatabaseUnavailable(String),
    /// Too many requests; try again after this many seconds.
    TooMany(u64),
    /// Something was to be changed for whoever is signed in, but not from a page of ours.
    WrongOrigin,
    /// Our own fault.
    Internal(String),
}

/// A thing that is not there.
#[derive(Debug, Clone)]
pub(crate) enum Missing {
    /// A height that the chain has not reached: the height, and the newest one.
    FutureBlock { number: u64, head: u64 },
    /// A block hash that no block has.
    BlockHash,
    /// A transaction that is in no block and that our nodes have not heard of.
    Transaction,
    /// An address that no validator has.
    Validator,
    /// An application nobody made.
    Application,
    /// A payment link that is not one of ours.
    PaymentLink,
    /// An order, an invoice or a delivery that the wallet does not have.
    OfWallet,
    /// A search without a result.
    Anything,
    /// The portal, which this server does not have.
    Portal,
    /// The faucet, which this server does not have.
    Faucet,
}

/// A text that is not what it should be.
#[derive(Debug, Clone)]
pub(crate) enum Malformed {
    /// Not a block number or hash.
    Block(String),
    /// Not a transaction hash.
    Hash(String),
    /// Not an address.
    Address(String),
    /// An address with a wrong checksum.
    Checksum(String),
    /// A query parameter.
    Parameter(&'static str),
}

impl Failure {
    /// The status to answer with.
    pub(crate) const fn status(&self) -> StatusCode {
        match self {
            Self::NoPage | Self::Missing(_) => StatusCode::NOT_FOUND,
            Self::Malformed(_) => StatusCode::BAD_REQUEST,
            Self::WrongOrigin => StatusCode::FORBIDDEN,
            Self::ChainUnavailable(_) | Self::DatabaseUnavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::TooMany(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// What is behind it, for the log.
    pub(crate) fn cause(&self) -> Option<&str> {
        match self {
            Self::ChainUnavailable(cause) | Self::DatabaseUnavailable(cause) | Self::Internal(cause) => {
                Some(cause)
            }
            Self::NoPage | Self::Missing(_) | Self::Malformed(_) | Self::TooMany(_) | Self::WrongOrigin => {
                None
            }
        }
    }
}

impl From<ChainError> for Failure {
    fn from(error: ChainError) -> Self {
        Self::ChainUnavailable(error.to_string())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::DatabaseUnavailable(error.to_string())
    }
}

impl From<askama::Error> for Failure {
    fn from(error: askama::Error) -> Self {
        Self::Internal(error.to_string())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}
