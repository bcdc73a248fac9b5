//! The `chainnet` binary as its users run it.

use std::{ffi::OsStr, process::Stdio, time::Duration};

use serde_json::{Value, json};
use testkit::{NodeProcess, RpcClient};
use tokio::process::Command;

/// The binary under test.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_chainnet");
/// How long a command that ends by itself may take on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time of the devnet's genesis, 2026-01-01. Blocks made from here on lie in the past, where an import takes them.
pub(crate) const GENESIS_TIME: u64 = 1_767_225_600;

/// A command that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ended {
    /// Standard output of a command that must have succeeded.
    #[track_caller]
    pub(crate) fn success(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self.out
    }

    /// Standard error of a command that must have failed in an orderly way.
    #[track_caller]
    pub(crate) fn failure(self) -> String {
        assert_eq!(self.code, Some(1), "{self:?}");
        assert!(self.err.starts_with("error: ") || self.err.contains("\nerror: "), "{}", self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self.err
    }
}

/// Runs a command to its end, without the options that the environment may hold.
pub(crate) async fn chainnet(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Ended {
    chainnet_with(arguments, |_| ()).await
}

/// The same with variables or a folder of its own.
pub(crate) async fn chainnet_with(
    arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
    prepare: impl FnOnce(&mut Command),
) -> Ended {
    let mut command = Command::new(BINARY);
    command.args(arguments).env_clear().stdin(Stdio::null()).kill_on_drop(true);
    prepare(&mut command);
    let ended = tokio::time::timeout(PATIENCE, command.output());
    let output = ended.await.expect("the command ends").expect("the binary runs");
    Ended {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// A running devnet node that makes blocks when asked.
pub(crate) async fn on_demand() -> NodeProcess {
    node(["--on-demand"]).await
}

/// A running node.
pub(crate) async fn node<const N: usize>(arguments: [&str; N]) -> NodeProcess {
    NodeProcess::start(BINARY, arguments).await.unwrap_or_else(|error| panic!("{error}"))
}

/// `chainnet node ctl` on a running node.
pub(crate) async fn ctl<const N: usize>(node: &NodeProcess, arguments: [&str; N]) -> Ended {
    let port = node.server().address().port().to_string();
    chainnet(["node", "ctl", "--rpc-port", &port].into_iter().chain(arguments)).await
}

/// Moves the chain's clock into the past: the next block is the first after genesis.
pub(crate) async fn start_at_genesis_time(client: &RpcClient) {
    client.call::<Value>("evm_mine", json!([GENESIS_TIME + 2])).await.expect("block 1");
}

/// A block without its transactions.
pub(crate) async fn block(client: &RpcClient, which: &str) -> Value {
    client.call("eth_getBlockByNumber", json!([which, false])).await.expect("a block")
}

/// Fails if the node has panicked.
#[track_caller]
pub(crate) fn assert_calm(node: &NodeProcess) {
    let output = node.server().output();
    assert!(!output.contains("panicked"), "{output}");
}
