//! From a message to its reply: single requests, batches, notifications, and what is neither.

use access::Subject;
use futures_util::{StreamExt, stream::FuturesOrdered};
use jsonrpc::{Answer, BadRequest, Message, Params, Request, Unreadable};
use listen::{Charge, Pieces};
use tokio::time::Instant;

use crate::{
    caller::Caller,
    gateway::Gateway,
    head::Served,
    local::NO_HEAD,
    method::{self, Class, Known},
    metrics::Way,
    refusal::Refusal,
    reply::{Reply, write_answer, write_refusal},
    socket::Session,
};

/// Where a message came from: methods that push need a connection that stays.
#[derive(Clone, Copy)]
pub(crate) enum Origin<'a> {
    /// A request over HTTP.
    Http,
    /// A message over a WebSocket.
    Socket {
        /// The subscriptions of that socket.
        session: &'a Session,
        /// The number of the message on it.
        message: u64,
    },
}

/// An answer, and what the caller is charged for it as long as it is kept.
type Charged = (Answer, Option<Charge<Subject>>);

/// What the requests of one message have in common.
struct Context<'a> {
    caller: &'a Caller,
    origin: Origin<'a>,
    /// The head while the message is answered: all its requests see one block.
    head: Option<&'a Served>,
}

impl Gateway {
    /// Answers one message.
    pub(crate) async fn answer(&self, caller: &Caller, origin: Origin<'_>, message: &[u8]) -> Reply {
        let message = jsonrpc::read_message(message, self.config.limits.max_batch);
        if let Ok(message) = &message {
            self.prepare(caller, message).await;
        }
        let head = self.head.get();
        let context = Context { caller, origin, head: head.as_deref() };
        let mut reply = match message {
            Ok(Message::Single(Ok(request))) => self.answer_single(&context, &request).await,
            Ok(Message::Single(Err(bad))) => {
                self.refuse_message(caller, bad.id, Refusal::Invalid(bad.fault)).await
            }
            // What is rare is boxed, so that connections stay small.
            Ok(Message::Batch(requests)) => Box::pin(self.answer_batch(&context, &requests)).await,
            Err(unreadable) => self.refuse_message(caller, None, unreadable.into()).await,
        };
        reply.allowance = caller.allowance();
        reply
    }

    /// Refuses a message that is no request; it counts as one all the same.
    async fn refuse_message(&self, caller: &Caller, id: Option<&str>, refusal: Refusal) -> Reply {
        let refusal = self.charge(caller, 1).await.err().unwrap_or(refusal);
        self.metrics.refused(None, &refusal);
        Reply::refused(id, &refusal)
    }

    async fn answer_single(&self, context: &Context<'_>, request: &Request<'_>) -> Reply {
        match (self.answer_request(context, request).await, request.id) {
            (_, None) => Reply::nothing(),
            (Ok((answer, charge)), Some(id)) => {
                let mut out = Pieces::with_capacity(192);
                write_answer(&mut out, id, answer);
                Reply::answered(out, charge.into_iter().collect())
            }
            (Err(refusal), Some(id)) => Reply::refused(Some(id), &refusal),
        }
    }

    async fn answer_batch(
        &self,
        context: &Context<'_>,
        requests: &[Result<Request<'_>, BadRequest<'_>>],
    ) -> Reply {
        let most = self.config.limits.max_answer_bytes;
        let mut out = Pieces::with_capacity(requests.len() * 128);
        let mut charges = Vec::new();
        let mut waiting = requests.iter();
        let mut under_way = FuturesOrdered::new();
        loop {
            while under_way.len() < self.config.limits.batch_parallel.max(1)
                && let Some(request) = waiting.next()
            {
                under_way.push_back(self.answer_element(context, request));
            }
            let Some((id, answer, is_wanted)) = under_way.next().await else { break };
            if !is_wanted {
                continue;
            }
            let opening = if out.is_empty() { b'[' } else { b',' };
            out.own().push(opening);
            match (answer, id) {
                (Ok((answer, charge)), Some(id)) if out.len() + length(&answer) <= most => {
                    write_answer(&mut out, id, answer);
                    charges.extend(charge);
                }
                (Ok(_), _) => write_refusal(&mut out, id, &Refusal::LongAnswer { most }),
                (Err(refusal), _) => write_refusal(&mut out, id, &refusal),
            }
        }
        if out.is_empty() {
            return Reply::nothing();
        }
        out.own().push(b']');
        Reply::answered(out, charges)
    }

