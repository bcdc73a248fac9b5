//! Moving a chain between data directories, and to and from Besu, as a file of blocks.
//!
//! The format is Besu's `blocks export`: block RLPs one after the other, genesis first. Import trusts nothing in
//! the file: each block passes the header rules, its seals, execution and all roots before it is stored.

mod frame;

use std::{
    io::{self, BufRead, Write},
    ops::RangeInclusive,
    sync::Arc,
};

use alloy_consensus::{TxEnvelope, transaction::SignerRecoverable};
use alloy_primitives::B256;
use alloy_rlp::Decodable;

pub use frame::FrameError;
use frame::Frames;

use crate::{
    block::{Block, Transaction},
    chain::{Chain, ChainError, ImportError},
};

/// How a block looks in the file.
type FileBlock = alloy_consensus::Block<TxEnvelope>;

/// Fewer transactions than this are not worth a second thread for recovering their senders.
const PARALLEL_RECOVERY: usize = 64;

/// Why a chain could not be written to a file.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The chain could not be read.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The file could not be written.
    #[error("cannot write the block file")]
    Io(#[from] io::Error),
    /// The range goes past the head.
    #[error("block {number} does not exist, the head is {head}")]
    NoSuchBlock {
        /// First missing block.
        number: u64,
        /// Number of the head.
        head: u64,
    },
}

/// Why a file could not be imported; blocks before the bad one are kept.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// The file is not a sequence of blocks.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// A block's RLP does not decode.
    #[error("the block that ends at byte {end} does not decode: {source}")]
    Undecodable {
        /// Offset of the byte after the block.
        end: u64,
        /// What the decoder says.
        source: alloy_rlp::Error,
    },
    /// The file's genesis is not this chain's.
    #[error("the file starts with genesis {found}, this chain's is {expected}")]
    OtherGenesis {
        /// Genesis hash in the file.
        found: B256,
        /// Genesis hash of the chain.
        expected: B256,
    },
    /// The file disagrees with a block that the chain has.
    #[error("block {number} of the file is {found}, but the chain has {expected} at this height")]
    Fork {
        /// Height of the disagreement.
        number: u64,
        /// The file's block hash.
        found: B256,
        /// The chain's block hash.
        expected: B256,
    },
    /// A transaction's signature is not valid.
    #[error("block {number}: rule `transactions` broken: transaction {index} has no valid signature")]
    Signature {
        /// Height of the block.
        number: u64,
        /// Index of the transaction.
        index: usize,
    },
    /// A block is not valid.
    #[error("block {number}: {source}")]
    Invalid {
        /// Height of the block.
        number: u64,
        /// Which rule it breaks.
        source: ImportError,
    },
    /// The chain could not be read.
    #[error(transparent)]
    Chain(#[from] ChainError),
}

/// What an import did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Imported {
    /// Blocks added to the chain.
    pub added: u64,
    /// Blocks that the chain had already.
    pub known: u64,
    /// Transactions in the added blocks.
    pub transactions: u64,
}

/// Writes the blocks of a range, calling `progress` with each number written.
pub fn export(
    chain: &Chain,
    range: RangeInclusive<u64>,
    mut to: impl Write,
    mut progress: impl FnMut(u64),
) -> Result<(), ExportError> {
    let head = chain.head().block.number();
    for number in range {
        let block = chain.store().block(number).map_err(ChainError::from)?;
        let block = block.ok_or(ExportError::NoSuchBlock { number, head })?;
        to.write_all(&block.encode())?;
        progress(number);
    }
    to.flush()?;
    Ok(())
}

/// Adds the blocks of a file to the chain, calling `progress` with the bytes read so far.
pub fn import(
    chain: &Chain,
    from: impl BufRead,
    mut progress: impl FnMut(u64),
) -> Result<Imported, TransferError> {
    let mut frames = Frames::new(from);
    let mut imported = Imported::default();
    while let Some(rlp) = frames.next_block()? {
        let end = frames.offset();
        let block = FileBlock::decode(&mut rlp.as_slice())
            .map_err(|source| TransferError::Undecodable { end, source })?;
        match import_block(chain, block)? {
            Some(transactions) => {
                imported.added += 1;
                imported.transactions += transactions as u64;
            }
            None => imported.known += 1,
        }
        progress(end);
    }
    Ok(imported)
}

/// Adds one block; answers its number of transactions, `None` if the chain has it already.
fn import_block(chain: &Chain, block: FileBlock) -> Result<Option<usize>, TransferError> {
    let number = block.header.number;
    let invalid = |source| TransferError::Invalid { number, source };
    let hash = ibft::hash::block_hash(&block.header).map_err(|error| invalid(error.into()))?;
    if let Some(expected) = chain.store().hash_of(number).map_err(ChainError::from)? {
        return match (expected == hash, number) {
            (true, _) => Ok(None),
            (false, 0) => Err(TransferError::OtherGenesis { found: hash, expected }),
            (false, _) => Err(TransferError::Fork { number, found: hash, expected }),
        };
    }
    if !block.body.ommers.is_empty() {
        let count = block.body.ommers.len().to_string();
        return Err(invalid(ImportError::Mismatch {
            field: "ommers",
            header: "0".to_owned(),
            computed: count,
        }));
    }
    let transactions =
        recover(block.body.transactions).map_err(|index| TransferError::Signature { number, index })?;
    let count = transactions.len();
    chain
        .import(Block { header: block.header, hash, transactions: Arc::new(transactions) })
        .map_err(invalid)?;
    Ok(Some(count))
}

/// Recovers all senders, on two threads when there are many; the error is the index of a bad signature.
fn recover(transactions: Vec<TxEnvelope>) -> Result<Vec<Arc<Transaction>>, usize> {
    let signers = |part: &[TxEnvelope], first: usize| {
        let signer = |(index, tx): (usize, &TxEnvelope)| tx.recover_signer().map_err(|_| first + index);
        part.iter().enumerate().map(signer).collect::<Result<Vec<_>, _>>()
    };
    let recovered = if transactions.len() < PARALLEL_RECOVERY {
        signers(&transactions, 0)?
    } else {
        let (left, right) = transactions.split_at(transactions.len() / 2);
        std::thread::scope(|scope| -> Result<_, usize> {
            let right = scope.spawn(|| signers(right, left.len()));
            let mut all = signers(left, 0)?;
            all.extend(right.join().map_err(|_| left.len())??);
            Ok(all)
        })?
    };
    let pairs = transactions.into_iter().zip(recovered);
    Ok(pairs.map(|(tx, signer)| Arc::new(Transaction::new_unchecked(tx, signer))).collect())
}
