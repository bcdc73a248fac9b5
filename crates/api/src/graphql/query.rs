//! The queries. Every field of one operation is answered at the same head.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use async_graphql::{Context, Enum, Error, ErrorExtensions, Object, SimpleObject};
use chain::{At, FoundTransaction, Head};

use crate::{
    code::Code,
    extract::path::{self, BlockName},
    problem::Problem,
    state::ApiState,
    view::{
        CoinText, Long, account::AccountView, block::BlockView, block::validator_count, chain::ChainView,
        fees::BurnsView, transaction::TransactionView, validator::ValidatorView,
    },
};

/// Days of the history of burns.
const HISTORY_DAYS: u32 = 366;

type Answer<T> = Result<T, Error>;
/// The answer of a field that may be null. If it fails, it is null beside its error, and the other fields stay; a failure
/// of a field that may not be null leaves no data at all.
type Nullable<T> = Option<Answer<T>>;

/// The head at which an operation is answered, and whether everything it read was of that head.
pub(super) struct Pin {
    pub(super) head: Arc<Head>,
    is_lagging: AtomicBool,
}

impl Pin {
    pub(super) fn new(head: Arc<Head>) -> Self {
        Self { head, is_lagging: AtomicBool::new(false) }
    }

    /// Something was read that has not caught up with the head; the answer is not one to keep.
    pub(super) fn lag(&self) {
        self.is_lagging.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_lagging(&self) -> bool {
        self.is_lagging.load(Ordering::Relaxed)
    }
}

/// What can be asked.
pub(crate) struct Query;

/// The unit of an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
enum Unit {
    /// Decimal coin.
    Coin,
    /// Whole wei.
    Wei,
}

/// The chain in four numbers.
#[derive(SimpleObject)]
struct ChainStats {
    /// Height of the newest block.
    block_number: Long,
    /// EIP-155 chain id.
    chain_id: Long,
    /// Validators that agree on the next block.
    validator_count: u32,
    /// Stake of all members of the validator registry, in coin.
    total_staked: CoinText,
}

#[Object]
impl Query {
    /// The chain and its head.
    async fn chain(&self, ctx: &Context<'_>) -> Answer<ChainView> {
        let (state, head) = at_head(ctx)?;
        state.chain_view(&head).await.map_err(refusal)
    }

    /// The chain in four numbers.
    async fn chain_stats(&self, ctx: &Context<'_>) -> Answer<ChainStats> {
        let (state, head) = at_head(ctx)?;
        Ok(ChainStats {
            block_number: Long(head.number()),
            chain_id: Long(state.deployment.chain_id),
            validator_count: validator_count(&head),
            total_staked: CoinText::of(state.total_staked(&head).await.map_err(refusal)?),
        })
    }

    /// The newest block.
    async fn latest_block(&self, ctx: &Context<'_>) -> Answer<BlockView> {
        let (state, head) = at_head(ctx)?;
        state.block_view(BlockName::Number(head.number())).await.map_err(refusal)
    }

    /// The validators, jailed and former ones included.
    async fn validators(&self, ctx: &Context<'_>) -> Answer<Vec<ValidatorView>> {
        let (state, head) = at_head(ctx)?;
        let board = state.board().map_err(refusal)?;
        if !board.is_current() || board.block_hash != head.hash {
            lag(ctx);
        }
        Ok(board.validators.iter().map(|record| (&**record).into()).collect())
    }

    /// The burn policy and what it came to, with the history by day.
    async fn burns(&self, ctx: &Context<'_>) -> Answer<BurnsView> {
        let (state, head) = at_head(ctx)?;
        let totals = state.db.fee_totals().await.map_err(refusal)?;
        if totals.as_of_block != Some(head.number()) {
            lag(ctx);
        }
        let history = match ctx.look_ahead().field("history").exists() {
            true => Some(state.db.fee_history_by_day(HISTORY_DAYS).await.map_err(refusal)?),
            false => None,
        };
        Ok(BurnsView::new(&totals, history.as_deref()))
    }

