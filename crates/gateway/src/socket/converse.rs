//! One WebSocket: messages in, answers and events out, in one task.
//!
//! Messages are answered side by side, a few at a time; beyond that the peer is not read. Everything goes out through one
//! hand: while it writes, events queue up in the hub's channels, which are bounded, and a peer that lets them overflow or
//! does not take a message in time is closed.

use std::{pin::Pin, time::Duration};

use bytes::Bytes;
use futures_util::{StreamExt, stream::FuturesUnordered};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::{Instant, MissedTickBehavior},
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{self, Message},
};

use super::{
    ending::Ending,
    listening::{Heard, Listening},
    outgoing::{event, feed, flush, send_json},
    seats::Seat,
    session::{Session, Topic},
};
use crate::{answer::Origin, gateway::Gateway};

/// How often a peer is asked whether it is still there.
const PING_PERIOD: Duration = Duration::from_secs(25);
/// Silence after which a peer is taken for lost.
const LOST_AFTER: Duration = Duration::from_secs(60);
/// How long a peer may stay that neither asks nor has subscribed to anything.
const IDLE: Duration = Duration::from_secs(30 * 60);
/// How many times longer than one message all messages of an event may take.
const EVENT_PATIENCE: u32 = 4;

/// A message under way: its number, and its answer in the end.
type Answering<'a> = Pin<Box<dyn Future<Output = (u64, Bytes)> + Send + 'a>>;

/// The state of one conversation.
pub(super) struct Conversation<'a, S> {
    gateway: &'a Gateway,
    seat: &'a Seat,
    socket: &'a mut WebSocketStream<S>,
    session: &'a Session,
    listening: Listening,
    answering: FuturesUnordered<Answering<'a>>,
    messages: u64,
    last_heard: Instant,
    last_asked: Instant,
}

impl<'a, S> Conversation<'a, S>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    pub(super) fn new(
        gateway: &'a Gateway,
        seat: &'a Seat,
        socket: &'a mut WebSocketStream<S>,
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
            let step = tokio::select! {
                message = self.socket.next(), if self.answering.len() < most => self.take(message),
                Some((number, answer)) = self.answering.next() => self.reply(number, answer).await,
                heard = self.listening.next() => match heard {
                    Ok(heard) => self.tell_in_time(heard).await,
                    Err(ending) => Err(ending),
                },
                _ = ticks.tick() => self.tick().await,
            };
            if let Err(ending) = step {
                return ending;
            }
        }
    }

    fn patience(&self) -> Duration {
        self.gateway.config.limits.transfer_timeout
    }

    fn take(&mut self, message: Option<Result<Message, tungstenite::Error>>) -> Result<(), Ending> {
        self.last_heard = Instant::now();
        let message = match message.ok_or(Ending::Gone)?? {
            Message::Text(text) => Bytes::from(text),
            Message::Binary(bytes) => bytes,
            Message::Close(_) => return Err(Ending::Gone),
            // Pings are answered by the library.
            Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => return Ok(()),
        };
        self.last_asked = self.last_heard;
        self.messages += 1;
        let (gateway, caller, session) = (self.gateway, self.seat.caller(), self.session);
        let number = self.messages;
        self.answering.push(Box::pin(async move {
            let origin = Origin::Socket { session, message: number };
            let reply = gateway.answer(caller, origin, &message).await;
            (number, reply.into_bytes())
        }));
        Ok(())
    }

    async fn reply(&mut self, message: u64, answer: Bytes) -> Result<(), Ending> {
        // Events are heard from before the peer knows that it has subscribed, and sent after.
        let wanted = self.session.begin(message);
        self.listening.tune(wanted, &self.gateway.hub, self.session);
        if answer.is_empty() {
            return Ok(());
        }
        let patience = self.patience();
        send_json(self.socket, answer, patience).await
    }

    /// A block may be thousands of messages, and is kept in memory until the last one is sent.
    async fn tell_in_time(&mut self, heard: Heard) -> Result<(), Ending> {
        let patience = self.patience() * EVENT_PATIENCE;
        tokio::time::timeout(patience, self.tell(heard)).await.unwrap_or(Err(Ending::TooSlow))
    }

    async fn tell(&mut self, heard: Heard) -> Result<(), Ending> {
        match heard {
            Heard::Head(head) => {
                for (id, ()) in self.session.pick(|topic| matches!(topic, Topic::Heads).then_some(())) {
                    self.queue(id, head.json()).await?;
                }
            }
            Heard::Logs(logs) => {
                let filters = self.session.pick(|topic| match topic {
                    Topic::Logs(filter) => Some(filter.clone()),
                    Topic::Heads | Topic::Pending | Topic::Syncing => None,
                });
                for (id, filter) in filters {
                    for log in logs.matching(&filter) {
                        self.queue(id, log).await?;
                    }
                }
            }
            Heard::Pool(batch) => {
                for (id, ()) in self.session.pick(|topic| matches!(topic, Topic::Pending).then_some(())) {
                    for hash in batch.hashes() {
                        self.queue(id, hash).await?;
                    }
                }
            }
        }
        let patience = self.patience();
        flush(self.socket, patience).await
    }

    async fn queue(&mut self, id: u64, result: &str) -> Result<(), Ending> {
        let patience = self.patience();
        feed(self.socket, Message::Text(event(id, result)), patience).await
    }

    async fn tick(&mut self) -> Result<(), Ending> {
        if self.last_heard.elapsed() > LOST_AFTER {
            return Err(Ending::Gone);
        }
        let is_busy = !self.answering.is_empty() || !self.session.is_empty();
        if !is_busy && self.last_asked.elapsed() > IDLE {
            return Err(Ending::Idle);
        }
        let patience = self.patience();
        feed(self.socket, Message::Ping(Bytes::new()), patience).await?;
        flush(self.socket, patience).await
    }
}
