//! An answer on its way out: a status, and bytes in one or more pieces.

use std::time::Duration;

use access::{Allowance, Subject};
use jsonrpc::Answer;
use listen::{Charge, Pieces, StatusCode};

use crate::refusal::Refusal;

/// What came of a message, in HTTP's terms. A WebSocket has no use for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Status {
    /// It was answered, perhaps with errors.
    Ok,
    /// It is no request.
    BadRequest,
    /// The caller is not let in.
    Unauthorized,
    /// The caller lacks a permission.
    Forbidden,
    /// It is too long.
    TooLarge,
    /// The caller has used up an allowance.
    Limited,
    /// No node can answer.
    Unavailable,
    /// No node answered in time.
    TimedOut,
}

impl Status {
    /// As HTTP has it.
    pub(crate) fn code(self) -> StatusCode {
        match self {
            Self::Ok => StatusCode::OK,
            Self::BadRequest => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Limited => StatusCode::TOO_MANY_REQUESTS,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Self::TimedOut => StatusCode::GATEWAY_TIMEOUT,
        }
    }
}

/// The answer to one message.
#[derive(Debug)]
pub(crate) struct Reply {
    /// What came of it.
    pub(crate) status: Status,
    /// The JSON; empty if the message was nothing but notifications.
    pub(crate) body: Pieces,
    /// When to try again, if it was refused for now.
    pub(crate) retry_after: Option<Duration>,
    /// What is left of the caller's allowance.
    pub(crate) allowance: Option<Allowance>,
    /// What the caller is charged for it until it is sent.
    pub(crate) charges: Vec<Charge<Subject>>,
}

impl Reply {
    /// The answer to a message that is refused as a whole.
    pub(crate) fn refused(id: Option<&str>, refusal: &Refusal) -> Self {
        let mut out = Vec::with_capacity(192);
        jsonrpc::write_error(&mut out, id, &refusal.error());
        Self {
            status: refusal.status(),
            body: out.into(),
            retry_after: refusal.retry_after(),
            allowance: None,
            charges: Vec::new(),
        }
    }

    /// An answer.
    pub(crate) fn answered(body: Pieces, charges: Vec<Charge<Subject>>) -> Self {
        Self { status: Status::Ok, body, retry_after: None, allowance: None, charges }
    }

    /// No answer, to notifications.
    pub(crate) fn nothing() -> Self {
        Self::answered(Pieces::default(), Vec::new())
    }
}

/// Writes the answer to one request.
pub(crate) fn write_answer(out: &mut Pieces, id: &str, answer: Answer) {
    out.own().reserve(id.len() + 48);
    let json = match answer {
        Answer::Result(result) => {
            jsonrpc::write_result(out.own(), id);
            result
        }
        Answer::Error(error) => {
            jsonrpc::write_error_start(out.own(), Some(id));
            error
        }
    };
    out.share(json);
    jsonrpc::write_end(out.own());
}

/// Writes the refusal of one request.
pub(crate) fn write_refusal(out: &mut Pieces, id: Option<&str>, refusal: &Refusal) {
    jsonrpc::write_error(out.own(), id, &refusal.error());
}
