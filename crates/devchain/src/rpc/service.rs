//! What the methods work with: the node, the caches and filters that belong to this port, and the way a call
//! is run, in place or off the asynchronous threads.

use std::sync::Arc;

use alloy_primitives::map::HashMap;
use serde_json::value::RawValue;
use tokio::sync::broadcast::error::RecvError;

use super::{
    Node, RpcConfig,
    error::RpcError,
    filters::Filters,
    jsonrpc::{Answer, Caller, Methods, Params},
    methods::{Handler, METHODS, Method},
    subscriptions::{Feed, Session},
    wire::BlockCache,
};
use crate::{
    chain::{Chain, ChainEvent, FeeSuggestions},
    exec::{CallCosts, Interrupt},
    workers::{Client, Weight},
};

/// Missed blocks that are announced late rather than never.
const MAX_CAUGHT_UP: u64 = 256;

/// Whether a call was answered where it was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Done {
    /// The answer is written.
    Answered,
    /// The answer is written, and it took so long that others should have a turn before the next one.
    AnsweredSlowly,
    /// It may take long; try again where that does no harm. Nothing is written.
    NotHere,
}

/// Where a call runs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place<'a> {
    /// On an asynchronous thread: be quick or refuse. A thread hop costs more than a small call.
    Inline,
    /// On a thread for long work, until it is interrupted.
    Worker(&'a Interrupt),
}

impl Place<'_> {
    pub(crate) fn is_inline(self) -> bool {
        matches!(self, Self::Inline)
    }

    /// Fails if the work has to end: its time is over, or nobody waits for it.
    pub(crate) fn check(self) -> Result<(), RpcError> {
        match self {
            Self::Inline => Ok(()),
            Self::Worker(interrupt) => Ok(interrupt.check()?),
        }
    }
}

/// The methods of one port.
pub(crate) struct Service {
    pub(crate) node: Arc<Node>,
    pub(crate) config: RpcConfig,
    pub(crate) feed: Arc<Feed>,
    pub(crate) filters: Filters,
    pub(crate) blocks: BlockCache,
    pub(crate) fees: FeeSuggestions,
    pub(crate) call_costs: CallCosts,
    by_name: HashMap<&'static str, &'static Method>,
}

impl Service {
    pub(crate) fn new(node: Arc<Node>, config: RpcConfig) -> Self {
        let limits = &config.limits;
        Self {
            feed: Arc::new(Feed::new(limits.max_queued_events)),
            filters: Filters::new(limits.max_filters, limits.filter_timeout),
            blocks: BlockCache::new(limits.block_cache_bytes),
            fees: FeeSuggestions::default(),
            call_costs: CallCosts::default(),
            by_name: METHODS.iter().copied().flatten().map(|method| (method.name, method)).collect(),
            node,
            config,
        }
    }

    pub(crate) fn chain(&self) -> &Chain {
        &self.node.chain
    }

    /// Passes the chain's events on to subscribers and filters, for as long as the chain lives.
    pub(crate) fn follow_chain(&self) -> impl Future<Output = ()> + use<> {
        let mut events = self.chain().subscribe();
        let (node, feed) = (Arc::clone(&self.node), Arc::clone(&self.feed));
        async move {
            let mut last = node.chain.head().block.number();
            loop {
                match events.recv().await {
                    Ok(ChainEvent::Head(head)) => {
                        announce_missed(&node.chain, &feed, last, head.block.number());
                        last = head.block.number();
                        feed.announce_head(Arc::clone(&head.block), Arc::clone(&head.receipts));
                    }
                    Ok(ChainEvent::Pending(transaction)) => feed.announce_pending(transaction),
                    Ok(ChainEvent::Reverted { to }) => last = to,
                    Err(RecvError::Lagged(missed)) => {
                        tracing::warn!(missed, "events of the chain were missed")
                    }
                    Err(RecvError::Closed) => return std::future::pending().await,
                }
            }
        }
    }

    /// Runs a method on a thread for long work.
    async fn run_on_worker(
        self: &Arc<Self>,
        client: Client,
        weight: Weight,
        params: Params<'_>,
        run: impl FnOnce(&Service, Params<'_>, &mut Answer, &Interrupt) -> Result<(), RpcError> + Send + 'static,
        out: &mut Answer,
    ) -> Result<(), RpcError> {
        let this = Arc::clone(self);
        let params: Option<Box<RawValue>> = params.raw().map(ToOwned::to_owned);
        let work = move |interrupt: &Interrupt| {
            let mut answer = Answer::new();
            run(&this, Params::new(params.as_deref()), &mut answer, interrupt).map(|()| answer)
        };
        out.append(self.chain().workers().run(client, weight, work).await??);
        Ok(())
    }
}

/// Announces the blocks between two heads, should events have been missed.
fn announce_missed(chain: &Chain, feed: &Feed, last: u64, head: u64) {
    for number in (last + 1).max(head.saturating_sub(MAX_CAUGHT_UP))..head {
        let (block, receipts) = (chain.store().block(number), chain.store().receipts(number));
        if let (Ok(Some(block)), Ok(Some(receipts))) = (block, receipts) {
            feed.announce_head(block, receipts);
        }
    }
}

impl Methods for Service {
    async fn call(
        self: &Arc<Self>,
        method: &str,
        params: Params<'_>,
        caller: Caller<'_>,
        out: &mut Answer,
    ) -> Result<(), RpcError> {
        let method = self.by_name.get(method).ok_or(RpcError::MethodNotFound)?;
        if !self.config.groups.contains(method.group) {
            return Err(RpcError::MethodNotEnabled);
        }
        if method.is_control && caller.is_page {
            return Err(RpcError::NotForPages);
        }
        match (&method.handler, caller.session) {
            (Handler::Read(read), _) => read(self, params, out),
            (Handler::Weighed(run), _) => match run(self, params, out, Place::Inline)? {
                Done::Answered => Ok(()),
                Done::AnsweredSlowly => {
                    tokio::task::yield_now().await;
                    Ok(())
                }
                Done::NotHere => {
                    let run = *run;
                    let run = move |service: &Service,
                                    params: Params<'_>,
                                    out: &mut Answer,
                                    interrupt: &Interrupt| {
                        run(service, params, out, Place::Worker(interrupt)).map(drop)
                    };
                    self.run_on_worker(caller.client, Weight::Light, params, run, out).await
                }
            },
            (Handler::Trace(run), _) => {
                self.run_on_worker(caller.client, Weight::Trace, params, *run, out).await
            }
            (Handler::Ask(ask), _) => {
                out.append(ask(self, params).await?);
                Ok(())
            }
            (Handler::Session(run), Some(session)) => run(session, params, out),
            (Handler::Session(_), None) => Err(RpcError::MethodNotEnabled),
        }
    }

    fn session(&self) -> Session {
        Session::new(Arc::clone(&self.feed), self.config.limits.max_subscriptions)
    }

    fn is_ready(&self) -> bool {
        // The chain is opened before the port is; from then on it can answer.
        true
    }

    fn max_batch(&self) -> usize {
        self.config.limits.max_batch
    }

    fn max_batch_answer_bytes(&self) -> usize {
        self.config.limits.max_batch_answer_bytes
    }
}
