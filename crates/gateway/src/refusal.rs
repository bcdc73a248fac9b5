//! What the gateway itself answers instead of a result: the error table, once.
//!
//! Every refusal has an HTTP status, a JSON-RPC code and a `data.reason` for programs. Errors of nodes are not here: they
//! are passed on as they came.

use std::{borrow::Cow, time::Duration};

use access::KeyDenied;
use domain::Failure;
use jsonrpc::{ErrorObject, Fault};
use listen::Exhausted;
use serde::Serialize;

use crate::reply::Status;

/// Why a request is not answered with a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The message is not JSON.
    Parse,
    /// The request is JSON and no request.
    Invalid(Fault),
    /// A batch of nothing.
    EmptyBatch,
    /// A batch of too many requests.
    LongBatch {
        /// The most that are allowed.
        most: usize,
    },
    /// The body is too long.
    LongBody {
        /// The most bytes that are allowed.
        most: usize,
    },
    /// The body did not arrive whole.
    BrokenBody,
    /// Whoever asks has not shown that they may.
    Unauthorized(KeyDenied),
    /// The key does not allow it.
    Forbidden {
        /// The permission that is missing.
        required: &'static str,
    },
    /// There is no such method, or none that is offered.
    MethodNotFound,
    /// The method needs a WebSocket.
    SocketOnly,
    /// The parameters are not what the method takes.
    InvalidParams {
        /// What is wrong with them.
        reason: &'static str,
    },
    /// A transaction asks for more gas than one may.
    GasAboveCap {
        /// The most that is passed on.
        cap: u64,
    },
    /// A transaction pays too little for its gas.
    PriceTooLow {
        /// The least price, in wei.
        minimum: u64,
    },
    /// The caller has used up an allowance.
    Limited(Limited),
    /// A filter or subscription more than one caller may have.
    TooMany {
        /// What there are too many of.
        what: &'static str,
        /// The most that are allowed.
        most: usize,
    },
    /// No such filter, or not any more.
    FilterNotFound,
    /// No such subscription.
    SubscriptionNotFound,
    /// No node can answer at the moment.
    Unavailable {
        /// Why.
        reason: &'static str,
    },
    /// No node answered in time.
    TimedOut,
    /// The answer would be longer than we send.
    LongAnswer {
        /// The most bytes that are sent.
        most: usize,
    },
}

/// An allowance that is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limited {
    /// What is counted: `requests`, `units`, `concurrency`, `bytes` or `sockets`.
    pub(crate) scope: &'static str,
    /// How many are allowed in a window, or at a time.
    pub(crate) limit: u64,
    /// The window; zero for what is counted at a time.
    pub(crate) window: Duration,
    /// When the next one is allowed.
    pub(crate) retry_after: Duration,
}

#[derive(Serialize)]
struct Reason {
    reason: &'static str,
}

#[derive(Serialize)]
struct Required {
    reason: &'static str,
    required: &'static str,
}

#[derive(Serialize)]
struct Most {
    reason: &'static str,
    most: usize,
}

#[derive(Serialize)]
struct Cap {
    reason: &'static str,
    cap: u64,
}

#[derive(Serialize)]
struct Minimum {
    reason: &'static str,
    #[serde(rename = "minGasPriceWei")]
    min_gas_price_wei: String,
}

#[derive(Serialize)]
struct LimitData {
    reason: &'static str,
    scope: &'static str,
    limit: u64,
    #[serde(rename = "windowSeconds")]
    window_seconds: u64,
    #[serde(rename = "retryAfterMs")]
    retry_after_ms: u64,
}

impl Refusal {
    /// The HTTP status, if the refusal is all that is answered.
    pub(crate) fn status(&self) -> Status {
        match self {
            Self::Parse | Self::Invalid(_) | Self::EmptyBatch | Self::LongBatch { .. } | Self::BrokenBody => {
                Status::BadRequest
            }
            Self::LongBody { .. } => Status::TooLarge,
            Self::Unauthorized(_) => Status::Unauthorized,
            Self::Forbidden { .. } => Status::Forbidden,
            Self::Limited(_) => Status::Limited,
            Self::Unavailable { .. } => Status::Unavailable,
            Self::TimedOut => Status::TimedOut,
            Self::MethodNotFound
            | Self::SocketOnly
            | Self::InvalidParams { .. }
            | Self::GasAboveCap { .. }
            | Self::PriceTooLow { .. }
            | Self::TooMany { .. }
            | Self::FilterNotFound
            | Self::SubscriptionNotFound
            | Self::LongAnswer { .. } => Status::Ok,
        }
    }

