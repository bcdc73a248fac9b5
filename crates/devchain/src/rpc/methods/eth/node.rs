//! What the node says of itself.

use futures_util::future::BoxFuture;

use crate::rpc::{
    config::Group,
    error::RpcError,
    jsonrpc::{Answer, Params},
    methods::{Handler, Method},
    service::Service,
};

pub(in crate::rpc::methods) const METHODS: &[Method] = &[
    Method::new(Group::Eth, "eth_chainId", "The chain's id", Handler::Read(chain_id)),
    Method::new(Group::Eth, "eth_accounts", "Always empty: the node keeps no keys", Handler::Read(accounts)),
    Method::new(Group::Eth, "eth_coinbase", "Address of this node's first validator", Handler::Ask(coinbase)),
    Method::new(Group::Eth, "eth_mining", "Always true", Handler::Read(always_true)),
    Method::new(Group::Eth, "eth_syncing", "Always false", Handler::Read(always_false)),
    Method::new(Group::Eth, "eth_hashrate", "Always 0x0", Handler::Read(no_hashrate)),
    Method::new(Group::Eth, "eth_getWork", "Refused: nobody mines by work", Handler::Read(no_work)),
    Method::new(Group::Eth, "eth_submitWork", "Always false", Handler::Read(always_false)),
    Method::new(Group::Eth, "eth_submitHashrate", "Always false", Handler::Read(always_false)),
    Method::new(Group::Eth, "eth_protocolVersion", "Besu's newest, 0x44", Handler::Read(protocol_version)),
];

fn chain_id(service: &Service, _: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    out.quantity(service.chain().spec().chain_id);
    Ok(())
}

fn accounts(_: &Service, _: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    out.text("[]");
    Ok(())
}

fn coinbase<'a>(service: &'a Service, _: Params<'a>) -> BoxFuture<'a, Result<Answer, RpcError>> {
    Box::pin(async move {
        let validators = service.node.control.validators().await?;
        let mut answer = Answer::new();
        answer.json(&validators.first().map(|validator| validator.address).unwrap_or_default())?;
        Ok(answer)
    })
}

fn always_true(_: &Service, _: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    out.text("true");
    Ok(())
}

fn always_false(_: &Service, _: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    out.text("false");
    Ok(())
}

fn no_hashrate(_: &Service, _: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    out.text("\"0x0\"");
    Ok(())
}

fn no_work(_: &Service, _: Params<'_>, _: &mut Answer) -> Result<(), RpcError> {
    Err(RpcError::NoWork)
}

fn protocol_version(_: &Service, _: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    out.text("\"0x44\"");
    Ok(())
}
