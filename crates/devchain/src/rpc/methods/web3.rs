//! `web3_*`.

use alloy_primitives::{Bytes, keccak256};

use crate::rpc::{
    config::Group,
    error::{Param, RpcError},
    jsonrpc::{Answer, Params},
    methods::{Handler, Method},
    service::Service,
};

pub(super) const METHODS: &[Method] = &[
    Method::new(Group::Web3, "web3_clientVersion", "Name and version of the node", Handler::Read(version)),
    Method::new(Group::Web3, "web3_sha3", "Keccak-256 of the given bytes", Handler::Read(sha3)),
];

fn version(service: &Service, _: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    out.json(&service.config.client_version)
}

fn sha3(_: &Service, params: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    let data: Bytes = params.split()?.required(0, Param::Data)?;
    out.json(&keccak256(&data))
}
