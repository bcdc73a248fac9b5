//! The table of all methods, one file per concern.

mod block_param;
mod chainnet;
mod debug;
mod eth;
mod evm;
mod ibft;
mod net;
mod quantity;
mod txpool;
mod web3;

use futures_util::future::BoxFuture;

use super::{
    config::Group,
    error::RpcError,
    jsonrpc::{Answer, Params},
    service::{Done, Place, Service},
    subscriptions::Session,
};
use crate::exec::Interrupt;

/// How a method is run.
pub(crate) enum Handler {
    /// Takes microseconds and runs where the request came in.
    Read(fn(&Service, Params<'_>, &mut Answer) -> Result<(), RpcError>),
    /// May take long: decides for itself whether to run in place.
    Weighed(fn(&Service, Params<'_>, &mut Answer, Place<'_>) -> Result<Done, RpcError>),
    /// Records what an execution does: takes long, and much memory.
    Trace(fn(&Service, Params<'_>, &mut Answer, &Interrupt) -> Result<(), RpcError>),
    /// Waits for block production.
    Ask(for<'a> fn(&'a Service, Params<'a>) -> BoxFuture<'a, Result<Answer, RpcError>>),
    /// Needs a connection that stays.
    Session(fn(&mut Session, Params<'_>, &mut Answer) -> Result<(), RpcError>),
}

/// Gas of the blocks that may be looked through on an asynchronous thread: their size is bounded by it.
const INLINE_BLOCK_GAS: u64 = 10_000_000;

/// A row of the table.
pub(crate) struct Method {
    pub(crate) name: &'static str,
    pub(crate) group: Group,
    pub(crate) summary: &'static str,
    pub(crate) handler: Handler,
    /// Whether it changes the node or its chain other than by a signed transaction. Web pages may not.
    pub(crate) is_control: bool,
}

impl Method {
    const fn new(group: Group, name: &'static str, summary: &'static str, handler: Handler) -> Self {
        Self { name, group, summary, handler, is_control: false }
    }

    /// A method that changes the node.
    const fn control(group: Group, name: &'static str, summary: &'static str, handler: Handler) -> Self {
        Self { name, group, summary, handler, is_control: true }
    }
}

/// Every method.
pub(crate) static METHODS: &[&[Method]] = &[
    eth::blocks::METHODS,
    eth::transactions::METHODS,
    eth::state::METHODS,
    eth::simulation::METHODS,
    eth::fees::METHODS,
    eth::logs::METHODS,
    eth::filters::METHODS,
    eth::subscribe::METHODS,
    eth::node::METHODS,
    net::METHODS,
    web3::METHODS,
    ibft::METHODS,
    txpool::METHODS,
    debug::METHODS,
    evm::METHODS,
    chainnet::METHODS,
];

/// A method as the documentation lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MethodEntry {
    /// The name to call.
    pub name: &'static str,
    /// The group that switches it on.
    pub group: Group,
    /// What it does, in a line.
    pub summary: &'static str,
}

/// All methods, in the order of the documentation.
pub fn method_entries() -> impl Iterator<Item = MethodEntry> {
    METHODS.iter().copied().flatten().map(|method| MethodEntry {
        name: method.name,
        group: method.group,
        summary: method.summary,
    })
}

/// A weighed method ends in place.
fn answered(result: Result<(), RpcError>) -> Result<Done, RpcError> {
    result.map(|()| Done::Answered)
}
