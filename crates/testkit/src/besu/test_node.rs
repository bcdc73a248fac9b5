//! The chain that a suite of tests reads: embedded, or through a Besu when `CHAINNET_TEST_NODE` says so.
//!
//! `CHAINNET_TEST_NODE=besu` (24.5.4, the strictest) or `besu-24.12.2` makes a second suite of the same tests.

use std::{
    sync::{Arc, LazyLock},
    time::Duration,
};

use chain::{
    CacheLimits, Cached, ChainClient, RawUpstream,
    remote::{RemoteClient, RemoteConfig},
};
use devchain::{
    chain::Chain,
    client::EmbeddedClient,
    produce::Control,
    rpc::{self, InProcess, Limits, Node, RpcConfig},
};
use tokio::{net::TcpListener, runtime::Runtime, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use super::{Besu, BesuSettings};

/// How long a client may take to show a block.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a node's port may take to close.
const FAREWELL: Duration = Duration::from_secs(2);
/// Which node tests run on.
const VARIABLE: &str = "CHAINNET_TEST_NODE";

/// Where Besus and the clients' feeds run: beside the tests, whose runtimes come and go.
static BESIDE: LazyLock<Option<Runtime>> = LazyLock::new(|| Runtime::new().ok());

/// A test's way to its chain.
pub struct TestNode {
    chain: Arc<Chain>,
    control: Control,
    client: Arc<dyn ChainClient>,
    besu: Option<Wired>,
}

/// A Besu, the node's port behind it and a client in front of it.
struct Wired {
    remote: Arc<RemoteClient>,
    besu: Option<Besu>,
    stop: CancellationToken,
    port: Option<JoinHandle<std::io::Result<()>>>,
}

impl Drop for Wired {
    /// Waits until nobody here holds the chain: its folder goes with the test, and a chain whose folder is gone takes seconds
    /// to close.
    fn drop(&mut self) {
        drop(self.besu.take());
        self.stop.cancel();
        if let (Some(beside), Some(port)) = (BESIDE.as_ref(), self.port.take()) {
            let ending = async { drop(tokio::time::timeout(FAREWELL, port).await) };
            std::thread::scope(|scope| drop(scope.spawn(|| beside.block_on(ending)).join()));
        }
    }
}

/// Whether tests run on a Besu, and on which.
#[expect(clippy::disallowed_methods, reason = "a switch of tests, not of the product")]
fn wanted() -> Option<BesuSettings> {
    let version = match std::env::var(VARIABLE).ok()?.as_str() {
        "besu-24.12.2" => BesuSettings::v24_12_2(),
        "besu" | "besu-24.5.4" => BesuSettings::v24_5_4(),
        _ => return None,
    };
    // As nodes of a network are started.
    Some(BesuSettings { keeps_revert_reasons: true, ..version })
}

impl TestNode {
    /// Whether tests run on a Besu. Those about something that only the embedded chain has end early then.
    pub fn is_besu() -> bool {
        wanted().is_some()
    }

    /// The way to a chain that is made as the environment says. To be called inside a runtime.
    pub fn new(chain: &Arc<Chain>, control: &Control) -> Self {
        match wanted() {
            Some(settings) => Self::on_besu(chain, control, settings),
            None => Self::embedded(chain, control),
        }
    }

    fn embedded(chain: &Arc<Chain>, control: &Control) -> Self {
        let client = Arc::new(EmbeddedClient::new(Arc::clone(chain)));
        Self { client, chain: Arc::clone(chain), control: control.clone(), besu: None }
    }

    /// The way through a Besu, as the product goes it: a remote client with a memory.
    #[expect(clippy::expect_used, reason = "a test that has no node has failed")]
    pub fn on_besu(chain: &Arc<Chain>, control: &Control, settings: BesuSettings) -> Self {
        let node = Arc::new(Node { chain: Arc::clone(chain), control: control.clone() });
        let beside = BESIDE.as_ref().expect("a runtime");
        // A runtime cannot be waited for inside another one, but on a thread of its own.
        let wiring = std::thread::scope(|scope| scope.spawn(|| beside.block_on(wire(node, settings))).join());
        let (client, wired) = wiring.expect("a Besu");
        Self { client, chain: Arc::clone(chain), control: control.clone(), besu: Some(wired) }
    }

    /// Reads the chain.
    pub fn client(&self) -> Arc<dyn ChainClient> {
        Arc::clone(&self.client)
    }

    /// Passes requests on.
    pub fn raw(&self) -> Arc<dyn RawUpstream> {
        match &self.besu {
            Some(wired) => wired.remote.clone(),
            None => {
                let node = Node { chain: Arc::clone(&self.chain), control: self.control.clone() };
                Arc::new(InProcess::new(Arc::new(node), Limits::default()))
            }
        }
    }

    /// Waits until the client shows the chain's newest block.
    pub async fn catch_up(&self) {
        let head = self.chain.head().block.hash;
        let mut heads = self.client.heads();
        let shown = heads.wait_for(|shown| shown.as_ref().is_some_and(|shown| shown.hash == head));
        // A test that needs the block fails where it needs it.
        drop(tokio::time::timeout(PATIENCE, shown).await);
    }
}

#[expect(clippy::expect_used, reason = "a test that has no node has failed")]
async fn wire(node: Arc<Node>, settings: BesuSettings) -> (Arc<dyn ChainClient>, Wired) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let limits = Limits { max_connections: 1024, ..Limits::default() };
    let config = RpcConfig { limits, ..RpcConfig::default() };
    let stop = CancellationToken::new();
    let port = tokio::spawn(rpc::serve(listener, node, config, stop.clone()));
    let besu = Besu::start(address, settings).await.expect("two ports");
    let urls = [besu.url().parse().expect("the addresses of a node")];
    let remote = RemoteClient::connect(&urls, RemoteConfig::default()).await.expect("a node");
    let cached = Cached::new(remote, &CacheLimits::default());
    let remote = Arc::clone(cached.inner());
    (Arc::new(cached), Wired { remote, besu: Some(besu), stop, port: Some(port) })
}
