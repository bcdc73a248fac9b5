//! A sender in a process of its own, killed with `kill -9` while a node has yet to answer.
//!
//! The process is this test's own program, started again to run [`sender_process`] alone. Between it and the node stands a
//! line that can hold transactions back before the node sees them, or the node's answers to them.

use std::{net::SocketAddr, process::Stdio, sync::Arc, time::Duration};

use alloy_primitives::keccak256;
use chain::{
    CacheLimits, Cached,
    remote::{RemoteClient, RemoteConfig},
};
use chainnet_faucet::{ClaimStatus, Faucet, FaucetSettings};
use devchain::rpc::{self, Node, RpcConfig};
use domain::{Network, Wei};
use store::{Db, engine_tests};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    process::{Child, Command},
    sync::watch,
};
use tokio_util::sync::CancellationToken;

use crate::rig::{PATIENCE, Rig, payer, visitor, wallet};

const DATABASE: &str = "CHAINNET_TEST_SENDER_DATABASE";
const NODE: &str = "CHAINNET_TEST_SENDER_NODE";

/// What the line does with a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hold {
    Nothing,
    /// It does not reach the node.
    Requests,
    /// It reaches the node, whose answer does not come back.
    Answers,
}

/// A line between a sender and a node.
struct HeldLine {
    address: SocketAddr,
    hold: watch::Sender<Hold>,
    /// Transactions that came along.
    seen: watch::Sender<usize>,
}

impl HeldLine {
    async fn open(node: SocketAddr, hold: Hold) -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let line = Arc::new(Self { address, hold: watch::Sender::new(hold), seen: watch::Sender::new(0) });
        let serving = Arc::clone(&line);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let line = Arc::clone(&serving);
                tokio::spawn(async move {
                    let node = TcpStream::connect(node).await.expect("the node");
                    line.carry(stream, node).await;
                });
            }
        });
        line
    }

    async fn carry(&self, mut sender: TcpStream, mut node: TcpStream) {
        let (mut there, mut back) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
        let mut is_transaction = false;
        loop {
            tokio::select! {
                Ok(read) = sender.read(&mut there) => {
                    is_transaction = has_transaction(&there[..read]);
                    if is_transaction {
                        self.seen.send_modify(|seen| *seen += 1);
                    }
                    if read == 0 || (is_transaction && *self.hold.borrow() == Hold::Requests) {
                        // Said nothing, kept open: the sender waits.
                        self.wait_for_release().await;
                        return;
                    }
                    node.write_all(&there[..read]).await.expect("the node listens");
                }
                Ok(read) = node.read(&mut back) => {
                    if read == 0 || (is_transaction && *self.hold.borrow() == Hold::Answers) {
                        self.wait_for_release().await;
                        return;
                    }
                    if sender.write_all(&back[..read]).await.is_err() {
                        return;
                    }
                }
                else => return,
            }
        }
    }

    async fn wait_for_release(&self) {
        let _ = self.hold.subscribe().wait_for(|hold| *hold == Hold::Nothing).await;
    }

    async fn seen(&self, count: usize) {
        let mut seen = self.seen.subscribe();
        let waited = tokio::time::timeout(PATIENCE, seen.wait_for(|seen| *seen >= count)).await;
        waited.expect("sent in time").expect("an open line");
    }
}

fn has_transaction(bytes: &[u8]) -> bool {
    let method = b"eth_sendRawTransaction";
    bytes.windows(method.len()).any(|window| window == method)
}

/// The node's JSON-RPC port.
async fn open_port(rig: &Rig) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    let node = Arc::new(Node { chain: Arc::clone(&rig.chain), control: rig.control.clone() });
    tokio::spawn(rpc::serve(listener, node, RpcConfig::default(), CancellationToken::new()));
    address
}

/// Starts a sender in a process of its own.
fn start_sender(database: &str, node: SocketAddr) -> Child {
    Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "killed::sender_process", "--ignored"])
        .env(DATABASE, database)
        .env(NODE, format!("http://{node}"))
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("a process")
}

/// What a sender's process does: pays until it is killed.
#[test]
#[ignore = "started by the other tests, in a process of its own"]
#[expect(
    clippy::disallowed_methods,
    reason = "how a test talks to its child is no configuration of the product"
)]
fn sender_process() {
    let (Ok(database), Ok(node)) = (std::env::var(DATABASE), std::env::var(NODE)) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let nodes = [node.parse().expect("a URL")];
        let client = RemoteClient::connect(&nodes, RemoteConfig::default()).await.expect("a client");
        let chain = Arc::new(Cached::new(client, &CacheLimits::default()));
        let db = Db::open(&database).await.expect("the database");
        let clock = Arc::new(jiff::Timestamp::now);
        // The next one shall not have to wait long.
        let settings = FaucetSettings { lease: Duration::from_secs(1), ..FaucetSettings::default() };
        let made = Faucet::new(Network::Devnet, chain, db, payer(), settings, clock);
        made.expect("devnet has a faucet").1.run(CancellationToken::new()).await;
    });
}

/// Kills a sender while the line holds something back, lets another one go on, and looks at what was paid.
async fn kill_and_go_on(db: &Db, url: &str, hold: Hold, pooled: usize) {
    let rig = Rig::new(db.clone());
    let node = open_port(&rig).await;
    let line = HeldLine::open(node, hold).await;
    let mut first = start_sender(url, line.address);
    // Takes claims in this process; they are paid in the other.
    let patient = FaucetSettings { signing_limit: PATIENCE, ..FaucetSettings::default() };
    let faucet = rig.idle(patient);
    let now = u64::try_from(jiff::Timestamp::now().as_millisecond()).expect("a time after 1970");
    let claim = faucet.claim(wallet(1), visitor(1), now).await.expect("a claim");
    line.seen(1).await;
    if pooled > 0 {
        rig.pooled(pooled).await;
    }
    first.start_kill().expect("killed");
    first.wait().await.expect("it is gone");
    assert_eq!(rig.chain.pool().len(), pooled);
    let [open] = &db.list_open_claims(10).await.expect("claims")[..] else { panic!("not one open claim") };
    let stored = open.payment.clone().expect("signed before it was sent");
    assert_eq!((stored.hash, keccak256(&stored.raw)), (claim.hash, claim.hash));

    line.hold.send_replace(Hold::Nothing);
    let mut second = start_sender(url, line.address);
    rig.pooled(1).await;
    rig.mine().await;
    rig.until(&faucet, claim.hash, ClaimStatus::Confirmed).await;
    rig.mine().await;
    assert_eq!(rig.coin(wallet(1)), Wei::from_coin(500));
    second.start_kill().expect("killed");
    tokio::time::timeout(Duration::from_secs(10), second.wait())
        .await
        .expect("gone in time")
        .expect("it is gone");
}

engine_tests! {
    async fn killed_before_the_node_has_it(test: TestDb) {
        kill_and_go_on(test, test.url(), Hold::Requests, 0).await;
    }

    async fn killed_before_the_node_has_answered(test: TestDb) {
        kill_and_go_on(test, test.url(), Hold::Answers, 1).await;
    }
}
