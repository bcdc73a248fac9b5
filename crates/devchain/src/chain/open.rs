//! Opening a data directory: writing the genesis block into a fresh one, resuming at the last sealed block otherwise.

use std::{path::Path, sync::Arc};

use alloy_consensus::Header;
use alloy_primitives::{B256, keccak256};
use alloy_trie::EMPTY_ROOT_HASH;
use ibft::votes::VoteTally;
use parking_lot::RwLock;
use tokio::sync::{broadcast, watch};

use super::{Chain, ChainEvent, EVENT_BACKLOG, Head, OpenError, served_head};
use crate::{
    block::Block,
    clock::ChainClock,
    exec::ChainSpec,
    genesis::{Fork, Genesis},
    pool::{Pool, PoolLimits},
    state::{AccountDiff, AccountFields, StateDiff, StateView},
    store::{BlockCommit, Store},
    workers::WorkerPool,
};

/// EIP-170, unless the genesis says otherwise.
const MAX_CODE_SIZE: usize = 24_576;

impl Chain {
    /// Opens the chain of `genesis` in `dir`, creating it if the directory is fresh.
    pub fn open(dir: &Path, genesis: &Genesis) -> Result<Arc<Self>, OpenError> {
        Self::open_with(dir, genesis, PoolLimits::default(), ChainClock::default())
    }

    /// The same with other limits of the pool, and a clock of the caller's.
    pub fn open_with(
        dir: &Path,
        genesis: &Genesis,
        limits: PoolLimits,
        clock: ChainClock,
    ) -> Result<Arc<Self>, OpenError> {
        Self::open_store(dir, genesis, limits, clock).map_err(|error| error.with_advice(dir))
    }

    fn open_store(
        dir: &Path,
        genesis: &Genesis,
        limits: PoolLimits,
        clock: ChainClock,
    ) -> Result<Arc<Self>, OpenError> {
        let store = Store::open(dir)?;
        let spec = chain_spec(genesis);
        let genesis_hash = match store.head()? {
            None => write_genesis(&store, genesis)?,
            Some(_) => check_genesis(&store, genesis, dir)?,
        };
        let head = load_head(&store, &spec)?;
        // After time travel the head may be ahead of the machine: go on from where it is.
        clock.not_before(head.block.header.timestamp.saturating_mul(1000));
        Ok(Arc::new(Self {
            genesis_hash,
            store,
            pool: Pool::new(pool_limits(&spec, limits)),
            spec,
            clock,
            served: watch::Sender::new(served_head(&head.block)),
            head: RwLock::new(Arc::new(head)),
            events: broadcast::channel(EVENT_BACKLOG).0,
            workers: WorkerPool::default(),
        }))
    }

    /// Takes back all blocks above `number`, for `evm_revert`. Pooled transactions are dropped: their nonces may
    /// no longer fit.
    pub(crate) fn revert_to(&self, number: u64) -> Result<(), OpenError> {
        self.store.truncate(number)?;
        let head = load_head(&self.store, &self.spec)?;
        self.set_head(Arc::new(head));
        self.pool.clear();
        self.publish(ChainEvent::Reverted { to: number });
        Ok(())
    }
}

/// Where nobody pays for gas, a replacement cannot be asked to pay more; Besu too drops the price bump there.
fn pool_limits(spec: &ChainSpec, limits: PoolLimits) -> PoolLimits {
    if spec.zero_base_fee { PoolLimits { price_bump_percent: 0, ..limits } } else { limits }
}

/// What execution and consensus need to know of the genesis.
fn chain_spec(genesis: &Genesis) -> ChainSpec {
    let config = &genesis.config;
    ChainSpec {
        chain_id: config.chain_id,
        london_block: 0,
        shanghai_time: (config.fork >= Fork::Shanghai).then_some(0),
        cancun_time: if config.fork >= Fork::Cancun { Some(0) } else { config.cancun_time },
        zero_base_fee: config.zero_base_fee,
        contract_size_limit: config.contract_size_limit.map_or(MAX_CODE_SIZE, |limit| limit as usize),
        block_reward: config.ibft2.block_reward,
        mining_beneficiary: config.ibft2.mining_beneficiary,
        ibft: genesis.ibft_config(),
    }
}

