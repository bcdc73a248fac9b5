//! Which of the hub's channels a connection listens to, and what it hears there.

use std::{future, sync::Arc};

use tokio::sync::broadcast::{Receiver, error::RecvError};

use super::{
    ending::Ending,
    session::{Session, Wanted},
};
use crate::feed::{BlockLogs, HeadNews, Hub, News, PoolBatch, PoolListener};

/// Something that happened.
pub(super) enum Heard {
    Head(Arc<HeadNews>),
    Logs(Arc<BlockLogs>),
    Pool(Arc<PoolBatch>),
}

/// The channels of one connection: those that it wants and no other, so that a connection that wants only heads is never
/// behind because of a flood of transactions.
#[derive(Default)]
pub(super) struct Listening {
    heads: Option<Receiver<News<HeadNews>>>,
    logs: Option<Receiver<News<BlockLogs>>>,
    pool: Option<PoolListener>,
}

impl Listening {
    /// Listens to what is wanted from now on.
    pub(super) fn tune(&mut self, wanted: Wanted, hub: &Hub, session: &Session) {
        self.heads = wanted.heads.then(|| self.heads.take().unwrap_or_else(|| hub.heads()));
        self.logs = wanted.logs.then(|| self.logs.take().unwrap_or_else(|| hub.logs()));
        let opened = session.take_pool();
        self.pool = if wanted.pending { self.pool.take().or(opened) } else { None };
    }

    /// Waits for the next event.
    pub(super) async fn next(&mut self) -> Result<Heard, Ending> {
        tokio::select! {
            head = hear(&mut self.heads) => head.map(Heard::Head),
            logs = hear(&mut self.logs) => logs.map(Heard::Logs),
            batch = hear_pool(&mut self.pool) => batch.map(Heard::Pool),
        }
    }
}

async fn hear<T>(news: &mut Option<Receiver<News<T>>>) -> Result<Arc<T>, Ending> {
    let Some(news) = news else { return future::pending().await };
    match receive(news).await? {
        News::Of(event) => Ok(event),
        News::Gap => Err(Ending::Gap),
    }
}

async fn hear_pool(pool: &mut Option<PoolListener>) -> Result<Arc<PoolBatch>, Ending> {
    let Some(pool) = pool else { return future::pending().await };
    receive(pool.batches()).await
}

async fn receive<T: Clone>(receiver: &mut Receiver<T>) -> Result<T, Ending> {
    match receiver.recv().await {
        Ok(event) => Ok(event),
        Err(RecvError::Lagged(_)) => Err(Ending::TooSlow),
        // The hub ends with the gateway, which closes the connection by itself.
        Err(RecvError::Closed) => future::pending().await,
    }
}
