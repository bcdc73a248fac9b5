//! Why something about an invoice was not done.

use std::borrow::Cow;

use domain::{Failure, FailureKind, portal::InvoiceState};
use store::{StoreError, portal::InvoiceRecord};

/// Why something about an invoice was not done.
#[derive(Debug, thiserror::Error)]
pub enum InvoiceError {
    /// The wallet has no such invoice.
    #[error("there is no such invoice")]
    NotFound,
    /// It has come to an end that is not the one asked for.
    #[error("the invoice is {0}")]
    NotOpen(InvoiceState),
    /// The merchant has an invoice of that name.
    #[error("there is an invoice with that external id")]
    ExternalIdTaken(Box<InvoiceRecord>),
    /// The idempotency key was used for another request.
    #[error("the idempotency key was used for another request")]
    KeyReused,
    /// The database failed.
    #[error("invoices cannot be read or written")]
    Store(#[from] StoreError),
}

impl Failure for InvoiceError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::NotFound => FailureKind::NotFound,
            Self::NotOpen(_) | Self::ExternalIdTaken(_) => FailureKind::Conflict,
            Self::KeyReused => FailureKind::Invalid,
            Self::Store(error) => error.kind(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NotFound => "invoice_not_found",
            Self::NotOpen(_) => "invoice_not_open",
            Self::ExternalIdTaken(_) => "external_id_exists",
            Self::KeyReused => "idempotency_key_reused",
            Self::Store(error) => error.code(),
        }
    }

    fn detail(&self) -> Cow<'static, str> {
        match self {
            Self::NotFound => "There is no such invoice.".into(),
            Self::NotOpen(state) => format!("The invoice is {state}; only an open one can be voided.").into(),
            Self::ExternalIdTaken(_) => "There is an invoice with this externalId; see invoice.".into(),
            Self::KeyReused => {
                "This Idempotency-Key was used for another request; use a new one for every invoice, and the \
                 same one to try again."
                    .into()
            }
            Self::Store(error) => error.detail(),
        }
    }
}
