//! New blocks as they come.

use std::sync::Arc;

use async_graphql::{Context, Error, Subscription};
use chain::Head;
use futures_util::{Stream, stream};
use tokio::sync::watch;

use super::query::{refusal, state};
use crate::{extract::path::BlockName, state::ApiState, view::block::BlockView};

/// Blocks that a slow subscriber is still given; of more it gets the newest.
const MOST_BEHIND: u64 = 64;

/// What can be subscribed to.
pub(crate) struct Subscription;

#[Subscription]
impl Subscription {
    /// Every block from now on, in order. A subscriber that falls more than 64 blocks behind misses the oldest.
    async fn new_blocks(
        &self,
        ctx: &Context<'_>,
    ) -> Result<impl Stream<Item = Result<BlockView, Error>> + use<>, Error> {
        let state = ctx.data::<Arc<ApiState>>()?.clone();
        let mut heads = self::state(ctx)?.chain.heads();
        let newest = heads.borrow_and_update().as_ref().map_or(0, |head| head.number());
        Ok(stream::unfold(Feed { state, heads, sent: newest }, Feed::next))
    }
}

/// A subscriber's place in the chain.
struct Feed {
    state: Arc<ApiState>,
    heads: watch::Receiver<Option<Arc<Head>>>,
    sent: u64,
}

impl Feed {
    /// Waits for the next block. The feed ends with the chain's.
    async fn next(mut self) -> Option<(Result<BlockView, Error>, Self)> {
        loop {
            let newest = self.heads.borrow_and_update().as_ref().map_or(0, |head| head.number());
            // The chain went back; what follows is new again.
            self.sent = self.sent.min(newest).max(newest.saturating_sub(MOST_BEHIND));
            if self.sent < newest {
                self.sent += 1;
                let block = self.state.block_view(BlockName::Number(self.sent)).await;
                return Some((block.map_err(refusal), self));
            }
            self.heads.changed().await.ok()?;
        }
    }
}
