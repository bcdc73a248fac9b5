//! A running gateway and those who ask it.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use access::{KeyTerms, Keyring, Keys, Limiter};
use bytes::Bytes;
use chain::RawUpstream;
use chainnet_gateway::{AccessParts, Door, Gateway, GatewayConfig, serve};
use domain::Permissions;
use http_body_util::{BodyExt, Full};
use hyper::{HeaderMap, Request, StatusCode, client::conn::http1};
use hyper_util::rt::TokioIo;
use jiff::Timestamp;
use serde_json::{Value, json};
use store::Db;
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use crate::world::in_time;

/// A clock that runs with the machine's and can be moved on.
#[derive(Clone, Default)]
pub(crate) struct TestClock(Arc<AtomicI64>);

impl TestClock {
    pub(crate) fn advance(&self, by: Duration) {
        self.0.fetch_add(by.as_millis().try_into().unwrap(), Ordering::Relaxed);
    }

    pub(crate) fn now(&self) -> Timestamp {
        let now = Timestamp::now().as_millisecond() + self.0.load(Ordering::Relaxed);
        Timestamp::from_millisecond(now).unwrap()
    }
}

/// A running gateway; stops when dropped.
pub(crate) struct Front {
    pub(crate) address: SocketAddr,
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) clock: TestClock,
    pub(crate) keyring: Arc<Keyring>,
    db: Db,
    pub(crate) stop: CancellationToken,
    _folder: TempDir,
}

/// An answer, read whole.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The status, the code and the reason of a refusal.
    pub(crate) fn refusal(&self) -> (u16, i64, String) {
        let error = &self.json()["error"];
        let reason = error["data"]["reason"].as_str().unwrap_or_default().to_owned();
        (self.status.as_u16(), error["code"].as_i64().unwrap_or_default(), reason)
    }

    /// The result of an answer that is one.
    pub(crate) fn result(&self) -> Value {
        assert_eq!(self.status, StatusCode::OK, "{}", self.text());
        let answer = self.json();
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }
}

/// Limits nobody.
pub(crate) fn open() -> GatewayConfig {
    GatewayConfig {
        door: Door::Open { requests_per_minute: 50_000_000.try_into().unwrap() },
        ..GatewayConfig::default()
    }
}

/// Lets nobody in without a key.
pub(crate) fn keyed() -> GatewayConfig {
    GatewayConfig { door: Door::Keys, ..GatewayConfig::default() }
}

impl Front {
    pub(crate) async fn new(config: GatewayConfig, upstream: Arc<dyn RawUpstream>) -> Self {
        Self::with(config, upstream, |_| {}).await
    }

    pub(crate) async fn with(
        config: GatewayConfig,
        upstream: Arc<dyn RawUpstream>,
        change: impl FnOnce(&mut AccessParts),
    ) -> Self {
        let has_head = upstream.heads().borrow().is_some();
        let front = Self::made(|mut access| {
            change(&mut access);
            Gateway::new(config, upstream, access)
        });
        let front = front.await;
        if has_head {
            front.ready().await;
        }
        front
    }

    /// Starts a gateway that is made here.
    pub(crate) async fn made(make: impl FnOnce(AccessParts) -> Arc<Gateway>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let db = Db::open(&format!("sqlite:{}/keys.db", folder.path().display())).await.unwrap();
        let clock = TestClock::default();
        let tell = {
            let clock = clock.clone();
            Arc::new(move || clock.now())
        };
        let keyring = Arc::new(Keyring::open(db.clone(), tell.clone()).await.unwrap());
        let gateway = make(AccessParts {
            keyring: Arc::clone(&keyring),
            limiter: Limiter::local(),
            trusted_proxies: Vec::new(),
            clock: tell,
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        tokio::spawn(serve(listener, Arc::clone(&gateway), stop.clone()));
        Self { address, gateway, clock, keyring, db, stop, _folder: folder }
    }

    /// Waits until a head is served.
    pub(crate) async fn ready(&self) {
        in_time(async { while self.get("/ready").await.status != StatusCode::OK {} }).await;
    }

    /// Issues a key and lets the gateway know it.
    pub(crate) async fn issue(&self, terms: impl FnOnce(&mut KeyTerms)) -> String {
        let mut with = KeyTerms {
            team: "testers".parse().unwrap(),
            permissions: Permissions::of([domain::Permission::Rpc]),
            networks: Vec::new(),
            requests_per_minute: 600.try_into().unwrap(),
            expires_at: None,
        };
        terms(&mut with);
        let issued = Keys::new(self.db.clone()).issue(&with, self.clock.now()).await.unwrap();
        self.keyring.refresh().await.unwrap();
        issued.text.expose().to_owned()
    }

    pub(crate) fn keys(&self) -> Keys {
        Keys::new(self.db.clone())
    }

    pub(crate) async fn connect(&self) -> Connection {
        Connection::open(self.address).await
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.connect().await.send("GET", path, &[], Bytes::new()).await
    }

    pub(crate) async fn post(&self, body: impl Into<Bytes>) -> Reply {
        self.post_with("/", &[], body).await
    }

    pub(crate) async fn post_with(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Reply {
        self.connect().await.send("POST", path, headers, body).await
    }

    /// Asks and returns the result.
    pub(crate) async fn ask(&self, method: &str, params: Value) -> Value {
        self.call(method, params).await.result()
    }

    pub(crate) async fn call(&self, method: &str, params: Value) -> Reply {
        self.post(request(1, method, params)).await
    }

    pub(crate) async fn block_number(&self) -> u64 {
        number(&self.ask("eth_blockNumber", json!([])).await)
    }

    /// Waits until this block is served.
    pub(crate) async fn reach(&self, number: u64) {
        in_time(async { while self.block_number().await < number {} }).await;
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// A connection that stays.
pub(crate) struct Connection(http1::SendRequest<Full<Bytes>>);

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Self {
        Self::try_open(address).await.unwrap()
    }

    async fn try_open(address: SocketAddr) -> Option<Self> {
        let stream = TcpStream::connect(address).await.ok()?;
        stream.set_nodelay(true).ok()?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
        tokio::spawn(connection);
        Some(Self(sender))
    }

    pub(crate) async fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Reply {
        let mut request = Request::builder().method(method).uri(path).header("host", "gateway.test");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.0.ready().await.unwrap();
        let response = self.0.send_request(request.body(Full::new(body.into())).unwrap()).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = in_time(body.collect()).await.unwrap().to_bytes();
        Reply { status: parts.status, headers: parts.headers, body }
    }

    pub(crate) async fn call(&mut self, method: &str, params: Value) -> Reply {
        self.send("POST", "/", &[], request(1, method, params)).await
    }
}

/// A request as text.
pub(crate) fn request(id: u64, method: &str, params: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

/// A quantity of Ethereum's JSON.
pub(crate) fn number(value: &Value) -> u64 {
    u64::from_str_radix(value.as_str().unwrap().trim_start_matches("0x"), 16).unwrap()
}
