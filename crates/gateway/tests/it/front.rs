//! A gateway on a port of its own, in front of a chain.

use std::{net::SocketAddr, num::NonZeroU32, sync::Arc};

use access::{InternalAllowlist, KeyTerms, Keyring, Keys, Limiter};
use chain::{
    RawUpstream,
    remote::{NodeUrl, RemoteClient, RemoteConfig},
};
use chainnet_gateway::{AccessParts, Door, Gateway, GatewayConfig, serve};
use domain::{KeyId, Permission, Permissions};
use jiff::Timestamp;
use store::testing::TestDb;
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::dev::{CHAIN_ID, Dev};

/// A running gateway.
pub(crate) struct Front {
    pub(crate) address: SocketAddr,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) keys: Keys,
    stop: CancellationToken,
    server: Option<JoinHandle<()>>,
    _stop_guard: DropGuard,
    _db: TestDb,
}

/// A key of a test.
pub(crate) struct TestKey {
    pub(crate) id: KeyId,
    pub(crate) text: String,
}

/// Open to everybody, without a limit that a test would notice.
pub(crate) fn open() -> GatewayConfig {
    door(Door::Open { requests_per_minute: NonZeroU32::new(1_000_000).expect("not zero") })
}

/// Open to everybody, so many requests a minute.
pub(crate) fn limited(requests_per_minute: u32) -> GatewayConfig {
    door(Door::Open { requests_per_minute: NonZeroU32::new(requests_per_minute).expect("not zero") })
}

/// For those with keys.
pub(crate) fn keyed() -> GatewayConfig {
    door(Door::Keys)
}

fn door(door: Door) -> GatewayConfig {
    GatewayConfig { door, chain_id: CHAIN_ID, ..GatewayConfig::default() }
}

/// The nodes behind these addresses, followed by their feeds.
pub(crate) async fn remote(nodes: &[NodeUrl]) -> Arc<dyn RawUpstream> {
    let config = RemoteConfig { chain_id: Some(CHAIN_ID), ..RemoteConfig::default() };
    Arc::new(RemoteClient::connect(nodes, config).await.expect("nodes"))
}

impl Front {
    /// A gateway to the chain inside the process.
    pub(crate) async fn before(dev: &Dev, config: GatewayConfig) -> Self {
        Self::start(inside(dev), config).await
    }

    pub(crate) async fn start(upstream: Arc<dyn RawUpstream>, config: GatewayConfig) -> Self {
        Self::with(move |access| Gateway::new(config, upstream, access)).await
    }

    pub(crate) async fn with(make: impl FnOnce(AccessParts) -> Arc<Gateway>) -> Self {
        let db = TestDb::sqlite().await;
        let clock: access::Clock = Arc::new(Timestamp::now);
        let keyring = Arc::new(Keyring::open(db.db(), Arc::clone(&clock)).await.expect("a keyring"));
        let gateway = make(AccessParts {
            keyring: Arc::clone(&keyring),
            limiter: Limiter::local(),
            internal: InternalAllowlist::new(Vec::new()),
            trusted_proxies: Vec::new(),
            clock,
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let stop = CancellationToken::new();
        let server = tokio::spawn(serve(listener, gateway, stop.clone()));
        let front = Self {
            address,
            keyring,
            keys: Keys::new(db.db()),
            stop: stop.clone(),
            server: Some(server),
            _stop_guard: stop.drop_guard(),
            _db: db,
        };
        front.ready().await;
        front
    }

    /// Waits until a head is served.
    async fn ready(&self) {
        let asked = async {
            loop {
                let request = b"GET /ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
                if self.exchange(request).await.starts_with("HTTP/1.1 200") {
                    return;
                }
                tokio::task::yield_now().await;
            }
        };
        crate::peer::in_time(asked).await;
    }

    /// Sends bytes and reads until the gateway closes.
    pub(crate) async fn exchange(&self, request: &[u8]) -> String {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let mut stream = tokio::net::TcpStream::connect(self.address).await.expect("a connection");
        stream.write_all(request).await.expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("an answer");
        answer
    }

    /// Posts JSON-RPC and gives the answer's JSON.
    pub(crate) async fn post(&self, key: Option<&str>, body: &str) -> serde_json::Value {
        let key = key.map(|key| format!("X-API-Key: {key}\r\n")).unwrap_or_default();
        let request = format!(
            "POST / HTTP/1.1\r\nHost: localhost\r\n{key}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        let answer = self.exchange(request.as_bytes()).await;
        let (_, json) = answer.split_once("\r\n\r\n").expect("a response");
        serde_json::from_str(json).expect("JSON")
    }

    /// Makes a key that the gateway knows at once.
    pub(crate) async fn key(&self, permissions: &[Permission]) -> TestKey {
        let terms = KeyTerms {
            team: "test".parse().expect("a team"),
            permissions: permissions.iter().copied().collect::<Permissions>(),
            networks: Vec::new(),
            requests_per_minute: NonZeroU32::new(100_000).expect("not zero"),
            expires_at: None,
        };
        let issued = self.keys.issue(&terms, Timestamp::now()).await.expect("a key");
        self.keyring.refresh().await.expect("a fresh keyring");
        TestKey { id: issued.row.id, text: issued.text.expose().to_owned() }
    }

    /// Takes a key back, which the gateway knows at once.
    pub(crate) async fn revoke(&self, key: &TestKey) {
        self.keys.revoke(&key.id, Timestamp::now()).await.expect("revoked");
        self.keyring.refresh().await.expect("a fresh keyring");
    }

    /// Begins the end.
    pub(crate) fn begin_end(&self) {
        self.stop.cancel();
    }

    /// Waits for the end.
    pub(crate) async fn ended(mut self) {
        let server = self.server.take().expect("running");
        crate::peer::in_time(server).await.expect("a clean end");
    }
}

/// The chain inside the process.
pub(crate) fn inside(dev: &Dev) -> Arc<dyn RawUpstream> {
    Arc::new(devchain::rpc::InProcess::new(dev.node(), devchain::rpc::Limits::default()))
}