    /// Answers one element of a batch: its id, the answer, and whether anybody wants it.
    async fn answer_element<'a>(
        &self,
        context: &Context<'_>,
        element: &Result<Request<'a>, BadRequest<'a>>,
    ) -> (Option<&'a str>, Result<Charged, Refusal>, bool) {
        match element {
            Ok(request) => (request.id, self.answer_request(context, request).await, request.id.is_some()),
            Err(bad) => {
                let charged = self.charge(context.caller, 1).await;
                let refusal = charged.err().unwrap_or(Refusal::Invalid(bad.fault));
                self.metrics.refused(None, &refusal);
                (bad.id, Err(refusal), true)
            }
        }
    }

    /// Answers one request, counted against the caller's limits before anything else.
    async fn answer_request(&self, context: &Context<'_>, request: &Request<'_>) -> Result<Charged, Refusal> {
        let known = method::find(&request.method);
        // What takes no time is not worth the time to measure it.
        let is_local = known.is_none_or(|known| matches!(known.method.class, Class::Local(_)));
        let started = (!is_local).then(Instant::now);
        let charged = self.charge(context.caller, known.map_or(1, |known| known.method.units)).await;
        let outcome = match (charged, known) {
            (Err(refusal), _) => Err(refusal),
            (Ok(()), None) => Err(Refusal::MethodNotFound),
            (Ok(()), Some(known)) => self.answer_known(context, known, request.params).await,
        };
        // A long answer waits for others of its batch, and then for the caller: it is charged from here on.
        let charged =
            outcome.and_then(|(answer, way)| Ok((self.hold(context.caller, &answer)?, answer, way)));
        match charged {
            Ok((charge, answer, way)) => {
                self.metrics.answered(known, way, &answer, started);
                Ok((answer, charge))
            }
            Err(refusal) => {
                self.metrics.refused(known, &refusal);
                Err(refusal)
            }
        }
    }

    async fn answer_known(
        &self,
        context: &Context<'_>,
        known: Known,
        params: Params<'_>,
    ) -> Result<(Answer, Way), Refusal> {
        let class = known.method.class;
        if let Class::Local(local) = class {
            let result = self.local.answer(local, context.head)?;
            return Ok((Answer::Result(result), Way::Local));
        }
        let (caller, head) = (context.caller, context.head.ok_or(NO_HEAD)?);
        match class {
            Class::Logs => {
                let _place = self.enter(caller)?;
                Box::pin(self.get_logs(known, params, head)).await
            }
            Class::Send => {
                let _place = self.enter(caller)?;
                Ok((self.send(known, params, head).await?, Way::Passed))
            }
            Class::Filter(call) => {
                let _place = self.enter(caller)?;
                Box::pin(self.filter(caller, call, params, head)).await
            }
            Class::Session(call) => match context.origin {
                Origin::Http => Err(Refusal::SocketOnly),
                Origin::Socket { session, message } => {
                    let result = session.answer(message, call, params).await?;
                    Ok((Answer::Result(result), Way::Local))
                }
            },
            Class::State { .. }
            | Class::Block { .. }
            | Class::Hash(_)
            | Class::Head
            | Class::Pure
            | Class::Local(_) => self.read_for(caller, known, params, head).await,
        }
    }
}

fn length(answer: &Answer) -> usize {
    let (Answer::Result(json) | Answer::Error(json)) = answer;
    json.len()
}

impl From<Unreadable> for Refusal {
    fn from(unreadable: Unreadable) -> Self {
        match unreadable {
            Unreadable::Json => Self::Parse,
            Unreadable::EmptyBatch => Self::EmptyBatch,
            Unreadable::LongBatch { most } => Self::LongBatch { most },
        }
    }
}
