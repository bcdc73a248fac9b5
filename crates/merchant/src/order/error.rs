//! Why an order is not opened or claimed.

use std::borrow::Cow;

use domain::{Failure, FailureKind, FieldFailure};
use store::StoreError;

use super::Order;

/// Why an order is not opened or claimed.
#[derive(Debug, thiserror::Error)]
pub enum OrderError {
    /// No plan has this word.
    #[error("there is no such plan")]
    PlanUnknown,
    /// Fields of the order are wrong.
    #[error("the order's fields are wrong")]
    Invalid(Vec<FieldFailure>),
    /// The wallet has as many keys as it may have, or has ordered them.
    #[error("the wallet has no slot for another key")]
    KeyLimitReached,
    /// The wallet has no such order.
    #[error("the wallet has no such order")]
    NotFound,
    /// No payment has been credited.
    #[error("the order is not paid")]
    NotPaid {
        /// The order, with what is to be paid.
        order: Box<Order>,
        /// What is known of the transaction that the claim named.
        hint: PaymentHint,
    },
    /// Its key exists.
    #[error("the order was claimed before")]
    Claimed,
    /// It is paid or has expired, so that there is nothing to cancel.
    #[error("the order is {}", .0.row.state)]
    NotOpen(Box<Order>),
    /// The wallet has no such key.
    #[error("the wallet has no such key")]
    KeyNotFound,
    /// The idempotency key was used for another request.
    #[error("the idempotency key was used for another request")]
    KeyReused,
    /// The database failed.
    #[error("the database failed")]
    Store(#[from] StoreError),
}

/// What is known of the transaction that shall have paid an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentHint {
    /// None was named.
    None,
    /// No node knows it, yet.
    Unknown,
    /// It waits for a block, or nobody can say.
    Pending,
    /// It failed: nothing was paid with it.
    Failed,
    /// It is in a block that was credited, and has not paid this order.
    Other,
}

impl Failure for OrderError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::PlanUnknown | Self::Invalid(_) | Self::KeyReused => FailureKind::Invalid,
            Self::KeyLimitReached | Self::NotPaid { .. } | Self::Claimed | Self::NotOpen(_) => {
                FailureKind::Conflict
            }
            Self::NotFound | Self::KeyNotFound => FailureKind::NotFound,
            Self::Store(error) => error.kind(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::PlanUnknown => "plan_unknown",
            Self::Invalid(_) => "validation_failed",
            Self::KeyLimitReached => "key_limit_reached",
            Self::NotFound => "order_not_found",
            Self::NotPaid { .. } => "order_not_paid",
            Self::Claimed => "order_claimed",
            Self::NotOpen(_) => "order_not_open",
            Self::KeyNotFound => "key_not_found",
            Self::KeyReused => "idempotency_key_reused",
            Self::Store(error) => error.code(),
        }
    }

    fn detail(&self) -> Cow<'static, str> {
        match self {
            Self::PlanUnknown => "A plan is Monthly, Three months or Yearly, or its word: monthly, quarterly, yearly.".into(),
            Self::Invalid(_) => "Fields of the order are not acceptable; see errors.".into(),
            Self::KeyLimitReached => {
                "A wallet has at most five active keys, those included that it has ordered. Revoke one, or cancel an order."
                    .into()
            }
            Self::NotFound => "This wallet has no such order.".into(),
            Self::NotPaid { hint, .. } => hint.detail().into(),
            Self::Claimed => "The key of this order was made before, and its secret shown then.".into(),
            Self::NotOpen(order) => {
                format!("The order is {}; only one that awaits its payment can be cancelled.", order.row.state)
                    .into()
            }
            Self::KeyNotFound => "This wallet has no such key.".into(),
            Self::KeyReused => {
                "This Idempotency-Key was used for another order; use a new one for every order, and the same one to try \
                 again."
                    .into()
            }
            Self::Store(error) => error.detail(),
        }
    }

    fn fields(&self) -> &[FieldFailure] {
        match self {
            Self::Invalid(fields) => fields,
            Self::PlanUnknown
            | Self::KeyLimitReached
            | Self::NotFound
            | Self::NotPaid { .. }
            | Self::Claimed
            | Self::NotOpen(_)
            | Self::KeyNotFound
            | Self::KeyReused
            | Self::Store(_) => &[],
        }
    }
}

impl PaymentHint {
    /// What is not known is never called failed: who pays again because of it pays twice.
    const fn detail(self) -> &'static str {
        match self {
            Self::None => {
                "No payment of this order is in a block yet. If you have sent it, ask again; do not pay twice."
            }
            Self::Unknown => {
                "No node knows this transaction yet, and no payment of the order is in a block. If you have sent it, ask again; do not pay twice."
            }
            Self::Pending => "The payment is not in a block yet. Ask again; do not pay twice.",
            Self::Failed => {
                "The transaction failed, so nothing was paid with it. The order can still be paid."
            }
            Self::Other => {
                "The transaction is in a block, but has not paid this order; see the order's price and data."
            }
        }
    }
}
