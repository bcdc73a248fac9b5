//! `evm_*`: moving the clock and the head of a development chain, as Hardhat and Anvil do.

use futures_util::future::BoxFuture;
use serde::Deserialize;

use super::quantity::Number;
use crate::rpc::{
    config::Group,
    error::{Param, RpcError},
    jsonrpc::{Answer, Params},
    methods::{Handler, Method},
    service::Service,
};

/// Blocks that one request may mine.
const MAX_MINED: u64 = 1024;

pub(super) const METHODS: &[Method] = &[
    Method::control(Group::Evm, "evm_increaseTime", "Moves the clock forward", Handler::Ask(increase_time)),
    Method::control(
        Group::Evm,
        "evm_setNextBlockTimestamp",
        "Sets the time of the next block",
        Handler::Ask(set_next_timestamp),
    ),
    Method::control(Group::Evm, "evm_mine", "Seals a block now", Handler::Ask(mine)),
    Method::control(Group::Evm, "evm_snapshot", "Remembers the head", Handler::Ask(snapshot)),
    Method::control(Group::Evm, "evm_revert", "Goes back to a remembered head", Handler::Ask(revert)),
];

/// Answers the whole offset in seconds, as Anvil does.
fn increase_time<'a>(service: &'a Service, params: Params<'a>) -> BoxFuture<'a, Result<Answer, RpcError>> {
    Box::pin(async move {
        let Number(secs) = params.split()?.required(0, Param::Timestamp)?;
        let offset = service.node.control.increase_time(secs).await?;
        let mut answer = Answer::new();
        answer.json(&offset)?;
        Ok(answer)
    })
}

fn set_next_timestamp<'a>(
    service: &'a Service,
    params: Params<'a>,
) -> BoxFuture<'a, Result<Answer, RpcError>> {
    Box::pin(async move {
        let Number(timestamp) = params.split()?.required(0, Param::Timestamp)?;
        service.node.control.set_next_timestamp(timestamp).await?;
        let mut answer = Answer::new();
        answer.text("null");
        Ok(answer)
    })
}

/// Hardhat's bare timestamp, or Anvil's object.
#[derive(Deserialize)]
#[serde(untagged)]
enum Mining {
    At(Number),
    Options { timestamp: Option<Number>, blocks: Option<Number> },
}

fn mine<'a>(service: &'a Service, params: Params<'a>) -> BoxFuture<'a, Result<Answer, RpcError>> {
    Box::pin(async move {
        let (timestamp, blocks) = match params.split()?.optional(0, Param::Timestamp)? {
            Some(Mining::At(timestamp)) => (Some(timestamp), None),
            Some(Mining::Options { timestamp, blocks }) => (timestamp, blocks),
            None => (None, None),
        };
        let blocks = blocks.map_or(1, |Number(blocks)| blocks);
        if blocks > MAX_MINED {
            return Err(RpcError::InvalidParams(Param::BlockCount));
        }
        let mut timestamp = timestamp.map(|Number(timestamp)| timestamp);
        for _ in 0..blocks {
            service.node.control.mine(timestamp.take()).await?;
        }
        let mut answer = Answer::new();
        answer.text("\"0x0\"");
        Ok(answer)
    })
}

fn snapshot<'a>(service: &'a Service, _: Params<'a>) -> BoxFuture<'a, Result<Answer, RpcError>> {
    Box::pin(async move {
        let id = service.node.control.snapshot().await?;
        let mut answer = Answer::new();
        answer.quantity(id);
        Ok(answer)
    })
}

fn revert<'a>(service: &'a Service, params: Params<'a>) -> BoxFuture<'a, Result<Answer, RpcError>> {
    Box::pin(async move {
        let Number(id) = params.split()?.required(0, Param::Snapshot)?;
        let reverted = service.node.control.revert(id).await?;
        let mut answer = Answer::new();
        answer.json(&reverted)?;
        Ok(answer)
    })
}
