//! Shares of a node's connections: heavy calls get a third of them, and one is always left for a transaction.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::{Lane, RawError};

/// The lanes to one node.
pub(crate) struct Lanes {
    cheap: Semaphore,
    heavy: Semaphore,
    waiting: AtomicUsize,
    max_waiting: usize,
}

/// One who waits.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Lanes {
    /// Lanes over so many connections.
    pub(crate) fn new(connections: usize, max_waiting: usize) -> Self {
        Self {
            cheap: Semaphore::new(connections.saturating_sub(1).max(1)),
            heavy: Semaphore::new(connections.div_ceil(3).max(1)),
            waiting: AtomicUsize::new(0),
            max_waiting,
        }
    }

    /// How many wait for their turn.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// A turn, if there is one at once.
    pub(crate) fn try_enter(&self, lane: Lane) -> Option<Turn<'_>> {
        let (cheap, heavy) = match lane {
            Lane::Small | Lane::Cheap => (Some(self.cheap.try_acquire().ok()?), None),
            Lane::Heavy => {
                let heavy = self.heavy.try_acquire().ok()?;
                (Some(self.cheap.try_acquire().ok()?), Some(heavy))
            }
            Lane::Write => (None, None),
        };
        Some(Turn { _cheap: cheap, _heavy: heavy })
    }

    /// Waits for a turn, unless too many do so already. A transaction needs none: its connection is kept free.
    pub(crate) async fn enter(&self, lane: Lane) -> Result<Turn<'_>, RawError> {
        match lane {
            Lane::Small | Lane::Cheap => {
                Ok(Turn { _cheap: Some(self.turn(&self.cheap).await?), _heavy: None })
            }
            Lane::Heavy => {
                let heavy = self.turn(&self.heavy).await?;
                Ok(Turn { _cheap: Some(self.turn(&self.cheap).await?), _heavy: Some(heavy) })
            }
            Lane::Write => Ok(Turn { _cheap: None, _heavy: None }),
        }
    }

    async fn turn<'a>(&'a self, places: &'a Semaphore) -> Result<SemaphorePermit<'a>, RawError> {
        if let Ok(permit) = places.try_acquire() {
            return Ok(permit);
        }
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= self.max_waiting {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(RawError::Busy);
        }
        let _waiting = Waiting(&self.waiting);
        places.acquire().await.map_err(|_| RawError::Unavailable)
    }
}

/// A turn, given back when dropped.
pub(crate) struct Turn<'a> {
    _cheap: Option<SemaphorePermit<'a>>,
    _heavy: Option<SemaphorePermit<'a>>,
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn heavy_calls_leave_connections_to_cheap_ones_and_both_one_to_transactions() {
        let lanes = Lanes::new(6, 1);
        let enter = |lane| lanes.enter(lane).now_or_never().and_then(Result::ok);
        let heavy = [enter(Lane::Heavy).expect("a turn"), enter(Lane::Heavy).expect("a turn")];
        assert!(enter(Lane::Heavy).is_none());
        let cheap: Vec<_> = (0..3).map(|_| enter(Lane::Cheap).expect("a turn")).collect();
        assert!(enter(Lane::Cheap).is_none());
        assert!(enter(Lane::Write).is_some());
        drop((heavy, cheap));
        assert!(enter(Lane::Heavy).is_some());
        assert_eq!(lanes.waiting(), 0);
    }

    #[test]
    fn a_full_queue_refuses() {
        let lanes = Lanes::new(1, 1);
        let _turn = lanes.enter(Lane::Cheap).now_or_never().expect("at once").ok();
        let mut waiting = Box::pin(lanes.enter(Lane::Cheap));
        assert!(waiting.as_mut().now_or_never().is_none());
        assert!(matches!(lanes.enter(Lane::Cheap).now_or_never(), Some(Err(RawError::Busy))));
        drop(waiting);
        assert_eq!(lanes.waiting(), 0);
    }
}
