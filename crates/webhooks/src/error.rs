//! Why something about webhooks is refused.

use std::borrow::Cow;

use domain::{Failure, FailureKind};
use store::StoreError;

use crate::{
    guard::UrlRefusal,
    secret::{SealError, UnsealError},
};

/// Why something about webhooks is refused.
#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
    /// The URL must not be sent to.
    #[error("the URL is refused")]
    UrlBlocked(#[source] UrlRefusal),
    /// The fee for the first URL is not paid.
    #[error("the fee is not paid")]
    FeeUnpaid,
    /// The wallet has no webhook.
    #[error("the wallet has no webhook")]
    NotConfigured,
    /// The wallet has no such delivery.
    #[error("there is no such delivery")]
    DeliveryNotFound,
    /// The delivery is so old that it was deleted.
    #[error("the delivery was deleted")]
    DeliveryPruned,
    /// Too many tests.
    #[error("too many tests")]
    Limited {
        /// Seconds until the next may be made.
        retry_after: u64,
    },
    /// A secret cannot be sealed.
    #[error("a secret cannot be sealed")]
    Seal(#[from] SealError),
    /// A secret cannot be opened.
    #[error("a secret cannot be opened")]
    Unseal(#[from] UnsealError),
    /// The database failed.
    #[error("the database failed")]
    Store(#[from] StoreError),
}

impl Failure for WebhookError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::UrlBlocked(_) => FailureKind::Invalid,
            Self::FeeUnpaid | Self::NotConfigured => FailureKind::Conflict,
            Self::DeliveryNotFound | Self::DeliveryPruned => FailureKind::NotFound,
            Self::Limited { .. } => FailureKind::Limited,
            Self::Seal(_) | Self::Unseal(_) => FailureKind::Internal,
            Self::Store(error) => error.kind(),
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::UrlBlocked(_) => "webhook_url_blocked",
            Self::FeeUnpaid => "payment_required",
            Self::NotConfigured => "webhook_not_configured",
            Self::DeliveryNotFound => "delivery_not_found",
            Self::DeliveryPruned => "delivery_pruned",
            Self::Limited { .. } => "rate_limited",
            Self::Seal(_) | Self::Unseal(_) => "internal_error",
            Self::Store(error) => error.code(),
        }
    }

    fn detail(&self) -> Cow<'static, str> {
        match self {
            Self::UrlBlocked(refusal) => format!("The webhook cannot be sent there: {refusal}.").into(),
            Self::FeeUnpaid => {
                "Saving the first webhook URL costs 1 coin. Pay the order, then repeat the request.".into()
            }
            Self::NotConfigured => "The wallet has no webhook; save a URL first.".into(),
            Self::DeliveryNotFound => "The wallet has no delivery with this id.".into(),
            Self::DeliveryPruned => "Deliveries are kept for 30 days; this one is gone.".into(),
            Self::Limited { .. } => "A webhook can be tested 10 times in a minute.".into(),
            Self::Seal(_) | Self::Unseal(_) => "Our fault.".into(),
            Self::Store(error) => error.detail(),
        }
    }
}
