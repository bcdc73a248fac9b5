//! `txpool_*`: Besu's methods, and geth's because tools use them.

use std::{collections::BTreeMap, sync::Arc};

use alloy_consensus::Transaction as _;
use alloy_primitives::{Address, B256};
use alloy_rpc_types_eth::Transaction as TransactionView;
use serde::Serialize;

use super::quantity::Number;
use crate::{
    block::Transaction,
    pool::{PoolLimits, Pooled},
    rpc::{
        config::Group,
        error::{Param, RpcError},
        jsonrpc::{Answer, Params},
        methods::{Handler, Method, answered},
        service::{Done, Place, Service},
        wire,
    },
};

/// Fuller pools are not listed on an asynchronous thread.
const FEW_TRANSACTIONS: usize = 500;

pub(super) const METHODS: &[Method] = &[
    Method::new(Group::Txpool, "txpool_besuStatistics", "How full the pool is", Handler::Read(statistics)),
    Method::new(
        Group::Txpool,
        "txpool_besuTransactions",
        "Hashes in the pool",
        Handler::Weighed(transactions),
    ),
    Method::new(
        Group::Txpool,
        "txpool_besuPendingTransactions",
        "Transactions in the pool",
        Handler::Weighed(pending),
    ),
    Method::new(Group::Txpool, "txpool_status", "How full the pool is", Handler::Read(status)),
    Method::new(Group::Txpool, "txpool_content", "The pool by sender and nonce", Handler::Weighed(content)),
    Method::new(Group::Txpool, "txpool_inspect", "The pool in short text", Handler::Weighed(inspect)),
];

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Statistics {
    max_size: usize,
    local_count: usize,
    remote_count: usize,
}

fn statistics(service: &Service, _: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    out.json(&Statistics {
        max_size: PoolLimits::default().max_transactions,
        local_count: service.chain().pool().len(),
        remote_count: 0,
    })
}

fn is_too_full_for(service: &Service, place: Place<'_>) -> bool {
    place.is_inline() && service.chain().pool().len() > FEW_TRANSACTIONS
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    hash: B256,
    is_received_from_local_source: bool,
}

fn transactions(
    service: &Service,
    _: Params<'_>,
    out: &mut Answer,
    place: Place<'_>,
) -> Result<Done, RpcError> {
    if is_too_full_for(service, place) {
        return Ok(Done::NotHere);
    }
    let listed =
        service.chain().pool().content().into_iter().map(|pooled| Listed {
            hash: *pooled.transaction.tx_hash(),
            is_received_from_local_source: true,
        });
    answered(out.json(&listed.collect::<Vec<_>>()))
}

fn pending(
    service: &Service,
    params: Params<'_>,
    out: &mut Answer,
    place: Place<'_>,
) -> Result<Done, RpcError> {
    let limit = params.split()?.optional::<Number>(0, Param::Count)?;
    if is_too_full_for(service, place) {
        return Ok(Done::NotHere);
    }
    let most = limit.map_or(usize::MAX, |Number(limit)| usize::try_from(limit).unwrap_or(usize::MAX));
    let pooled = service.chain().pool().content();
    let views = pooled.iter().take(most).map(|pooled| wire::pending_transaction(&pooled.transaction));
    answered(out.json(&views.collect::<Vec<_>>()))
}

/// geth's two halves: what could be mined now, and what waits for a lower nonce.
#[derive(Serialize, Default)]
struct Halves<T> {
    pending: T,
    queued: T,
}

fn status(service: &Service, _: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    let status = service.chain().pool().status();
    out.json(&Halves {
        pending: alloy_primitives::U64::from(status.executable),
        queued: alloy_primitives::U64::from(status.waiting),
    })
}

type BySender<T> = BTreeMap<Address, BTreeMap<String, T>>;

fn halves<T: Default>(pooled: Vec<Pooled>, view: impl Fn(&Arc<Transaction>) -> T) -> Halves<BySender<T>> {
    let mut halves = Halves::<BySender<T>>::default();
    for Pooled { transaction, executable } in pooled {
        let half = if executable { &mut halves.pending } else { &mut halves.queued };
        let nonce = transaction.nonce().to_string();
        half.entry(transaction.signer()).or_default().insert(nonce, view(&transaction));
    }
    halves
}

fn content(service: &Service, _: Params<'_>, out: &mut Answer, place: Place<'_>) -> Result<Done, RpcError> {
    if is_too_full_for(service, place) {
        return Ok(Done::NotHere);
    }
    let view = |transaction: &Arc<Transaction>| -> Option<TransactionView> {
        Some(wire::pending_transaction(transaction))
    };
    answered(out.json(&halves(service.chain().pool().content(), view)))
}

fn inspect(service: &Service, _: Params<'_>, out: &mut Answer, place: Place<'_>) -> Result<Done, RpcError> {
    if is_too_full_for(service, place) {
        return Ok(Done::NotHere);
    }
    let view = |transaction: &Arc<Transaction>| {
        let to = transaction.to().map_or_else(|| "contract creation".to_owned(), |to| to.to_string());
        let (value, gas, price) =
            (transaction.value(), transaction.gas_limit(), transaction.max_fee_per_gas());
        format!("{to}: {value} wei + {gas} gas × {price} wei")
    };
    answered(out.json(&halves(service.chain().pool().content(), view)))
}
