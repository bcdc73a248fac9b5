//! Filters that callers install and poll, kept by the gateway so that they never touch a node's tables.

use jsonrpc::{Answer, Params};

use crate::{
    caller::Caller, gateway::Gateway, head::Served, method::FilterCall, metrics::Way, refusal::Refusal,
};

impl Gateway {
    /// Answers a call about filters.
    pub(crate) async fn filter(
        &self,
        _caller: &Caller,
        _call: FilterCall,
        _params: Params<'_>,
        _head: &Served,
    ) -> Result<(Answer, Way), Refusal> {
        Err(Refusal::FilterNotFound)
    }
}
