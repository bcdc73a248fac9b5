//! What is told of one event: a message for each subscription and log, made when it is sent.

use std::{sync::Arc, vec::IntoIter};

use tokio_tungstenite::tungstenite::Utf8Bytes;

use super::{
    listening::Heard,
    session::{Session, Topic},
};
use crate::{
    feed::{BlockLogs, HeadNews, PoolBatch},
    logs::LogFilter,
};

/// The messages that are left of an event. A block may be thousands of them.
pub(super) enum News {
    Head {
        head: Arc<HeadNews>,
        ids: IntoIter<u64>,
    },
    Logs {
        logs: Arc<BlockLogs>,
        filters: IntoIter<(u64, Arc<LogFilter>)>,
        found: Option<(u64, IntoIter<usize>)>,
    },
    Pool {
        batch: Arc<PoolBatch>,
        ids: IntoIter<u64>,
        next: Option<(u64, usize)>,
    },
}

impl News {
    /// What the subscriptions of a session are told.
    pub(super) fn new(heard: Heard, session: &Session) -> Self {
        let ids = |wanted: fn(&Topic) -> bool| {
            let picked = session.pick(|topic| wanted(topic).then_some(()));
            picked.into_iter().map(|(id, ())| id).collect::<Vec<_>>().into_iter()
        };
        match heard {
            Heard::Head(head) => Self::Head { head, ids: ids(|topic| matches!(topic, Topic::Heads)) },
            Heard::Logs(logs) => {
                let filters = session.pick(|topic| match topic {
                    Topic::Logs(filter) => Some(Arc::clone(filter)),
                    Topic::Heads | Topic::Pending | Topic::Syncing => None,
                });
                Self::Logs { logs, filters: filters.into_iter(), found: None }
            }
            Heard::Pool(batch) => {
                let mut ids = ids(|topic| matches!(topic, Topic::Pending));
                let next = ids.next().map(|id| (id, 0));
                Self::Pool { batch, ids, next }
            }
        }
    }
}

impl Iterator for News {
    type Item = Utf8Bytes;

    fn next(&mut self) -> Option<Utf8Bytes> {
        match self {
            Self::Head { head, ids } => ids.next().map(|id| event(id, head.json())),
            Self::Logs { logs, filters, found } => loop {
                if let Some((id, positions)) = found
                    && let Some(json) = positions.find_map(|position| logs.json(position))
                {
                    return Some(event(*id, json));
                }
                let (id, filter) = filters.next()?;
                *found = Some((id, logs.matching(&filter).into_iter()));
            },
            Self::Pool { batch, ids, next } => loop {
                let (id, position) = next.as_mut()?;
                if let Some(hash) = batch.hash(*position) {
                    *position += 1;
                    return Some(event(*id, hash));
                }
                *next = ids.next().map(|id| (id, 0));
            },
        }
    }
}

/// The event of a subscription: the same text for everybody but for the id.
fn event(id: u64, result: &str) -> Utf8Bytes {
    let head = r#"{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"0x"#;
    format!("{head}{id:x}\",\"result\":{result}}}}}").into()
}