    /// A block by its number or its hash; null when there is none.
    async fn block(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Its height.")] number: Option<Long>,
        #[graphql(desc = "Its on-chain hash.")] hash: Option<String>,
    ) -> Nullable<BlockView> {
        find_block(ctx, number, hash).await.transpose()
    }

    /// A transaction by its hash; null when there is none.
    async fn transaction(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Its hash.")] hash: String,
    ) -> Nullable<TransactionView> {
        find_transaction(ctx, &hash).await.transpose()
    }

    /// An account after the newest block.
    async fn account(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Its address.")] address: String,
    ) -> Answer<AccountView> {
        let address = path::address(&address).map_err(refusal)?;
        let (state, head) = at_head(ctx)?;
        state.account_view(address, &head).await.map_err(refusal)
    }

    /// The balance of an account, as a decimal text.
    async fn balance(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The account's address.")] address: String,
        #[graphql(desc = "The unit of the answer.", default_with = "Unit::Coin")] unit: Unit,
    ) -> Answer<String> {
        let address = path::address(&address).map_err(refusal)?;
        let (state, head) = at_head(ctx)?;
        let account = state.chain.account(address, At::Number(head.number())).await.map_err(refusal)?;
        Ok(match unit {
            Unit::Coin => domain::Wei(account.balance).to_string(),
            Unit::Wei => account.balance.to_string(),
        })
    }
}

async fn find_block(
    ctx: &Context<'_>,
    number: Option<Long>,
    hash: Option<String>,
) -> Answer<Option<BlockView>> {
    let name = match (number, hash) {
        (Some(Long(number)), None) => BlockName::Number(number),
        (None, Some(hash)) => BlockName::Hash(path::hash(&hash).map_err(refusal)?),
        (None, None) | (Some(_), Some(_)) => {
            let detail = "Name the block by either its number or its hash.";
            return Err(refusal(Problem::new(Code::InvalidBlockNumber, detail)));
        }
    };
    absent(state(ctx)?.block_view(name).await)
}

async fn find_transaction(ctx: &Context<'_>, hash: &str) -> Answer<Option<TransactionView>> {
    let hash = path::hash(hash).map_err(refusal)?;
    let state = state(ctx)?;
    match state.chain.transaction(hash).await.map_err(refusal)? {
        Some(FoundTransaction::Mined { block, index }) => {
            let receipts = state.chain.receipts(&block).await.map_err(refusal)?;
            Ok(TransactionView::mined(&block, &receipts, index))
        }
        Some(FoundTransaction::Pending(tx)) => {
            lag(ctx);
            Ok(Some(TransactionView::pending(&tx)))
        }
        None => {
            lag(ctx);
            Ok(None)
        }
    }
}

/// The state and the head of this operation.
fn at_head<'a>(ctx: &Context<'a>) -> Answer<(&'a ApiState, Arc<Head>)> {
    let state = state(ctx)?;
    let head = match ctx.data_opt::<Arc<Pin>>() {
        Some(pin) => pin.head.clone(),
        None => state.head().map_err(refusal)?,
    };
    Ok((state, head))
}

pub(super) fn state<'a>(ctx: &Context<'a>) -> Answer<&'a ApiState> {
    Ok(ctx.data::<Arc<ApiState>>()?)
}

fn lag(ctx: &Context<'_>) {
    if let Some(pin) = ctx.data_opt::<Arc<Pin>>() {
        pin.lag();
    }
}

/// Null instead of a refusal for what is not there.
fn absent<T>(found: Result<T, Problem>) -> Answer<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(problem) if problem.code() == Code::BlockNotFound => Ok(None),
        Err(problem) => Err(refusal(problem)),
    }
}

/// A refusal with the same word as REST has.
pub(super) fn refusal(problem: impl Into<Problem>) -> Error {
    let problem = problem.into();
    if problem.status().is_server_error() {
        let cause = problem.chain().unwrap_or_default();
        tracing::warn!(code = %problem.code(), cause, "a query could not be answered");
    }
    Error::new(problem.detail()).extend_with(|_, values| values.set("code", problem.code().word()))
}
