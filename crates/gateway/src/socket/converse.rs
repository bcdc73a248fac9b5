//! One WebSocket: messages in, answers and events out, in one task.
//!
//! Messages are answered side by side, a few at a time; beyond that the peer is not read. Answering does not wait for the peer to take
//! what was answered before: a request's places, here and at a node, are given back when it is answered. What is to be sent is queued, the
//! answers of as many messages as are taken at a time and one event; further events queue up in the hub's channels, which are bounded. A peer
//! that lets them overflow, or does not take what is queued in time, is closed.

use std::{
    future::{self, poll_fn},
    pin::Pin,
    task::Poll,
    time::Duration,
};

use bytes::Bytes;
use futures_util::{StreamExt, stream::FuturesUnordered};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_tungstenite::tungstenite::Message;

use super::{
    Socket, ending::Ending, listening::Listening, news::News, outgoing::Outgoing, seats::Seat,
    session::Session,
};
use crate::{answer::Origin, gateway::Gateway, reply::Reply};

/// How often a peer is asked whether it is still there.
const PING_PERIOD: Duration = Duration::from_secs(25);
/// Silence after which a peer is taken for lost.
const LOST_AFTER: Duration = Duration::from_secs(60);
/// How long a peer may stay that neither asks nor has subscribed to anything.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// A message under way: its number, and its answer in the end.
type Answering<'a> = Pin<Box<dyn Future<Output = (u64, Reply)> + Send + 'a>>;

/// The state of one conversation.
pub(super) struct Conversation<'a> {
    gateway: &'a Gateway,
    seat: &'a Seat,
    socket: &'a mut Socket,
    session: &'a Session,
    listening: Listening,
    answering: FuturesUnordered<Answering<'a>>,
    outgoing: Outgoing,
    messages: u64,
    last_heard: Instant,
    last_asked: Instant,
}

impl<'a> Conversation<'a> {
    pub(super) fn new(
        gateway: &'a Gateway,
        seat: &'a Seat,
        socket: &'a mut Socket,
        session: &'a Session,
    ) -> Self {
        let now = Instant::now();
        Self {
            gateway,
            seat,
            socket,
            session,
            listening: Listening::default(),
            answering: FuturesUnordered::new(),
            outgoing: Outgoing::default(),
            messages: 0,
            last_heard: now,
            last_asked: now,
        }
    }

    /// Talks until one side has had enough.
    pub(super) async fn run(mut self) -> Ending {
        let mut ticks = tokio::time::interval_at(Instant::now() + PING_PERIOD, PING_PERIOD);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let most = self.gateway.config.limits.max_socket_messages.max(1);
        loop {
            let is_read = self.answering.len() + self.outgoing.answers() < most;
            let deadline = self.outgoing.deadline(self.patience());
            let step = tokio::select! {
                read = exchange(self.socket, &mut self.outgoing, is_read) => match read {
                    Ok(Some(message)) => self.take(message),
                    Ok(None) => Ok(()),
                    Err(ending) => Err(ending),
                },
                Some((number, answer)) = self.answering.next() => {
                    self.reply(number, answer);
                    Ok(())
                }
                heard = self.listening.next(), if self.outgoing.is_empty() => {
                    heard.map(|heard| self.outgoing.news(News::new(heard, self.session)))
                }
                () = reached(deadline) => self.check_pace(),
                _ = ticks.tick() => self.tick(),
            };
            if let Err(ending) = step {
                return ending;
            }
        }
    }

    fn patience(&self) -> Duration {
        self.gateway.config.limits.transfer_timeout
    }

    fn take(&mut self, message: Message) -> Result<(), Ending> {
        self.last_heard = Instant::now();
        let message = match message {
            Message::Text(text) => Bytes::from(text),
            Message::Binary(bytes) => bytes,
            Message::Close(_) => return Err(Ending::Gone),
            // Pings are answered by the library.
            Message::Ping(payload) | Message::Pong(payload) => {
                self.socket.get_mut().skip_control(payload.len());
                return Ok(());
            }
            Message::Frame(_) => return Ok(()),
        };
        self.last_asked = self.last_heard;
        self.messages += 1;
        let (gateway, caller, session) = (self.gateway, self.seat.caller(), self.session);
        let (number, charge) = (self.messages, self.socket.get_mut().finish());
        self.answering.push(Box::pin(async move {
            let origin = Origin::Socket { session, message: number };
            let reply = gateway.answer(caller, origin, &message).await;
            drop(charge);
            (number, reply)
        }));
        Ok(())
    }

    fn reply(&mut self, message: u64, reply: Reply) {
        // Events are heard from before the peer knows that it has subscribed, and sent after.
        let wanted = self.session.begin(message);
        self.listening.tune(wanted, &self.gateway.hub, self.session);
        if !reply.body.is_empty() {
            self.outgoing.answer(reply);
        }
    }

    /// The peer may have gone on just now.
    fn check_pace(&self) -> Result<(), Ending> {
        let deadline = self.outgoing.deadline(self.patience());
        if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            Err(Ending::TooSlow)
        } else {
            Ok(())
        }
    }

    fn tick(&mut self) -> Result<(), Ending> {
        if self.last_heard.elapsed() > LOST_AFTER {
            return Err(Ending::Gone);
        }
        let patience = self.patience();
        if self.socket.get_ref().unfinished_since().is_some_and(|since| since.elapsed() > patience) {
            return Err(Ending::Unfinished);
        }
        let is_busy = !self.answering.is_empty() || !self.session.is_empty();
        if !is_busy && self.last_asked.elapsed() > IDLE {
            return Err(Ending::Idle);
        }
        // Whoever does not take what is queued is found out by that.
        if self.outgoing.is_empty() {
            self.outgoing.ping();
        }
        Ok(())
    }
}

/// Writes what is queued and reads a message, if one is wanted; nothing whenever there may be something else to do.
async fn exchange(
    socket: &mut Socket,
    outgoing: &mut Outgoing,
    is_read: bool,
) -> Result<Option<Message>, Ending> {
    poll_fn(|cx| {
        if let Poll::Ready(written) = outgoing.poll(socket, cx) {
            return Poll::Ready(written.map(|()| None));
        }
        if !is_read {
            return Poll::Pending;
        }
        socket.poll_next_unpin(cx).map(|message| match message {
            Some(message) => Ok(Some(message?)),
            None => Err(Ending::Gone),
        })
    })
    .await
}

/// Waits for a moment, if there is one.
async fn reached(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => future::pending().await,
    }
}
