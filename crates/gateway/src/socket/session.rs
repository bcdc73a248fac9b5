//! What one WebSocket has subscribed to.

use std::{borrow::Cow, sync::Arc};

use bytes::Bytes;
use jsonrpc::{Elements, Params};
use parking_lot::Mutex;

use crate::{
    feed::{Hub, PoolListener},
    logs::{LogFilter, LogQuery},
    method::SessionCall,
    refusal::Refusal,
};

/// Bytes of filters that one connection may have, as they were written: some eight hundred addresses and topics.
const MAX_FILTER_BYTES: usize = 64 * 1024;

/// A kind of event.
#[derive(Debug, Clone)]
pub(super) enum Topic {
    /// New heads.
    Heads,
    /// New logs that match.
    Logs(Arc<LogFilter>),
    /// New transactions in the pools.
    Pending,
    /// Changes of the sync status, of which a gateway has none: it serves only nodes that are at the head.
    Syncing,
}

struct Subscription {
    id: u64,
    topic: Topic,
    /// Length of the filter as it was written.
    filter_bytes: usize,
    /// The message that asked for it. Nothing is sent before that is answered, or the peer would hear of a subscription
    /// that it does not know.
    asked_by: Option<u64>,
}

#[derive(Default)]
struct State {
    last_id: u64,
    subscriptions: Vec<Subscription>,
    /// Opened for a subscription and not taken over by the connection yet.
    pool: Option<PoolListener>,
}

/// The subscriptions of one connection, shared by the messages under way on it.
pub(crate) struct Session {
    hub: Arc<Hub>,
    most: usize,
    state: Mutex<State>,
}

/// Which topics are wanted at all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) heads: bool,
    pub(super) logs: bool,
    pub(super) pending: bool,
}

impl Session {
    pub(super) fn new(hub: Arc<Hub>, most: usize) -> Self {
        Self { hub, most, state: Mutex::default() }
    }

    /// Answers a call that came in the message with this number.
    pub(crate) async fn answer(
        &self,
        message: u64,
        call: SessionCall,
        params: Params<'_>,
    ) -> Result<Bytes, Refusal> {
        let params = params.elements().ok_or(Refusal::InvalidParams { reason: "named_params" })?;
        match call {
            SessionCall::Subscribe => self.subscribe(message, &params).await,
            SessionCall::Unsubscribe => self.unsubscribe(&params),
        }
    }

    async fn subscribe(&self, message: u64, params: &Elements<'_>) -> Result<Bytes, Refusal> {
        let topic = read_topic(params)?;
        let is_pool = matches!(topic, Topic::Pending);
        let id = self.add(message, topic, params.get(1).map_or(0, str::len))?;
        if is_pool {
            // The pools are heard before the answer says so.
            let listener = self.hub.pool().listen().await;
            self.state.lock().pool = Some(listener);
        }
        Ok(format!("\"{id:#x}\"").into())
    }

    fn unsubscribe(&self, params: &Elements<'_>) -> Result<Bytes, Refusal> {
        const BAD_ID: Refusal = Refusal::InvalidParams { reason: "bad_subscription_id" };
        let text = params.get(0).and_then(text).ok_or(BAD_ID)?;
        let id = text.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
        self.remove(id.ok_or(Refusal::SubscriptionNotFound)?)?;
        Ok(Bytes::from_static(b"true"))
    }

    fn add(&self, message: u64, topic: Topic, filter_bytes: usize) -> Result<u64, Refusal> {
        let mut state = self.state.lock();
        if state.subscriptions.len() >= self.most {
            return Err(Refusal::TooMany { what: "too_many_subscriptions", most: self.most });
        }
        let bytes: usize = state.subscriptions.iter().map(|subscription| subscription.filter_bytes).sum();
        if bytes + filter_bytes > MAX_FILTER_BYTES {
            return Err(Refusal::TooMany { what: "too_many_filter_bytes", most: MAX_FILTER_BYTES });
        }
        state.last_id += 1;
        let id = state.last_id;
        state.subscriptions.push(Subscription { id, topic, filter_bytes, asked_by: Some(message) });
        Ok(id)
    }

    fn remove(&self, id: u64) -> Result<(), Refusal> {
        let subscriptions = &mut self.state.lock().subscriptions;
        let before = subscriptions.len();
        subscriptions.retain(|subscription| subscription.id != id);
        if subscriptions.len() == before { Err(Refusal::SubscriptionNotFound) } else { Ok(()) }
    }

    /// Begins what a message asked for, now that it is being answered.
    pub(super) fn begin(&self, message: u64) -> Wanted {
        let mut wanted = Wanted::default();
        for subscription in &mut self.state.lock().subscriptions {
            if subscription.asked_by == Some(message) {
                subscription.asked_by = None;
            }
            match subscription.topic {
                Topic::Heads => wanted.heads = true,
                Topic::Logs(_) => wanted.logs = true,
                Topic::Pending => wanted.pending = true,
                Topic::Syncing => {}
            }
        }
        wanted
    }

    /// The pools' news that were opened for this connection, once.
    pub(super) fn take_pool(&self) -> Option<PoolListener> {
        self.state.lock().pool.take()
    }

