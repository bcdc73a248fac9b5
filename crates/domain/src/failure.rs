//! What every failure of the product can say of itself, without knowing how it will be shown.

use std::{borrow::Cow, error::Error};

/// What sort of failure it is; the edges turn it into a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// The request cannot be understood: malformed path, query or body.
    Malformed,
    /// The request is well formed but its values are not acceptable.
    Invalid,
    /// Nobody is signed in.
    Unauthenticated,
    /// Somebody is signed in, but may not.
    Forbidden,
    /// There is no such thing.
    NotFound,
    /// It contradicts what is there.
    Conflict,
    /// Too much was asked for.
    Limited,
    /// Something we depend on does not answer; trying again helps.
    Unavailable,
    /// Our fault.
    Internal,
}

/// A failure that may reach a caller.
pub trait Failure: Error + Send + Sync + 'static {
    /// What sort of failure it is.
    fn kind(&self) -> FailureKind;

    /// The stable word that callers may decide by.
    fn code(&self) -> &'static str;

    /// What the caller is told. Never the source's text.
    fn detail(&self) -> Cow<'static, str>;

    /// The fields of the request that were refused.
    fn fields(&self) -> &[FieldFailure] {
        &[]
    }
}

/// A field of a request that was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldFailure {
    /// The field's name as the caller wrote it.
    pub field: Cow<'static, str>,
    /// The stable word.
    pub code: &'static str,
    /// What is wrong and what would be right.
    pub message: Cow<'static, str>,
}
