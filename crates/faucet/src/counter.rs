//! The counter between claimants and the sender of the same process: a bell to ring, and tickets to wait with.

use std::collections::HashMap;

use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};

/// Where claimants and the sender meet.
#[derive(Default)]
pub(crate) struct Counter {
    bell: Notify,
    waiting: Mutex<HashMap<u64, oneshot::Sender<()>>>,
}

/// A claimant's place in the queue; gone when dropped.
pub(crate) struct Ticket<'a> {
    counter: &'a Counter,
    claim: u64,
    called: oneshot::Receiver<()>,
}

impl Counter {
    /// Queues up for a claim.
    pub(crate) fn ticket(&self, claim: u64) -> Ticket<'_> {
        let (call, called) = oneshot::channel();
        self.waiting.lock().insert(claim, call);
        Ticket { counter: self, claim, called }
    }

    /// Tells the sender that there is something to do.
    pub(crate) fn ring(&self) {
        self.bell.notify_one();
    }

    /// Waits for somebody to ring.
    pub(crate) async fn rung(&self) {
        self.bell.notified().await;
    }

    /// Calls those whose claims have their transactions.
    pub(crate) fn call(&self, claims: &[u64]) {
        let mut waiting = self.waiting.lock();
        for claim in claims {
            if let Some(call) = waiting.remove(claim) {
                // Who does not wait any more needs no call.
                let _ = call.send(());
            }
        }
    }
}

impl Ticket<'_> {
    /// Waits to be called. May be broken off and waited on again; once called it returns at once.
    pub(crate) async fn called(&mut self) {
        if !self.called.is_terminated() {
            // The other end goes away only together with the whole faucet.
            let _ = (&mut self.called).await;
        }
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.counter.waiting.lock().remove(&self.claim);
    }
}
