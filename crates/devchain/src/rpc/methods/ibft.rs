//! `ibft_*`: who validates, who proposed, and this node's votes, exactly as Besu answers them.

use std::{borrow::Cow, collections::BTreeMap};

use alloy_primitives::{Address, B256, U64};
use futures_util::future::BoxFuture;
use ibft::{
    extra_data::ExtraData,
    votes::{Vote, VoteKind},
};
use serde::Serialize;

use super::quantity::parse_number;
use crate::rpc::{
    config::Group,
    error::{Param, RpcError},
    jsonrpc::{Answer, Params, Positional},
    methods::{Handler, Method, answered},
    service::{Done, Place, Service},
};

/// The validator whose votes Besu's methods are about: a Besu node has one.
const OWN_VALIDATOR: &str = "V1";
/// Blocks that metrics cover when no range is given.
const METRICS_BLOCKS: u64 = 100;
/// Longer ranges are not scanned on an asynchronous thread.
const SHORT_RANGE: u64 = 200;

pub(super) const METHODS: &[Method] = &[
    Method::new(
        Group::Ibft,
        "ibft_getValidatorsByBlockNumber",
        "Validators listed in a block",
        Handler::Read(by_number),
    ),
    Method::new(
        Group::Ibft,
        "ibft_getValidatorsByBlockHash",
        "Validators listed in a block",
        Handler::Read(by_hash),
    ),
    Method::control(
        Group::Ibft,
        "ibft_proposeValidatorVote",
        "Votes to add or drop a validator",
        Handler::Ask(propose),
    ),
    Method::control(Group::Ibft, "ibft_discardValidatorVote", "Forgets a vote", Handler::Ask(discard)),
    Method::new(Group::Ibft, "ibft_getPendingVotes", "This node's votes", Handler::Ask(pending_votes)),
    Method::new(
        Group::Ibft,
        "ibft_getSignerMetrics",
        "Blocks proposed by each validator",
        Handler::Weighed(signer_metrics),
    ),
];

fn by_number(service: &Service, params: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    let params = params.split()?;
    let head = service.chain().head().block.number();
    let number = match params.required::<Cow<'_, str>>(0, Param::IbftBlock)?.as_ref() {
        "latest" | "pending" => head,
        "earliest" => 0,
        // Besu has no such blocks here, other than in `eth_*`.
        "safe" | "finalized" => return Err(RpcError::UnknownBlock),
        number => parse_number(number).ok_or(RpcError::InvalidParams(Param::IbftBlock))?,
    };
    validators_of(service, Some(number).filter(|number| *number <= head), out)
}

fn by_hash(service: &Service, params: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    let hash = params.split()?.required::<B256>(0, Param::BlockHash)?;
    validators_of(service, service.chain().store().number_of(hash)?, out)
}

fn validators_of(service: &Service, number: Option<u64>, out: &mut Answer) -> Result<(), RpcError> {
    match number {
        Some(number) => out.json(&listed(service, number)?),
        None => {
            out.text("null");
            Ok(())
        }
    }
}

/// The validators as the block's header lists them.
fn listed(service: &Service, number: u64) -> Result<Vec<Address>, RpcError> {
    let header = service.chain().store().header(number)?.ok_or(RpcError::BlockNotFound)?;
    let extra = ExtraData::decode(&header.extra_data).map_err(|error| RpcError::internal(&error))?;
    Ok(extra.validators)
}

/// An address with or without `0x`, as Besu takes it here.
fn address(params: &Positional<'_>) -> Result<Address, RpcError> {
    let text: Cow<'_, str> = params.required(0, Param::Address)?;
    text.parse().map_err(|_| RpcError::InvalidParams(Param::Address))
}

fn propose<'a>(service: &'a Service, params: Params<'a>) -> BoxFuture<'a, Result<Answer, RpcError>> {
    Box::pin(async move {
        let params = params.split()?;
        let recipient = address(&params)?;
        let add = params.required::<bool>(1, Param::Vote)?;
        let kind = if add { VoteKind::Add } else { VoteKind::Drop };
        service.node.control.propose_vote(OWN_VALIDATOR, Vote { recipient, kind }).await?;
        Ok(yes())
    })
}

fn discard<'a>(service: &'a Service, params: Params<'a>) -> BoxFuture<'a, Result<Answer, RpcError>> {
    Box::pin(async move {
        let subject = address(&params.split()?)?;
        service.node.control.discard_vote(OWN_VALIDATOR, subject).await?;
        Ok(yes())
    })
}

fn yes() -> Answer {
    let mut answer = Answer::new();
    answer.text("true");
    answer
}

fn pending_votes<'a>(service: &'a Service, _: Params<'a>) -> BoxFuture<'a, Result<Answer, RpcError>> {
    Box::pin(async move {
        let validators = service.node.control.validators().await?;
        let own = validators.into_iter().find(|validator| validator.name == OWN_VALIDATOR);
        let votes = own.map(|own| own.votes).unwrap_or_default();
        let mut answer = Answer::new();
        answer.json(&votes.iter().map(|vote| (hex(vote.address), vote.add)).collect::<BTreeMap<_, _>>())?;
        Ok(answer)
    })
}

/// Lower case, as keys of an object: serde writes addresses so, `Display` does not.
fn hex(address: Address) -> String {
    format!("{address:#x}")
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SignerMetric {
    address: Address,
    proposed_block_count: U64,
    last_proposed_block_number: U64,
}

/// Counts proposals in `[from, to)`. The validators of the last block in it are listed even without any.
fn signer_metrics(
    service: &Service,
    params: Params<'_>,
    out: &mut Answer,
    place: Place<'_>,
) -> Result<Done, RpcError> {
    let params = params.split()?;
    let head = service.chain().head().block.number();
    let from = bound(&params, 0, head)?.unwrap_or(head.saturating_sub(METRICS_BLOCKS));
    let to = bound(&params, 1, head)?.unwrap_or(head).min(head);
    if from >= to {
        return Err(RpcError::InvalidParams(Param::BlockNumber));
    }
    if place.is_inline() && to - from > SHORT_RANGE {
        return Ok(Done::NotHere);
    }
    let mut proposals: BTreeMap<Address, (u64, u64)> = BTreeMap::new();
    for header in service.chain().store().headers(from..=to - 1) {
        place.check()?;
        let header = header?;
        let (count, last) = proposals.entry(header.beneficiary).or_default();
        *count += 1;
        *last = header.number;
    }
    for validator in listed(service, to - 1)? {
        proposals.entry(validator).or_default();
    }
    let metrics: Vec<SignerMetric> = proposals
        .into_iter()
        .map(|(address, (count, last))| SignerMetric {
            address,
            proposed_block_count: U64::from(count),
            last_proposed_block_number: U64::from(last),
        })
        .collect();
    answered(out.json(&metrics))
}

fn bound(params: &Positional<'_>, index: usize, head: u64) -> Result<Option<u64>, RpcError> {
    let Some(text) = params.optional::<Cow<'_, str>>(index, Param::BlockNumber)? else {
        return Ok(None);
    };
    match text.as_ref() {
        "earliest" => Ok(Some(0)),
        "latest" | "pending" => Ok(Some(head)),
        // Besu fails inside on the other tags; a refusal says more.
        number => parse_number(number).map(Some).ok_or(RpcError::InvalidParams(Param::BlockNumber)),
    }
}