    /// When to try again, if that is known.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Limited(limited) => Some(limited.retry_after),
            Self::Unavailable { .. } => Some(Duration::from_secs(1)),
            Self::Parse
            | Self::Invalid(_)
            | Self::EmptyBatch
            | Self::LongBatch { .. }
            | Self::LongBody { .. }
            | Self::BrokenBody
            | Self::Unauthorized(_)
            | Self::Forbidden { .. }
            | Self::MethodNotFound
            | Self::SocketOnly
            | Self::InvalidParams { .. }
            | Self::GasAboveCap { .. }
            | Self::PriceTooLow { .. }
            | Self::TooMany { .. }
            | Self::FilterNotFound
            | Self::SubscriptionNotFound
            | Self::TimedOut
            | Self::LongAnswer { .. } => None,
        }
    }

    /// The JSON-RPC code.
    pub(crate) fn code(&self) -> i64 {
        match self {
            Self::Parse => -32700,
            Self::Invalid(_)
            | Self::EmptyBatch
            | Self::LongBatch { .. }
            | Self::LongBody { .. }
            | Self::BrokenBody => -32600,
            Self::Unauthorized(_) => -40100,
            Self::Forbidden { .. } | Self::SocketOnly => -32604,
            Self::MethodNotFound => -32601,
            // Not -32005, which clients answer by asking again.
            Self::InvalidParams { .. } | Self::LongAnswer { .. } => -32602,
            Self::Limited(_) | Self::TooMany { .. } => -32005,
            Self::GasAboveCap { .. } | Self::FilterNotFound | Self::SubscriptionNotFound => -32000,
            // Besu's.
            Self::PriceTooLow { .. } => -32009,
            // Not -32603, after which clients send a transaction again.
            Self::Unavailable { .. } | Self::TimedOut => -32002,
        }
    }

    /// The error object.
    pub(crate) fn error(&self) -> ErrorObject {
        let error = ErrorObject::new(self.code(), self.message());
        let reason = |reason| Reason { reason };
        match self {
            Self::Parse => error.with_data(&reason("not_json")),
            Self::Invalid(fault) => error.with_data(&reason(fault.reason())),
            Self::EmptyBatch => error.with_data(&reason("empty_batch")),
            Self::LongBatch { most } => error.with_data(&Most { reason: "long_batch", most: *most }),
            Self::LongBody { most } => error.with_data(&Most { reason: "long_body", most: *most }),
            Self::BrokenBody => error.with_data(&reason("broken_body")),
            Self::Unauthorized(why) => error.with_data(&reason(why.reason())),
            Self::Forbidden { required } => {
                error.with_data(&Required { reason: "permission_missing", required })
            }
            Self::MethodNotFound => error.with_data(&reason("method_not_found")),
            Self::SocketOnly => error.with_data(&reason("websocket_required")),
            Self::InvalidParams { reason: why } | Self::Unavailable { reason: why } => {
                error.with_data(&reason(*why))
            }
            Self::GasAboveCap { cap } => {
                error.with_data(&Cap { reason: "exceeds_transaction_gas_cap", cap: *cap })
            }
            Self::PriceTooLow { minimum } => error
                .with_data(&Minimum { reason: "gas_price_too_low", min_gas_price_wei: minimum.to_string() }),
            Self::Limited(limited) => error.with_data(&limited.data()),
            Self::TooMany { what, most } => error.with_data(&Most { reason: what, most: *most }),
            Self::FilterNotFound => error.with_data(&reason("filter_not_found")),
            Self::SubscriptionNotFound => error.with_data(&reason("subscription_not_found")),
            Self::TimedOut => error.with_data(&reason("timeout")),
            Self::LongAnswer { most } => error.with_data(&Most { reason: "long_answer", most: *most }),
        }
    }

    fn message(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Parse => "Parse error",
            Self::Invalid(_) | Self::BrokenBody => "Invalid Request",
            Self::EmptyBatch => "Invalid Request: the batch is empty",
            Self::LongBatch { .. } => "Invalid Request: the batch is too long",
            Self::LongBody { .. } => "Invalid Request: the body is too long",
            Self::Unauthorized(why) => return format!("Unauthorized: {}", why.detail()).into(),
            Self::Forbidden { .. } => "The API key lacks a permission",
            Self::MethodNotFound => "Method not found",
            Self::SocketOnly => "Method not enabled: it needs a WebSocket",
            Self::InvalidParams { .. } => "Invalid params",
            Self::GasAboveCap { cap } => {
                return format!("Transaction gas limit exceeds transaction gas cap of {cap}").into();
            }
            Self::PriceTooLow { .. } => "Gas price below configured minimum gas price",
            Self::Limited(_) => "Limit exceeded: ask again later",
            Self::TooMany { .. } => "Limit exceeded: remove one before adding another",
            Self::FilterNotFound => "Filter not found",
            Self::SubscriptionNotFound => "Subscription not found",
            Self::Unavailable { .. } => "No node can answer at the moment",
            Self::TimedOut => "No node answered in time",
            Self::LongAnswer { .. } => {
                "The answer is too long: ask for less, such as a shorter range of blocks"
            }
        })
    }
}

impl From<Exhausted> for Refusal {
    fn from(exhausted: Exhausted) -> Self {
        match exhausted {
            Exhausted::Party(most) => Self::Limited(Limited {
                scope: "bytes",
                limit: most as u64,
                window: Duration::ZERO,
                retry_after: Duration::from_secs(1),
            }),
            Exhausted::All(_) => Self::Unavailable { reason: "overloaded" },
        }
    }
}

impl Limited {
    fn data(self) -> LimitData {
        LimitData {
            reason: "rate_limited",
            scope: self.scope,
            limit: self.limit,
            window_seconds: self.window.as_secs(),
            retry_after_ms: u64::try_from(self.retry_after.as_millis()).unwrap_or(u64::MAX),
        }
    }
}
