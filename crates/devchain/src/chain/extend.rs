//! What a valid next block is, and adding it.

use std::sync::Arc;

use alloy_consensus::{
    Header, Transaction as _,
    constants::{EMPTY_OMMER_ROOT_HASH, EMPTY_WITHDRAWALS},
};
use alloy_eips::eip4844::calc_excess_blob_gas;
use alloy_primitives::{Address, B64};
use ibft::{
    rules::{self, HeaderContext},
    seal::Secp256k1,
};

use super::{Chain, ChainEvent, Head, ImportError};
use crate::{
    block::{Block, Receipt},
    exec::{self, BlockOutcome, ChainSpec},
    state::{StateDiff, StateUpdate},
    store::BlockCommit,
};

/// A block's effects, found by executing it on the head: all that is needed to make it the next head.
pub(crate) struct Executed {
    pub(crate) receipts: Vec<Receipt>,
    pub(crate) update: StateUpdate,
    pub(crate) diff: StateDiff,
}

/// The fields of the block after `parent` that do not depend on its transactions; extraData is left empty.
pub(crate) fn next_header(spec: &ChainSpec, parent: &Block, coinbase: Address, timestamp: u64) -> Header {
    let parent_header = &parent.header;
    Header {
        parent_hash: parent.hash,
        ommers_hash: EMPTY_OMMER_ROOT_HASH,
        beneficiary: coinbase,
        difficulty: rules::DIFFICULTY,
        number: parent_header.number + 1,
        gas_limit: parent_header.gas_limit,
        timestamp,
        mix_hash: rules::MIX_HASH,
        nonce: B64::ZERO,
        base_fee_per_gas: rules::next_base_fee(parent_header, &spec.ibft),
        ..Header::default()
    }
}

impl Chain {
    /// Runs a block on the head and compares what it does with what its header says. The header's own rules are
    /// [`Chain::check_sealed`]'s part.
    pub(crate) fn execute(&self, block: &Block) -> Result<Executed, ImportError> {
        let head = self.head();
        let header = &block.header;
        expect("transactions-root", header.transactions_root, exec::transactions_root(&block.transactions))?;
        check_optional_fields(&head.block.header, block)?;
        let hashes = self.block_hashes();
        let outcome = exec::execute_block(&self.spec, &head.state, &hashes, header, &block.transactions)?;
        expect("gas-used", header.gas_used, outcome.gas_used)?;
        expect("receipts-root", header.receipts_root, exec::receipts_root(&outcome.receipts))?;
        if header.logs_bloom != outcome.bloom {
            return Err(ImportError::Bloom);
        }
        let update = head.state.apply(&outcome.diff)?;
        expect("state-root", header.state_root, update.root)?;
        let BlockOutcome { receipts, diff, .. } = outcome;
        Ok(Executed { receipts, update, diff })
    }

    /// Applies every header rule, seals included.
    pub(crate) fn check_sealed(&self, header: &Header) -> Result<(), ImportError> {
        let head = self.head();
        let context = HeaderContext {
            parent: &head.block.header,
            parent_hash: head.block.hash,
            validators: &head.tally.validators(),
            config: &self.spec.ibft,
            now_secs: self.clock.now_secs(),
        };
        Ok(rules::check_sealed(header, &context, &Secp256k1)?)
    }

    /// Makes a checked and executed block the head. It is durable when this returns.
    pub(crate) fn extend(&self, block: Arc<Block>, executed: Executed) -> Result<Arc<Head>, ImportError> {
        let mut tally = self.head().tally.clone();
        tally.apply(&block.header, &self.spec.ibft)?;
        self.store.commit(&BlockCommit {
            block: &block,
            receipts: &executed.receipts,
            nodes: &executed.update.nodes,
            replaced: &executed.update.replaced,
            code: &executed.diff.code,
        })?;
        let state = self.state_at(&block.header).remembering();
        let head = Arc::new(Head { receipts: Arc::new(executed.receipts), state, tally, block });
        self.set_head(head.clone());
        self.pool.on_block(&head.block.transactions);
        self.publish(ChainEvent::Head(head.clone()));
        Ok(head)
    }

    /// Validates a sealed block in full and makes it the head.
    pub fn import(&self, block: Block) -> Result<Arc<Head>, ImportError> {
        self.check_sealed(&block.header)?;
        let executed = self.execute(&block)?;
        self.extend(Arc::new(block), executed)
    }
}

/// What Besu 24.x leaves out of blocks and later releases write: nothing is withdrawn, and blob gas is counted as the EIPs say.
fn check_optional_fields(parent: &Header, block: &Block) -> Result<(), ImportError> {
    let Block { header, transactions, .. } = block;
    if let Some(root) = header.withdrawals_root {
        expect("withdrawals-root", root, EMPTY_WITHDRAWALS)?;
    }
    if let Some(used) = header.blob_gas_used {
        let computed = transactions.iter().filter_map(|transaction| transaction.blob_gas_used()).sum();
        expect("blob-gas-used", used, computed)?;
    }
    if let Some(excess) = header.excess_blob_gas {
        let (before, used) =
            (parent.excess_blob_gas.unwrap_or_default(), parent.blob_gas_used.unwrap_or_default());
        expect("excess-blob-gas", excess, calc_excess_blob_gas(before, used))?;
    }
    let unknown = header.parent_beacon_block_root.or(header.requests_hash);
    expect("fields", unknown.map_or_else(String::new, |hash| hash.to_string()), String::new())
}

fn expect<T: PartialEq + ToString>(field: &'static str, header: T, computed: T) -> Result<(), ImportError> {
    if header == computed {
        return Ok(());
    }
    Err(ImportError::Mismatch { field, header: header.to_string(), computed: computed.to_string() })
}
