//! What tests and benchmarks stand on: nodes as child processes, a JSON-RPC client that can also misbehave, wallets
//! that sign locally, and the scenario that two nodes must answer alike.
//!
//! Development only. Nothing of the product depends on it, and it knows the product only through its command line
//! and its JSON-RPC; but for [`TestNode`], the chain that suites read, which may be embedded.

pub mod anvil;
pub mod app;
pub mod asm;
pub mod attack;
pub mod balancer;
pub mod besu;
pub mod campaign;
pub mod flaky;
pub mod fleet;
pub mod http;
pub mod merchant;
pub mod node;
pub mod process;
pub mod receiver;
pub mod redis;
pub mod rpc;
pub mod scenario;
pub mod wallet;

pub use anvil::Anvil;
pub use app::AppProcess;
pub use balancer::Balancer;
pub use besu::{Besu, BesuSettings, TestNode};
pub use flaky::{Fault, FlakyClient};
pub use fleet::{FleetPlace, FleetRole, Member};
pub use http::{HttpAnswer, HttpClient, HttpError};
pub use merchant::{Merchant, MerchantError};
pub use node::NodeProcess;
pub use process::{ServerProcess, StartError};
pub use receiver::Receiver;
pub use redis::Redis;
pub use rpc::{CallError, Mining, RpcClient, RpcError};
pub use wallet::{Draft, SignedTransaction, Wallet};