    /// Whether nothing is subscribed to.
    pub(super) fn is_empty(&self) -> bool {
        self.state.lock().subscriptions.is_empty()
    }

    /// The subscriptions that have begun, with what `pick` makes of their topics.
    pub(super) fn pick<T>(&self, pick: impl Fn(&Topic) -> Option<T>) -> Vec<(u64, T)> {
        let state = self.state.lock();
        let begun = state.subscriptions.iter().filter(|subscription| subscription.asked_by.is_none());
        begun.filter_map(|subscription| Some((subscription.id, pick(&subscription.topic)?))).collect()
    }
}

fn text(json: &str) -> Option<Cow<'_, str>> {
    serde_json::from_str(json).ok()
}

fn read_topic(params: &Elements<'_>) -> Result<Topic, Refusal> {
    const UNKNOWN: Refusal = Refusal::InvalidParams { reason: "unknown_subscription" };
    let options = params.get(1).filter(|json| *json != "null");
    match params.get(0).and_then(text).as_deref() {
        Some("newHeads") => refuse_whole(options).map(|()| Topic::Heads),
        Some("newPendingTransactions") => refuse_whole(options).map(|()| Topic::Pending),
        Some("syncing") => Ok(Topic::Syncing),
        Some("logs") => Ok(Topic::Logs(Arc::new(LogQuery::read(options.unwrap_or("{}"))?.filter))),
        Some(_) | None => Err(UNKNOWN),
    }
}

/// Events carry headers and hashes. Who asks for whole blocks or transactions is told so rather than given less.
fn refuse_whole(options: Option<&str>) -> Result<(), Refusal> {
    match options {
        None | Some("false" | "{}") => Ok(()),
        Some(_) => Err(Refusal::InvalidParams { reason: "whole_transactions_not_offered" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(most: usize) -> Session {
        Session::new(Arc::new(Hub::new(Arc::new(jiff::Timestamp::now))), most)
    }

    async fn ask(session: &Session, message: u64, params: &str) -> Result<Bytes, Refusal> {
        session.answer(message, SessionCall::Subscribe, Params::List(params)).await
    }

    async fn end(session: &Session, params: &str) -> Result<Bytes, Refusal> {
        session.answer(9, SessionCall::Unsubscribe, Params::List(params)).await
    }

    fn begun(session: &Session) -> Vec<u64> {
        session.pick(|_| Some(())).into_iter().map(|(id, ())| id).collect()
    }

    #[tokio::test]
    async fn a_subscription_begins_with_the_answer_to_its_message() {
        let session = session(8);
        assert_eq!(ask(&session, 1, r#"["newHeads"]"#).await.expect("an id"), "\"0x1\"");
        assert_eq!(ask(&session, 2, r#"["logs"]"#).await.expect("an id"), "\"0x2\"");
        assert!(begun(&session).is_empty());
        let wanted = session.begin(2);
        assert_eq!(wanted, Wanted { heads: true, logs: true, pending: false });
        assert_eq!(begun(&session), [2]);
        session.begin(1);
        assert_eq!(begun(&session), [1, 2]);
    }

    #[tokio::test]
    async fn ids_are_never_used_again() {
        let session = session(1);
        ask(&session, 1, r#"["newHeads"]"#).await.expect("an id");
        assert_eq!(end(&session, r#"["0x1"]"#).await.expect("done"), "true");
        assert_eq!(end(&session, r#"["0x1"]"#).await, Err(Refusal::SubscriptionNotFound));
        assert_eq!(end(&session, r#"["x"]"#).await, Err(Refusal::SubscriptionNotFound));
        assert!(matches!(end(&session, "[1]").await, Err(Refusal::InvalidParams { .. })));
        assert_eq!(ask(&session, 3, r#"["newHeads"]"#).await.expect("an id"), "\"0x2\"");
    }

    #[tokio::test]
    async fn what_is_not_offered_is_refused() {
        let session = session(8);
        for params in [
            "[]",
            "[1]",
            r#"["newheads"]"#,
            r#"["droppedPendingTransactions"]"#,
            r#"["newPendingTransactions",true]"#,
            r#"["newHeads",{"includeTransactions":true}]"#,
            r#"["logs",7]"#,
            r#"["logs",{"address":"0x1"}]"#,
        ] {
            let refused = ask(&session, 1, params).await;
            assert!(matches!(refused, Err(Refusal::InvalidParams { .. })), "{params}");
        }
        assert!(session.is_empty());
    }

    #[tokio::test]
    async fn subscriptions_and_their_filters_are_bounded() {
        let session = session(2);
        let address = format!("\"{}\"", alloy_primitives::Address::ZERO);
        let many = format!(r#"["logs",{{"address":[{}]}}]"#, vec![address; 900].join(","));
        ask(&session, 1, &many).await.expect("room");
        let refused = ask(&session, 1, &many).await;
        assert!(matches!(refused, Err(Refusal::TooMany { most: MAX_FILTER_BYTES, .. })));
        ask(&session, 1, r#"["newHeads"]"#).await.expect("room");
        let refused = ask(&session, 1, r#"["newHeads"]"#).await;
        assert!(matches!(refused, Err(Refusal::TooMany { most: 2, .. })));
    }
}