/// The accounts of the genesis file as a change of the empty state.
fn genesis_state(genesis: &Genesis) -> StateDiff {
    let mut diff = StateDiff::default();
    for (&address, account) in &genesis.alloc {
        let code = account.code.clone().unwrap_or_default();
        let code_hash = keccak256(&code);
        if !code.is_empty() {
            diff.code.insert(code_hash, code);
        }
        let fields =
            AccountFields { nonce: account.nonce.unwrap_or_default(), balance: account.balance, code_hash };
        let slots = account.storage.iter().flatten();
        let storage = slots.map(|(&slot, &value)| (slot.into(), value.into())).collect();
        diff.accounts.insert(address, AccountDiff { account: Some(fields), wiped: false, storage });
    }
    diff
}

/// Executes nothing: the genesis block's state is what its file says.
fn genesis_block(genesis: &Genesis, state_root: B256) -> Result<Block, OpenError> {
    let header = genesis.header(state_root);
    let hash =
        ibft::hash::block_hash(&header).map_err(|source| OpenError::ExtraData { number: 0, source })?;
    Ok(Block { header, hash, transactions: Arc::default() })
}

fn write_genesis(store: &Store, genesis: &Genesis) -> Result<B256, OpenError> {
    let diff = genesis_state(genesis);
    let empty = StateView::new(EMPTY_ROOT_HASH, Arc::new(store.clone()));
    let update = empty.apply(&diff)?;
    let block = genesis_block(genesis, update.root)?;
    let (nodes, replaced) = (&update.nodes, &update.replaced);
    store.commit(&BlockCommit { block: &block, receipts: &[], nodes, replaced, code: &diff.code })?;
    Ok(block.hash)
}

fn check_genesis(store: &Store, genesis: &Genesis, dir: &Path) -> Result<B256, OpenError> {
    let found = store.hash_of(0)?.ok_or(OpenError::MissingBlock(0))?;
    let state_root = store.header(0)?.ok_or(OpenError::MissingBlock(0))?.state_root;
    let update = StateView::new(EMPTY_ROOT_HASH, Arc::new(store.clone())).apply(&genesis_state(genesis))?;
    let expected = genesis_block(genesis, update.root)?.hash;
    if state_root != update.root || found != expected {
        return Err(OpenError::OtherGenesis { dir: dir.to_owned(), found, expected });
    }
    Ok(found)
}

fn load_head(store: &Store, spec: &ChainSpec) -> Result<Head, OpenError> {
    let (number, _) = store.head()?.ok_or(OpenError::MissingBlock(0))?;
    let block = store.block(number)?.ok_or(OpenError::MissingBlock(number))?;
    let receipts = store.receipts(number)?.ok_or(OpenError::MissingBlock(number))?;
    let state = StateView::new(block.header.state_root, Arc::new(store.clone())).remembering();
    let tally = replay_votes(store, spec, &block.header)?;
    Ok(Head { block, receipts, state, tally })
}

/// The vote tally after `head`, from the headers since the epoch began.
fn replay_votes(store: &Store, spec: &ChainSpec, head: &Header) -> Result<VoteTally, OpenError> {
    let epoch = head.number - head.number % spec.ibft.epoch_length;
    let first = store.header(epoch)?.ok_or(OpenError::MissingBlock(epoch))?;
    let at = |number| move |source| OpenError::ExtraData { number, source };
    let mut tally = VoteTally::at_epoch(&first).map_err(at(epoch))?;
    if epoch < head.number {
        for header in store.headers(epoch + 1..=head.number) {
            let header = header?;
            tally.apply(&header, &spec.ibft).map_err(at(header.number))?;
        }
    }
    Ok(tally)
}
