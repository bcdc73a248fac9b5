//! The six methods about filters.

use std::borrow::Cow;

use bytes::Bytes;
use jsonrpc::{Answer, Params};

use super::{
    Filters, LIFETIME,
    installed::{Collecting, FilterId, Installed},
};
use crate::{
    caller::Caller,
    gateway::Gateway,
    head::Served,
    logs::{Blocks, LogQuery},
    method::FilterCall,
    metrics::Way,
    refusal::Refusal,
};

/// How often a poll is tried again because the same filter was polled elsewhere at the same time.
const TRIES: usize = 4;
/// Longest filter that is kept: some two hundred addresses and topics.
const MAX_FILTER_BYTES: usize = 16 * 1024;

const BAD_FILTER: Refusal = Refusal::InvalidParams { reason: "bad_filter" };
const BAD_ID: Refusal = Refusal::InvalidParams { reason: "bad_filter_id" };

impl Gateway {
    /// Answers a call about the caller's filters.
    pub(crate) async fn filter(
        &self,
        caller: &Caller,
        call: FilterCall,
        params: Params<'_>,
        head: &Served,
    ) -> Result<(Answer, Way), Refusal> {
        let elements = params.elements().ok_or(Refusal::InvalidParams { reason: "named_params" })?;
        let (owner, first) = (caller.owner(), elements.get(0));
        let next = head.number + 1;
        let result = match call {
            FilterCall::NewLogs => {
                self.filters.install(owner, Collecting::Logs { filter: read_filter(first)?, next }).await
            }
            FilterCall::NewBlocks => self.filters.install(owner, Collecting::Blocks { next }).await,
            FilterCall::NewPending => {
                let since = self.hub.pool().begin(LIFETIME).await;
                self.filters.install(owner, Collecting::Pending { since }).await
            }
            FilterCall::Changes => self.filters.changes(self, &owner, read_id(first)?, head).await,
            FilterCall::Logs => self.filters.logs(self, &owner, read_id(first)?, head).await,
            FilterCall::Uninstall => self.filters.uninstall(&owner, read_id(first)?).await,
        };
        Ok((Answer::Result(result?), Way::Local))
    }
}

impl Filters {
    async fn install(&self, owner: String, collecting: Collecting) -> Result<Bytes, Refusal> {
        let id = FilterId::random();
        self.store.install(id, Installed { owner, polls: 0, collecting }).await?;
        Ok(format!("\"{id}\"").into())
    }

    async fn find(&self, owner: &str, id: FilterId) -> Result<Installed, Refusal> {
        let found = self.store.find(id).await?;
        found.filter(|filter| filter.owner == owner).ok_or(Refusal::FilterNotFound)
    }

    async fn changes(
        &self,
        gateway: &Gateway,
        owner: &str,
        id: FilterId,
        head: &Served,
    ) -> Result<Bytes, Refusal> {
        for _ in 0..TRIES {
            let found = self.find(owner, id).await?;
            let (json, collecting) = gateway.collect(&found.collecting, head).await?;
            if self.store.advance(id, &found, found.moved_to(collecting)).await? {
                return Ok(json);
            }
        }
        Err(Refusal::Unavailable { reason: "filter_polled_elsewhere" })
    }

    /// All logs of a filter, in the blocks that it names; where the next poll goes on does not change.
    async fn logs(
        &self,
        gateway: &Gateway,
        owner: &str,
        id: FilterId,
        head: &Served,
    ) -> Result<Bytes, Refusal> {
        let found = self.find(owner, id).await?;
        let Collecting::Logs { filter, .. } = &found.collecting else { return Err(Refusal::FilterNotFound) };
        let logs = gateway.logs_of(filter, head).await?;
        // A poll as well, so the filter lives on; if another poll was quicker it does so anyway.
        self.store.advance(id, &found, found.moved_to(found.collecting.clone())).await?;
        Ok(logs)
    }

    async fn uninstall(&self, owner: &str, id: FilterId) -> Result<Bytes, Refusal> {
        let existed = match self.find(owner, id).await {
            Ok(found) => {
                self.store.remove(id, &found).await?;
                "true"
            }
            Err(Refusal::FilterNotFound) => "false",
            Err(refusal) => return Err(refusal),
        };
        Ok(Bytes::from_static(existed.as_bytes()))
    }
}

/// A filter to install. What it collects begins with the next block, so it cannot be about one that is named by its hash.
fn read_filter(json: Option<&str>) -> Result<String, Refusal> {
    let json = json.filter(|json| *json != "null").unwrap_or("{}");
    if json.len() > MAX_FILTER_BYTES {
        return Err(Refusal::InvalidParams { reason: "long_filter" });
    }
    match LogQuery::read(json)?.blocks {
        Blocks::Range { .. } => Ok(json.to_owned()),
        Blocks::Hash(_) => Err(BAD_FILTER),
    }
}

/// An id as we give them out; any other text is the id of no filter.
fn read_id(json: Option<&str>) -> Result<FilterId, Refusal> {
    let text: Cow<'_, str> = serde_json::from_str(json.ok_or(BAD_ID)?).map_err(|_| BAD_ID)?;
    FilterId::parse(&text).ok_or(Refusal::FilterNotFound)
}
