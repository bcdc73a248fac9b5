//! Timeouts of a connection at the cost of one timer per connection instead of several per request: the conversation notes what it
//! waits for, and a watch looks at the note now and then.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use tokio::time::Instant;

use crate::Manners;

const BODY: u64 = 1 << 62;
const WORK: u64 = 2 << 62;
const SEND: u64 = 3 << 62;
const COUNT: u64 = BODY - 1;

/// What a connection waits for.
#[derive(Default)]
pub(crate) struct Watch {
    /// How often it has changed in the low bits, the phase in the top two (none: idle, or sending a short answer). Since when is seen by whoever looks:
    /// to note the time would be to read a clock several times per request.
    note: AtomicU64,
}

/// Why a connection is given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Overdue {
    #[error("the request body did not arrive in time")]
    Body,
    #[error("nothing of a long answer was taken for too long")]
    Send,
    #[error("no request came, or the answer was not taken, for too long")]
    Idle,
}

impl Watch {
    /// A request's head is in; its body is awaited.
    pub(crate) fn awaits_body(&self) {
        self.set(BODY);
    }

    /// We work on a request, which takes as long as it takes.
    pub(crate) fn works(&self) {
        self.set(WORK);
    }

    /// A part of a long answer is about to be sent.
    pub(crate) fn sends(&self) {
        self.set(SEND);
    }

    /// The next move is the caller's: taking the answer, then asking again.
    pub(crate) fn awaits_caller(&self) {
        self.set(0);
    }

    fn set(&self, phase: u64) {
        // Only the conversation writes.
        let changes = (self.note.load(Ordering::Relaxed) & COUNT) + 1;
        self.note.store(phase | (changes & COUNT), Ordering::Relaxed);
    }

    /// Resolves when the caller has kept us waiting too long, or a quarter longer than that.
    pub(crate) async fn overdue(&self, manners: &Manners) -> Overdue {
        let period = manners.transfer_timeout.min(manners.idle_timeout) / 8;
        let (mut seen, mut since) = (self.note.load(Ordering::Relaxed), Instant::now());
        loop {
            tokio::time::sleep(period.max(Duration::from_millis(5))).await;
            let note = self.note.load(Ordering::Relaxed);
            if note != seen {
                (seen, since) = (note, Instant::now());
            }
            let waited = since.elapsed();
            let (limit, reason) = match note & SEND {
                BODY => (manners.transfer_timeout, Overdue::Body),
                SEND => (manners.transfer_timeout, Overdue::Send),
                WORK => continue,
                _ => (manners.idle_timeout, Overdue::Idle),
            };
            if waited > limit {
                return reason;
            }
        }
    }
}
