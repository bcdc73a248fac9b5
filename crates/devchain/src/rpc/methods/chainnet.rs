//! `chainnet_*`: this node's validators, for whoever operates it.

use std::borrow::Cow;

use alloy_primitives::Address;
use futures_util::future::BoxFuture;
use ibft::votes::{Vote, VoteKind};

use crate::rpc::{
    config::Group,
    error::{Param, RpcError},
    jsonrpc::{Answer, Params, Positional},
    methods::{Handler, Method},
    service::Service,
};

pub(super) const METHODS: &[Method] = &[
    Method::new(Group::Control, "chainnet_validators", "This node's validators", Handler::Ask(validators)),
    Method::control(Group::Control, "chainnet_stopValidator", "Stops a validator", Handler::Ask(stop)),
    Method::control(Group::Control, "chainnet_startValidator", "Starts a validator", Handler::Ask(start)),
    Method::control(Group::Control, "chainnet_proposeVote", "Has a validator vote", Handler::Ask(propose)),
    Method::control(
        Group::Control,
        "chainnet_discardVote",
        "Has a validator forget a vote",
        Handler::Ask(discard),
    ),
];

fn validator<'a>(params: &Positional<'a>) -> Result<Cow<'a, str>, RpcError> {
    params.required(0, Param::Validator)
}

fn yes() -> Answer {
    let mut answer = Answer::new();
    answer.text("true");
    answer
}

fn validators<'a>(service: &'a Service, _: Params<'a>) -> BoxFuture<'a, Result<Answer, RpcError>> {
    Box::pin(async move {
        let mut answer = Answer::new();
        answer.json(&service.node.control.validators().await?)?;
        Ok(answer)
    })
}

fn stop<'a>(service: &'a Service, params: Params<'a>) -> BoxFuture<'a, Result<Answer, RpcError>> {
    Box::pin(async move {
        service.node.control.stop_validator(&validator(&params.split()?)?).await?;
        Ok(yes())
    })
}

fn start<'a>(service: &'a Service, params: Params<'a>) -> BoxFuture<'a, Result<Answer, RpcError>> {
    Box::pin(async move {
        service.node.control.start_validator(&validator(&params.split()?)?).await?;
        Ok(yes())
    })
}

fn propose<'a>(service: &'a Service, params: Params<'a>) -> BoxFuture<'a, Result<Answer, RpcError>> {
    Box::pin(async move {
        let params = params.split()?;
        let recipient: Address = params.required(1, Param::Address)?;
        let add = params.required::<bool>(2, Param::Vote)?;
        let vote = Vote { recipient, kind: if add { VoteKind::Add } else { VoteKind::Drop } };
        service.node.control.propose_vote(&validator(&params)?, vote).await?;
        Ok(yes())
    })
}

fn discard<'a>(service: &'a Service, params: Params<'a>) -> BoxFuture<'a, Result<Answer, RpcError>> {
    Box::pin(async move {
        let params = params.split()?;
        let subject: Address = params.required(1, Param::Address)?;
        service.node.control.discard_vote(&validator(&params)?, subject).await?;
        Ok(yes())
    })
}
