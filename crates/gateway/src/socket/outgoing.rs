//! What is on its way to a peer: whole messages in order, long ones in fragments, within a time.
//!
//! Nobody waits for it to be taken but the memory that it is in, which is the caller's share.

use std::{
    collections::VecDeque,
    task::{Context, Poll, ready},
    time::Duration,
};

use access::Subject;
use bytes::Bytes;
use futures_util::SinkExt;
use listen::Charge;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::{
    Message,
    protocol::frame::{
        Frame,
        coding::{Data, OpCode},
    },
};

use super::{Socket, ending::Ending, news::News};
use crate::reply::Reply;

/// Longer messages go out in fragments of this size: the connection's buffer keeps the size of the longest frame.
const FRAGMENT: usize = 16 * 1024;
/// How many times longer than a fragment all messages of an event, or all fragments of an answer, may take.
const WHOLE_PATIENCE: u32 = 4;

/// Something that is written from beginning to end before the next.
enum Item {
    Answer(Answer),
    News(News),
    Ping,
    Done,
}

/// An answer, as far as it is not sent.
struct Answer {
    parts: VecDeque<Bytes>,
    /// Whether the first part is known to be text.
    is_checked: bool,
    kind: Data,
    _charges: Vec<Charge<Subject>>,
}

/// The queue of one peer.
#[derive(Default)]
pub(super) struct Outgoing {
    items: VecDeque<Item>,
    answers: usize,
    is_flushed: bool,
    /// Since when the peer takes nothing, and since when it does not come to the end of the first item.
    stalled: Option<Instant>,
    waiting: Option<Instant>,
}

impl Outgoing {
    /// Queues an answer.
    pub(super) fn answer(&mut self, Reply { body, charges, .. }: Reply) {
        self.answers += 1;
        self.items.push_back(Item::Answer(Answer {
            parts: body.into_parts(),
            is_checked: false,
            kind: Data::Text,
            _charges: charges,
        }));
    }

    /// Queues what is told of an event.
    pub(super) fn news(&mut self, news: News) {
        self.items.push_back(Item::News(news));
    }

    /// Queues a question for a sign of life.
    pub(super) fn ping(&mut self) {
        self.items.push_back(Item::Ping);
    }

    /// Answers that are queued.
    pub(super) fn answers(&self) -> usize {
        self.answers
    }

    /// Whether everything is sent.
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty() && self.is_flushed
    }

    /// When the peer is given up, if it takes nothing until then.
    pub(super) fn deadline(&self, patience: Duration) -> Option<Instant> {
        let stalled = self.stalled.map(|since| since + patience);
        let waiting = self.waiting.map(|since| since + patience * WHOLE_PATIENCE);
        stalled.into_iter().chain(waiting).min()
    }

    /// Writes what the peer takes; ready when there is nothing left, or the first time that it takes no more.
    pub(super) fn poll(&mut self, socket: &mut Socket, cx: &mut Context<'_>) -> Poll<Result<(), Ending>> {
        if self.is_empty() {
            return Poll::Pending;
        }
        let was_stalled = self.stalled.is_some();
        match self.poll_write(socket, cx) {
            Poll::Ready(written) => Poll::Ready(written),
            Poll::Pending => {
                let now = *self.stalled.get_or_insert_with(Instant::now);
                self.waiting.get_or_insert(now);
                if was_stalled { Poll::Pending } else { Poll::Ready(Ok(())) }
            }
        }
    }

    fn poll_write(&mut self, socket: &mut Socket, cx: &mut Context<'_>) -> Poll<Result<(), Ending>> {
        while let Some(item) = self.items.front_mut() {
            ready!(socket.poll_ready_unpin(cx))?;
            match item.next()? {
                Some(message) => {
                    socket.start_send_unpin(message)?;
                    self.is_flushed = false;
                    self.stalled = None;
                }
                None => {
                    let item = self.items.pop_front();
                    self.answers -= usize::from(matches!(item, Some(Item::Answer(_))));
                    self.waiting = None;
                }
            }
        }
        ready!(socket.poll_flush_unpin(cx))?;
        self.is_flushed = true;
        (self.stalled, self.waiting) = (None, None);
        Poll::Ready(Ok(()))
    }
}

impl Item {
    /// The next message or fragment of one.
    fn next(&mut self) -> Result<Option<Message>, Ending> {
        match self {
            Self::Answer(answer) => answer.next(),
            Self::News(news) => Ok(news.next().map(Message::Text)),
            Self::Ping => {
                *self = Self::Done;
                Ok(Some(Message::Ping(Bytes::new())))
            }
            Self::Done => Ok(None),
        }
    }
}

impl Answer {
    fn next(&mut self) -> Result<Option<Message>, Ending> {
        let Some(part) = self.parts.front_mut() else { return Ok(None) };
        // What nodes answer is not ours; a peer would take a wrong byte for our mistake. A part is looked at as a whole, before its first
        // fragment.
        if !self.is_checked {
            std::str::from_utf8(part).map_err(|_| Ending::Protocol)?;
        }
        let fragment = part.split_to(part.len().min(FRAGMENT));
        self.is_checked = !part.is_empty();
        if part.is_empty() {
            self.parts.pop_front();
        }
        let frame = Frame::message(fragment, OpCode::Data(self.kind), self.parts.is_empty());
        self.kind = Data::Continue;
        Ok(Some(Message::Frame(frame)))
    }
}
