//! `eth_subscribe` and `eth_unsubscribe`, over WebSocket only.

use std::borrow::Cow;

use alloy_rpc_types_eth::Filter;
use serde::Deserialize;

use crate::rpc::{
    config::Group,
    error::{Param, RpcError},
    jsonrpc::{Answer, Params},
    methods::{Handler, Method, quantity::Number},
    subscriptions::{Session, Topic},
};

pub(in crate::rpc::methods) const METHODS: &[Method] = &[
    Method::new(Group::Eth, "eth_subscribe", "Pushes events over a WebSocket", Handler::Session(subscribe)),
    Method::new(Group::Eth, "eth_unsubscribe", "Ends a subscription", Handler::Session(unsubscribe)),
];

/// Besu's option object, or geth's bare flag.
#[derive(Deserialize)]
#[serde(untagged)]
enum Whole {
    Flag(bool),
    Option {
        #[serde(default, rename = "includeTransactions")]
        include_transactions: bool,
    },
}

impl Whole {
    fn is_wanted(&self) -> bool {
        match self {
            Whole::Flag(wanted) | Whole::Option { include_transactions: wanted } => *wanted,
        }
    }
}

/// A bad subscription is an invalid request in Besu, not a bad parameter.
fn subscribe(session: &mut Session, params: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    let params = params.split().map_err(|_| RpcError::InvalidRequest)?;
    let refused = |_| RpcError::InvalidRequest;
    let name: Cow<'_, str> = params.required(0, Param::Subscription).map_err(refused)?;
    let full = || {
        let whole = params.optional::<Whole>(1, Param::Subscription).map_err(refused)?;
        Ok::<_, RpcError>(whole.is_some_and(|whole| whole.is_wanted()))
    };
    let topic = match name.as_ref() {
        "newHeads" => Topic::Heads { full: full()? },
        "newPendingTransactions" => Topic::Pending { full: full()? },
        "syncing" => Topic::Syncing,
        "logs" => {
            let filter: Option<Filter> = params.optional(1, Param::Filter).map_err(refused)?;
            Topic::Logs(Box::new(filter.unwrap_or_default()))
        }
        _ => return Err(RpcError::InvalidRequest),
    };
    out.quantity(session.subscribe(topic)?);
    Ok(())
}

fn unsubscribe(session: &mut Session, params: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    let Number(id) = params.split()?.required(0, Param::SubscriptionId)?;
    if !session.unsubscribe(id) {
        return Err(RpcError::SubscriptionNotFound);
    }
    out.text("true");
    Ok(())
}
