//! A node's `newHeads`, and its pool while somebody listens, over WebSocket: one connection per node, opened again when it
//! is lost.

use std::{borrow::Cow, time::Duration};

use futures_util::{SinkExt, StreamExt};
use hyper::{StatusCode, header};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio_tungstenite::{
    WebSocketStream, client_async_with_config,
    tungstenite::{self, Message, client::IntoClientRequest, protocol::WebSocketConfig},
};

use super::{Feed, Reported, pool::PoolSubscription};
use crate::remote::{
    decode,
    dial::Wire,
    jsonrpc::{self, Answer},
    url::{Endpoint, WebSocketAddress},
};

/// First wait before a lost connection is opened again; doubled each time.
const FIRST_RECONNECT_WAIT: Duration = Duration::from_millis(500);
/// Silence after which the node is asked for a sign of life, and again as long until it is given up.
const SILENCE: Duration = Duration::from_secs(20);
/// Longest message. A header is far shorter, but Besu's heads are blocks with the hashes of their transactions.
const MAX_MESSAGE_BYTES: usize = 8 * 1024 * 1024;

/// The id of the request below.
const SUBSCRIBE_ID: u64 = 0;
const SUBSCRIBE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"eth_subscribe","params":["newHeads"]}"#;

type Socket = WebSocketStream<Box<dyn Wire>>;

/// Whether a refusal may be due to the moment rather than to the address.
fn is_passing(status: StatusCode) -> bool {
    status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS
}

/// Why a feed ended.
#[derive(Debug, thiserror::Error)]
enum FeedError {
    #[error("cannot connect")]
    Connect(#[source] std::io::Error),
    #[error("the connection failed")]
    WebSocket(#[from] tungstenite::Error),
    #[error("the node was silent for too long")]
    Silent,
    #[error("the node closed the connection")]
    Closed,
    #[error("the node does not feed heads")]
    Refused,
}

/// A message of the node: news of a subscription, or the answer to a request.
#[derive(Deserialize)]
struct Incoming<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    params: Option<News<'a>>,
}

#[derive(Deserialize)]
struct News<'a> {
    #[serde(borrow, default)]
    subscription: Cow<'a, str>,
    #[serde(borrow)]
    result: &'a RawValue,
}

impl Feed {
    /// Listens until the node turns out to have no WebSocket at an address where it only might have been.
    pub(super) async fn listen_for_ever(&self) {
        let address = &self.node.url().websocket;
        let mut wait = FIRST_RECONNECT_WAIT;
        loop {
            let mut was_fed = false;
            let Err(error) = self.listen(address.endpoint(), &mut was_fed).await;
            if was_fed {
                self.fed(false);
                tracing::warn!(node = %self.node.url(), %error, "the feed of a node's heads is lost");
                wait = FIRST_RECONNECT_WAIT;
            }
            match (address, &error) {
                (WebSocketAddress::Perhaps(_), FeedError::Refused) => return,
                (WebSocketAddress::Perhaps(_) | WebSocketAddress::Given(_), _) => {}
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(self.shared.config.max_reconnect_wait);
        }
    }

    async fn listen(
        &self,
        endpoint: &Endpoint,
        was_fed: &mut bool,
    ) -> Result<std::convert::Infallible, FeedError> {
        let opening = tokio::time::timeout(self.shared.config.request_timeout, self.subscribe(endpoint));
        let mut socket = opening.await.map_err(|_| FeedError::Silent)??;
        *was_fed = true;
        self.fed(true);
        let mut listeners = self.shared.pools.listeners();
        let mut pool = PoolSubscription::new(&self.shared.pools);
        loop {
            let is_wanted = *listeners.borrow_and_update() > 0;
            if let Some(request) = pool.adjust(is_wanted) {
                socket.send(Message::text(request)).await?;
            }
            tokio::select! {
                message = self.next(&mut socket) => self.take(&message?, &mut pool),
                // The other end is in what we share, so it never closes.
                _ = listeners.changed() => {}
            }
        }
    }

    fn take(&self, message: &str, pool: &mut PoolSubscription) {
        let Ok(incoming) = serde_json::from_str::<Incoming<'_>>(message) else { return };
        let Some(news) = incoming.params else {
            return incoming.id.into_iter().for_each(|id| pool.take_answer(id, incoming.result));
        };
        if let Some(hash) = pool.hash(&news.subscription, news.result) {
            if self.node.is_verified() {
                self.shared.pools.report(hash);
            }
            return;
        }
        // A head that cannot be believed is asked for the other way.
        match decode::head(news.result).map(|head| self.accept(head)) {
            Ok(Reported::Served | Reported::Known) => {}
            Ok(Reported::Doubtful) | Err(_) => self.nudge.notify_one(),
        }
    }

    fn accept(&self, head: crate::Head) -> Reported {
        // Who is not known to be on the right chain is asked first.
        if self.node.is_verified() { self.report(head) } else { Reported::Doubtful }
    }

    async fn subscribe(&self, endpoint: &Endpoint) -> Result<Socket, FeedError> {
        let stream = self.shared.dialer.dial(endpoint).await.map_err(FeedError::Connect)?;
        let scheme = if endpoint.tls { "wss" } else { "ws" };
        let uri = format!("{scheme}://{}{}", endpoint.authority(), endpoint.path_and_query);
        let mut request = uri.into_client_request()?;
        if let Some(authorization) = &endpoint.authorization {
            request.headers_mut().insert(header::AUTHORIZATION, authorization.clone());
        }
        let limits = WebSocketConfig::default()
            .max_message_size(Some(MAX_MESSAGE_BYTES))
            .max_frame_size(Some(MAX_MESSAGE_BYTES));
        let opened = client_async_with_config(request, stream, Some(limits)).await;
        let (mut socket, _) = opened.map_err(|error| match error {
            tungstenite::Error::Http(response) if !is_passing(response.status()) => FeedError::Refused,
            other => other.into(),
        })?;
        socket.send(Message::text(SUBSCRIBE)).await?;
        match jsonrpc::read_answer(self.next(&mut socket).await?.as_bytes(), SUBSCRIBE_ID) {
            Ok(Answer::Result(_)) => Ok(socket),
            Ok(Answer::Error(_)) | Err(_) => Err(FeedError::Refused),
        }
    }

    /// The next text, asking for a sign of life in between.
    async fn next(&self, socket: &mut Socket) -> Result<tungstenite::Utf8Bytes, FeedError> {
        let mut asked = false;
        loop {
            let message = match tokio::time::timeout(SILENCE, socket.next()).await {
                Ok(Some(message)) => message?,
                Ok(None) => return Err(FeedError::Closed),
                Err(_) if asked => return Err(FeedError::Silent),
                Err(_) => {
                    asked = true;
                    socket.send(Message::Ping(Default::default())).await?;
                    continue;
                }
            };
            asked = false;
            if let Message::Text(text) = message {
                return Ok(text);
            }
        }
    }
}
