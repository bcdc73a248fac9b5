//! `net_*` and `rpc_modules`.

use std::collections::BTreeMap;

use crate::rpc::{
    config::Group,
    error::RpcError,
    jsonrpc::{Answer, Params},
    methods::{Handler, Method},
    service::Service,
};

pub(super) const METHODS: &[Method] = &[
    Method::new(Group::Net, "net_version", "The network's id, in decimal", Handler::Read(version)),
    Method::new(Group::Net, "net_listening", "Always true", Handler::Read(listening)),
    Method::new(Group::Net, "net_peerCount", "Always 0x0", Handler::Read(peer_count)),
    Method::new(Group::Net, "net_enode", "Refused: there are no peers", Handler::Read(enode)),
    Method::new(Group::Net, "net_services", "Always empty", Handler::Read(services)),
    Method::new(Group::Rpc, "rpc_modules", "The enabled groups", Handler::Read(modules)),
];

fn version(service: &Service, _: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    out.json(&service.chain().spec().chain_id.to_string())
}

fn listening(_: &Service, _: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    out.text("true");
    Ok(())
}

fn peer_count(_: &Service, _: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    out.text("\"0x0\"");
    Ok(())
}

fn enode(_: &Service, _: Params<'_>, _: &mut Answer) -> Result<(), RpcError> {
    Err(RpcError::NoPeers)
}

fn services(_: &Service, _: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    out.text("{}");
    Ok(())
}

fn modules(service: &Service, _: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    let enabled = Group::ALL.into_iter().filter(|group| service.config.groups.contains(*group));
    out.json(&enabled.map(|group| (group.name(), "1.0")).collect::<BTreeMap<_, _>>())
}
