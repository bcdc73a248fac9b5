//! `/api/v1/blocks…`: blocks, one or a page of them.

use std::sync::Arc;

use axum::extract::State;
use chain::Block;
use futures_util::{StreamExt, TryStreamExt, stream};

use super::segment::Segment;
use crate::{
    edge::answer::{Answer, Holds},
    extract::{
        cursor::BlockCursor,
        path::{self, BlockName},
        query::Query,
    },
    problem::Problem,
    state::ApiState,
    view::block::{AnyBlockView, BlockSummary, BlockView, BlocksView, ExpandedBlockView},
    view::transaction::TransactionView,
};

/// Blocks of a page that are read at the same time.
const PARALLEL_READS: usize = 8;

/// Blocks, newest first
#[utoipa::path(
    get, path = "/api/v1/blocks", tag = "Blocks",
    params(
        ("limit" = Option<u32>, Query, description = "Blocks on the page", minimum = 1, maximum = 100, example = 25),
        ("cursor" = Option<String>, Query, description = "`nextCursor` of the page before", example = "YjoxMDIz")
    ),
    responses((status = 200, description = "A page of blocks", body = BlocksView))
)]
pub(super) async fn list_blocks(State(state): State<Arc<ApiState>>, query: Query) -> Result<Answer, Problem> {
    let parameters = query.parameters(&["limit", "cursor"])?;
    let limit = u64::from(parameters.limit()?);
    let cursor = parameters.get("cursor").map(BlockCursor::parse).transpose()?;
    let head = state.head()?;
    // A page below a cursor is as final as its blocks.
    let (below, holds) = match cursor {
        Some(cursor) if cursor.below <= head.number() => (cursor.below, Holds::Final),
        Some(_) | None => (head.number() + 1, Holds::Head(head.hash)),
    };
    let numbers = (below.saturating_sub(limit)..below).rev();
    let blocks: Vec<BlockSummary> = stream::iter(numbers)
        .map(|number| state.block(BlockName::Number(number)))
        .buffered(PARALLEL_READS)
        .map_ok(|block| BlockSummary::new(&block, state.proposer_moniker(&block)))
        .try_collect()
        .await?;
    let last = below.saturating_sub(limit);
    let next_cursor = (last > 0).then(|| BlockCursor { below: last }.print());
    Answer::json(&BlocksView { blocks, next_cursor }, holds)
}

/// The newest block
#[utoipa::path(
    get, path = "/api/v1/blocks/latest", tag = "Blocks",
    params(("include" = Option<String>, Query, description = "`transactions` expands them", pattern = "^transactions$")),
    responses((status = 200, description = "The newest block", body = AnyBlockView))
)]
pub(super) async fn get_latest_block(
    State(state): State<Arc<ApiState>>,
    query: Query,
) -> Result<Answer, Problem> {
    let is_expanded = query.parameters(&["include"])?.is("include", "transactions")?;
    let head = state.head()?;
    let block = state.block(BlockName::Number(head.number())).await?;
    Answer::json(&view(&state, &block, is_expanded).await?, Holds::Head(block.hash))
}

/// A block by number or hash
///
/// A block never changes, so the answer may be kept for ever.
#[utoipa::path(
    get, path = "/api/v1/blocks/{number}", tag = "Blocks",
    params(
        (
            "number" = String, Path, description = "Decimal number, 0x-hex number, or block hash",
            pattern = "^([0-9]+|0x[0-9a-fA-F]+|latest)$", example = "1024"
        ),
        ("include" = Option<String>, Query, description = "`transactions` expands them", pattern = "^transactions$")
    ),
    responses((status = 200, description = "The block", body = AnyBlockView))
)]
pub(super) async fn get_block(
    State(state): State<Arc<ApiState>>,
    Segment(number): Segment,
    query: Query,
) -> Result<Answer, Problem> {
    let name = path::block(&number)?;
    let is_expanded = query.parameters(&["include"])?.is("include", "transactions")?;
    let block = state.block(name).await?;
    Answer::json(&view(&state, &block, is_expanded).await?, Holds::Final)
}

async fn view(state: &ApiState, block: &Block, is_expanded: bool) -> Result<AnyBlockView, Problem> {
    let moniker = state.proposer_moniker(block);
    if !is_expanded {
        return Ok(AnyBlockView::Short(BlockView::new(block, moniker)));
    }
    let receipts = state.chain.receipts(block).await?;
    let transactions = TransactionView::all(block, &receipts);
    Ok(AnyBlockView::Expanded(ExpandedBlockView::new(block, moniker, transactions)))
}
