//! The open WebSockets: how many each caller has, and who has to go because a key was taken back.

use std::{collections::HashMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::{
    caller::Caller,
    refusal::{Limited, Refusal},
};

/// A caller on an open WebSocket.
pub(crate) struct Seat {
    caller: Caller,
    owner: String,
    dismissed: Notify,
}

impl Seat {
    pub(super) fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Waits until the caller may not stay.
    pub(super) async fn dismissed(&self) {
        self.dismissed.notified().await;
    }
}

#[derive(Default)]
struct Taken {
    last: u64,
    seats: HashMap<u64, Arc<Seat>>,
    by_owner: HashMap<String, usize>,
}

/// All open WebSockets.
pub(crate) struct Seats {
    most: usize,
    taken: Mutex<Taken>,
}

/// A seat that is taken, given back when dropped.
pub(crate) struct TakenSeat {
    seats: Arc<Seats>,
    number: u64,
    seat: Arc<Seat>,
}

impl TakenSeat {
    pub(super) fn seat(&self) -> &Seat {
        &self.seat
    }
}

impl Seats {
    /// Room for this many WebSockets of each caller.
    pub(crate) fn new(most: usize) -> Self {
        Self { most, taken: Mutex::default() }
    }

    /// Takes a seat for a caller, unless they have as many as they may.
    pub(crate) fn take(self: &Arc<Self>, caller: Caller) -> Result<TakenSeat, Refusal> {
        let owner = caller.owner();
        let mut taken = self.taken.lock();
        let count = taken.by_owner.entry(owner.clone()).or_default();
        if *count >= self.most {
            return Err(Refusal::Limited(Limited {
                scope: "sockets",
                limit: self.most as u64,
                window: Duration::ZERO,
                retry_after: Duration::from_secs(1),
            }));
        }
        *count += 1;
        let seat = Arc::new(Seat { caller, owner, dismissed: Notify::new() });
        taken.last += 1;
        let number = taken.last;
        taken.seats.insert(number, Arc::clone(&seat));
        Ok(TakenSeat { seats: Arc::clone(self), number, seat })
    }

    /// Dismisses every caller who may not stay.
    pub(crate) fn dismiss(&self, may_stay: impl Fn(&Caller) -> bool) {
        // Judged without the lock, under which seats are taken and given back.
        let seats: Vec<_> = self.taken.lock().seats.values().cloned().collect();
        for seat in seats.iter().filter(|seat| !may_stay(&seat.caller)) {
            seat.dismissed.notify_one();
        }
    }
}

impl Drop for TakenSeat {
    fn drop(&mut self) {
        let mut taken = self.seats.taken.lock();
        taken.seats.remove(&self.number);
        if let Some(count) = taken.by_owner.get_mut(&self.seat.owner) {
            *count -= 1;
            if *count == 0 {
                taken.by_owner.remove(&self.seat.owner);
            }
        }
    }
}
