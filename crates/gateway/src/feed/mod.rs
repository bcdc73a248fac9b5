//! What happens on the chain, told once to everybody who listens.
//!
//! The hub takes each block from the one follower of the chain (`warm`), renders what subscribers see of it a single time
//! and hands it to all sockets through bounded channels; the nodes' pools it hears while somebody wants it. A listener that
//! falls behind finds out, and so does everybody when blocks had to be left out: nobody misses anything without being told.

mod head;
mod logs;
mod pool;

use std::{sync::Arc, time::Duration};

use access::Clock;
use chain::RawUpstream;
use tokio::{
    sync::broadcast::{Receiver, Sender, error::RecvError},
    time::Instant,
};

pub(crate) use head::HeadNews;
pub(crate) use logs::BlockLogs;
pub(crate) use pool::{Moment, PoolBatch, PoolListener};

use self::{head::Told, pool::Pool};
use crate::warm::{ChainNews, WarmBlock};

/// Blocks that a listener may be behind.
const HEAD_BACKLOG: usize = 64;
/// Blocks with logs that a listener may be behind. Fewer, because they weigh more.
const LOG_BACKLOG: usize = 32;
/// How long listeners are waited for, all in all, when many blocks are told of at once.
const CATCH_UP: Duration = Duration::from_secs(2);
/// How often it is looked whether they have caught up.
const PAUSE: Duration = Duration::from_millis(2);

/// Something that was told.
pub(crate) enum News<T> {
    /// An event.
    Of(Arc<T>),
    /// Events that were left out.
    Gap,
}

impl<T> Clone for News<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Of(event) => Self::Of(Arc::clone(event)),
            Self::Gap => Self::Gap,
        }
    }
}

/// Where events come in and go out.
pub(crate) struct Hub {
    heads: Sender<News<HeadNews>>,
    logs: Sender<News<BlockLogs>>,
    pool: Arc<Pool>,
}

impl Hub {
    pub(crate) fn new(clock: Clock) -> Self {
        Self {
            heads: Sender::new(HEAD_BACKLOG),
            logs: Sender::new(LOG_BACKLOG),
            pool: Arc::new(Pool::new(clock)),
        }
    }

    /// Passes the chain's news on for as long as it is polled.
    pub(crate) async fn run(&self, news: Receiver<ChainNews>, upstream: &dyn RawUpstream) {
        tokio::join!(self.follow(news), self.pool.follow(upstream));
    }

    /// Heads from now on.
    pub(crate) fn heads(&self) -> Receiver<News<HeadNews>> {
        self.heads.subscribe()
    }

    /// The logs of blocks from now on, of those blocks that have any.
    pub(crate) fn logs(&self) -> Receiver<News<BlockLogs>> {
        self.logs.subscribe()
    }

    /// The nodes' pools.
    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    async fn follow(&self, mut news: Receiver<ChainNews>) {
        let mut told = Told::default();
        let mut grace = CATCH_UP;
        loop {
            match news.recv().await {
                // After `evm_revert` the new head may be a block that was told of before.
                Ok(ChainNews::Block(block)) => {
                    grace = if news.is_empty() { CATCH_UP } else { self.let_catch_up(grace).await };
                    if told.note(block.hash) {
                        self.tell(block);
                    }
                }
                Ok(ChainNews::SetBack) => {}
                Ok(ChainNews::Gap) => self.tell_gap(),
                Err(RecvError::Lagged(blocks)) => {
                    tracing::warn!(blocks, "blocks were missed, listeners are told of a gap");
                    self.tell_gap();
                }
                Err(RecvError::Closed) => return,
            }
        }
    }

    /// Lets listeners take what is queued when many blocks are told of at once, for a while; gives what is left of it.
    /// Who is behind after that is too slow, and holds up nobody else.
    async fn let_catch_up(&self, grace: Duration) -> Duration {
        let started = Instant::now();
        let caught_up = async {
            while self.heads.len() > HEAD_BACKLOG / 2 || self.logs.len() > LOG_BACKLOG / 2 {
                tokio::time::sleep(PAUSE).await;
            }
        };
        let _ = tokio::time::timeout(grace, caught_up).await;
        grace.saturating_sub(started.elapsed())
    }

    fn tell(&self, block: Arc<WarmBlock>) {
        if self.heads.receiver_count() > 0 {
            tell(&self.heads, News::Of(Arc::new(HeadNews::new(&block))));
        }
        if self.logs.receiver_count() > 0 && !block.logs.is_empty() {
            tell(&self.logs, News::Of(Arc::new(BlockLogs::new(block))));
        }
    }

    fn tell_gap(&self) {
        tell(&self.heads, News::Gap);
        tell(&self.logs, News::Gap);
    }
}

fn tell<T>(sender: &Sender<News<T>>, news: News<T>) {
    // Only fails when nobody listens.
    let _ = sender.send(news);
}
