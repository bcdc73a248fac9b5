//! Transactions tried without being sent: calls, gas estimates and access lists.

use alloy_consensus::Header;
use alloy_primitives::TxKind;
use alloy_rpc_types_eth::{BlockOverrides, TransactionRequest, state::StateOverride};

use crate::{
    chain::Moment,
    exec::{self, CallContext, CallKey, CallOutcome, EstimateError, INLINE_GAS, Interrupt, Interruption},
    rpc::{
        config::Group,
        error::{Param, RpcError},
        failure::reverted,
        jsonrpc::{Answer, Params, Positional},
        methods::{Handler, Method, answered, block_param::BlockParam},
        service::{Done, Place, Service},
    },
};

/// Simulations that used more let others on the thread have a turn before the next one.
const SHORT_GAS: u64 = 50_000;

pub(in crate::rpc::methods) const METHODS: &[Method] = &[
    Method::new(Group::Eth, "eth_call", "Runs a call without a transaction", Handler::Weighed(call)),
    Method::new(Group::Eth, "eth_estimateGas", "Gas that a transaction needs", Handler::Weighed(estimate)),
    Method::new(
        Group::Eth,
        "eth_createAccessList",
        "What a transaction touches",
        Handler::Weighed(access_list),
    ),
];

/// What a simulation starts from.
pub(in crate::rpc::methods) struct Scene {
    at: Moment,
    /// Another header than that of `at`: the next block's.
    next: Option<Box<Header>>,
}

impl Scene {
    /// The scene for a block; `pending` is the block after the head.
    pub(in crate::rpc::methods) fn new(service: &Service, block: BlockParam) -> Result<Self, RpcError> {
        let next = match block {
            BlockParam::Pending => Some(Box::new(service.chain().pending_header())),
            BlockParam::Latest | BlockParam::Number(_) | BlockParam::Hash(_) => None,
        };
        Ok(Self { at: service.at(block)?, next })
    }

    /// Runs something in the scene.
    pub(in crate::rpc::methods) fn play<T>(
        &self,
        service: &Service,
        interrupt: &Interrupt,
        act: impl FnOnce(CallContext<'_>) -> T,
    ) -> T {
        let hashes = service.chain().block_hashes();
        act(CallContext {
            spec: service.chain().spec(),
            state: self.at.state(),
            hashes: &hashes,
            header: self.next.as_deref().unwrap_or(self.at.header()),
            gas_cap: service.config.limits.call_gas_cap,
            interrupt,
        })
    }
}

/// Runs a simulation unless it should not run here. On an asynchronous thread it is stopped when it has executed too
/// much; `run` also gives the gas used, by which the call is known next time.
fn weighed<T>(
    service: &Service,
    request: &TransactionRequest,
    place: Place<'_>,
    run: impl FnOnce(&Interrupt) -> (Result<T, RpcError>, u64),
) -> Result<Option<(T, Done)>, RpcError> {
    let key = call_key(request);
    let briefly = Interrupt::after_gas(INLINE_GAS);
    let interrupt = match place {
        Place::Inline if key.is_none_or(|key| service.call_costs.is_slow(&key)) => return Ok(None),
        Place::Inline => &briefly,
        Place::Worker(interrupt) => interrupt,
    };
    let (result, gas) = run(interrupt);
    let is_too_much = matches!(result, Err(RpcError::Interrupted(Interruption::Gas)));
    if let Some(key) = key {
        service.call_costs.note(key, if is_too_much { u64::MAX } else { gas });
    }
    if is_too_much {
        return Ok(None);
    }
    let done = if gas > SHORT_GAS { Done::AnsweredSlowly } else { Done::Answered };
    Ok(Some((result?, done)))
}

/// Contract and function; creations have neither and count as slow.
fn call_key(request: &TransactionRequest) -> Option<CallKey> {
    let Some(TxKind::Call(to)) = request.to else {
        return None;
    };
    Some(CallKey::new(to, request.input.input().map_or(&[], |input| input.as_ref())))
}

fn request(params: &Positional<'_>) -> Result<TransactionRequest, RpcError> {
    params.required(0, Param::Call)
}

fn call(service: &Service, params: Params<'_>, out: &mut Answer, place: Place<'_>) -> Result<Done, RpcError> {
    let params = params.split()?;
    // Overrides may bring code of any cost along.
    if place.is_inline() && (params.text(2).is_some() || params.text(3).is_some()) {
        return Ok(Done::NotHere);
    }
    let request = request(&params)?;
    let overrides = params.optional::<StateOverride>(2, Param::Overrides)?;
    let block_overrides = params.optional::<BlockOverrides>(3, Param::Overrides)?;
    let block = match service.block_param(&params, 1)? {
        BlockParam::Pending => BlockParam::Latest,
        other => other,
    };
    let scene = Scene::new(service, block)?;
    let outcome = weighed(service, &request, place, |interrupt| {
        let (state, block) = (overrides.as_ref(), block_overrides.as_ref());
        let outcome = scene.play(service, interrupt, |context| exec::call(context, &request, state, block));
        let gas = outcome.as_ref().map_or(0, CallOutcome::gas_used);
        (outcome.map_err(RpcError::from), gas)
    });
    match outcome? {
        None => Ok(Done::NotHere),
        Some((CallOutcome::Success { output, .. }, done)) => out.json(&output).map(|()| done),
        Some((CallOutcome::Revert { output, .. }, _)) => Err(reverted(output)),
        Some((CallOutcome::Halt { .. }, _)) => Err(RpcError::Halted),
    }
}

fn estimate(
    service: &Service,
    params: Params<'_>,
    out: &mut Answer,
    place: Place<'_>,
) -> Result<Done, RpcError> {
    let params = params.split()?;
    if place.is_inline() && params.text(2).is_some() {
        return Ok(Done::NotHere);
    }
    let request = request(&params)?;
    let overrides = params.optional::<StateOverride>(2, Param::Overrides)?;
    let scene = Scene::new(service, service.block_param(&params, 1)?)?;
    let estimate = weighed(service, &request, place, |interrupt| {
        let estimate = scene
            .play(service, interrupt, |context| exec::estimate_gas(context, &request, overrides.as_ref()));
        let gas = match &estimate {
            Ok(gas) => *gas,
            Err(EstimateError::OutOfGas { .. } | EstimateError::Halt { .. }) => u64::MAX,
            Err(EstimateError::Exec(_) | EstimateError::Revert { .. }) => 0,
        };
        (estimate.map_err(RpcError::from), gas)
    });
    match estimate? {
        None => Ok(Done::NotHere),
        Some((gas, done)) => {
            out.quantity(gas);
            Ok(done)
        }
    }
}

fn access_list(
    service: &Service,
    params: Params<'_>,
    out: &mut Answer,
    place: Place<'_>,
) -> Result<Done, RpcError> {
    let params = params.split()?;
    let request = request(&params)?;
    // It is run several times over, under an inspector.
    let Place::Worker(interrupt) = place else {
        return Ok(Done::NotHere);
    };
    let scene = Scene::new(service, service.block_param(&params, 1)?)?;
    let list = scene.play(service, interrupt, |context| exec::create_access_list(context, &request))?;
    answered(out.json(&list))
}
