//! Keeping up with one node's head: told by WebSocket where there is one, asked at intervals otherwise.
//!
//! Asking never stops altogether: it finds out that a node is back, that it is on the right chain, and that a WebSocket
//! has silently died.

mod pool;
mod websocket;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::sync::Notify;

use super::{Shared, node::Node, served::Reported};
use crate::{ChainError, Head};

/// A node that feeds heads is asked this many times less often.
const FED_SLOWDOWN: u32 = 5;

/// How long a doubt about a node waits, so that many are settled by one question.
const DOUBT_PAUSE: Duration = Duration::from_millis(50);

/// What feeds one node's heads into the served one.
pub(super) struct Feed {
    shared: Arc<Shared>,
    node: Arc<Node>,
    /// A WebSocket is open and subscribed.
    is_fed: AtomicBool,
    /// Asks at once instead of at the next interval.
    nudge: Notify,
}

impl Feed {
    pub(super) fn new(shared: Arc<Shared>, node: Arc<Node>) -> Arc<Self> {
        Arc::new(Self { shared, node, is_fed: AtomicBool::new(false), nudge: Notify::new() })
    }

    /// Follows the node for ever.
    pub(super) async fn run(self: Arc<Self>) {
        tokio::join!(self.ask_for_ever(), self.listen_for_ever());
    }

    async fn ask_for_ever(&self) {
        loop {
            let interval = self.shared.config.poll_interval;
            let fed = self.is_fed.load(Ordering::Relaxed);
            let pause = if fed { interval * FED_SLOWDOWN } else { interval };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.nudge.notified() => {}
                // Somebody's request came to nothing. Strangers can bring that about as often as they like.
                () = self.node.doubted() => tokio::time::sleep(DOUBT_PAUSE).await,
            }
            // Failures are counted and logged by the node.
            let _ = self.ask_once().await;
        }
    }

    /// Asks for the head once, making sure first that the node is on the right chain.
    pub(super) async fn ask_once(&self) -> Result<(), ChainError> {
        if !self.node.is_verified() && !self.shared.verify(&self.node).await? {
            return Ok(());
        }
        let head = self.node.latest().await?;
        if self.report(head) == Reported::Doubtful {
            // The first answer may have been on its way when a newer head was fed; the second one cannot have been.
            let confirmed = self.node.latest().await?;
            if self.report(confirmed.clone()) == Reported::Doubtful {
                self.shared.served.replace(&self.node, confirmed);
            }
        }
        Ok(())
    }

    fn report(&self, head: Head) -> Reported {
        let reported = self.shared.served.report(&self.node, head);
        self.shared.moved.notify_waiters();
        reported
    }

    fn fed(&self, fed: bool) {
        self.is_fed.store(fed, Ordering::Relaxed);
        self.nudge.notify_one();
    }
}
