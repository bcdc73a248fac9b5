//! From a message to its answer: single requests, batches, notifications, and what is neither.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::{Answer, Params, Request};
use crate::{
    rpc::{error::RpcError, subscriptions::Session},
    workers::Client,
};

/// Requests of a batch after which other connections have a turn.
const BATCH_TURN: usize = 32;

/// Who asks.
pub(crate) struct Caller<'a> {
    /// Whose share of the threads for long work is used.
    pub(crate) client: Client,
    /// Whether a web page asks, through somebody's browser.
    pub(crate) is_page: bool,
    /// The connection that stays, if it is one: methods that push need it.
    pub(crate) session: Option<&'a mut Session>,
}

impl Caller<'_> {
    fn reborrow(&mut self) -> Caller<'_> {
        Caller { client: self.client, is_page: self.is_page, session: self.session.as_deref_mut() }
    }
}

/// The methods behind the transport.
pub(crate) trait Methods: Send + Sync + 'static {
    /// Answers one call by writing its result.
    fn call(
        self: &Arc<Self>,
        method: &str,
        params: Params<'_>,
        caller: Caller<'_>,
        out: &mut Answer,
    ) -> impl Future<Output = Result<(), RpcError>> + Send;

    /// What a new WebSocket starts with.
    fn session(&self) -> Session;

    /// Whether the node can be sent traffic.
    fn is_ready(&self) -> bool;

    /// Most requests in one batch.
    fn max_batch(&self) -> usize;

    /// Most bytes of the answers to one batch.
    fn max_batch_answer_bytes(&self) -> usize;
}

/// An answer and whether it tells of a message that was no request, which HTTP marks with status 400.
pub(crate) struct Reply {
    pub(crate) answer: Answer,
    pub(crate) malformed: bool,
}

/// Answers one message.
pub(crate) async fn answer_message<M: Methods>(
    methods: &Arc<M>,
    message: &[u8],
    mut caller: Caller<'_>,
) -> Reply {
    let mut answer = Answer::new();
    let Ok(text) = std::str::from_utf8(message) else {
        return malformed(RpcError::Parse);
    };
    match text.trim_ascii_start().as_bytes().first() {
        Some(b'{') => match Request::read(text) {
            Ok(request) => answer_request(methods, &request, caller, &mut answer).await,
            Err((id, error)) => {
                // Reading stops at the first fault, so tell bad JSON from a bad request only now.
                let error = if is_json(text) { error } else { RpcError::Parse };
                answer.error(id, &error);
                return Reply { answer, malformed: true };
            }
        },
        Some(b'[') => match serde_json::from_str::<Vec<&RawValue>>(text) {
            Ok(requests) if requests.is_empty() => return malformed(RpcError::InvalidRequest),
            Ok(requests) if requests.len() > methods.max_batch() => {
                answer.error(None, &RpcError::BatchTooLarge);
            }
            Ok(requests) => answer_batch(methods, &requests, &mut caller, &mut answer).await,
            Err(_) => return malformed(RpcError::Parse),
        },
        _ if is_json(text) => return malformed(RpcError::InvalidRequest),
        _ => return malformed(RpcError::Parse),
    }
    Reply { answer, malformed: false }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<&RawValue>(text).is_ok()
}

fn malformed(error: RpcError) -> Reply {
    let mut answer = Answer::new();
    answer.error(None, &error);
    Reply { answer, malformed: true }
}

async fn answer_batch<M: Methods>(
    methods: &Arc<M>,
    requests: &[&RawValue],
    caller: &mut Caller<'_>,
    answer: &mut Answer,
) {
    let (start, most) = (answer.mark(), methods.max_batch_answer_bytes());
    answer.text("[");
    let mut any = false;
    for (position, raw) in requests.iter().enumerate() {
        if position > 0 && position.is_multiple_of(BATCH_TURN) {
            tokio::task::yield_now().await;
        }
        let before = answer.mark();
        if any {
            answer.text(",");
        }
        let separated = answer.mark();
        match Request::read(raw.get()) {
            // Nobody works for answers that are not sent.
            Ok(request) if answer.len() >= most => {
                if request.id.is_some() {
                    answer.error(request.id, &RpcError::BatchAnswerTooLarge);
                }
            }
            Ok(request) => answer_request(methods, &request, caller.reborrow(), answer).await,
            Err((id, error)) => answer.error(id, &error),
        }
        if answer.mark() == separated {
            answer.return_to(before);
        } else {
            any = true;
        }
    }
    answer.text("]");
    if !any {
        answer.return_to(start);
    }
}

async fn answer_request<M: Methods>(
    methods: &Arc<M>,
    request: &Request<'_>,
    caller: Caller<'_>,
    answer: &mut Answer,
) {
    let start = answer.mark();
    if let Some(id) = request.id {
        answer.begin_result(id);
    }
    let outcome = methods.call(&request.method, request.params, caller, answer).await;
    match (request.id, outcome) {
        (None, _) => answer.return_to(start),
        (Some(_), Ok(())) => answer.text("}"),
        (Some(id), Err(error)) => {
            answer.return_to(start);
            answer.error(Some(id), &error);
        }
    }
}
