//! Blocks, transactions and receipts, the same for every source of them.

use std::sync::Arc;

use alloy_consensus::{Header, Transaction as _, TxEnvelope, transaction::Recovered};
use alloy_eips::eip2718::Encodable2718;
use alloy_primitives::{Address, B256, Bloom, Bytes, Log, logs_bloom};
use alloy_rlp::Encodable;

/// Memory of a block without transactions: the header, its extraData, the handles.
const BLOCK_BYTES: usize = size_of::<Block>() + 640;
/// Memory of a transaction without its input: itself, its counts and the handle.
const TRANSACTION_BYTES: usize = size_of::<Transaction>() + 32;
/// Memory of a log beside its data.
const LOG_BYTES: usize = 200;

/// A transaction whose sender has been recovered, which is done once, when it enters the node.
pub type Transaction = Recovered<TxEnvelope>;

/// A block with its on-chain hash.
///
/// The hash is kept beside the header because it cannot be had from `Header::hash_slow`: IBFT 2.0 hashes a
/// header whose extraData lacks the round and the seals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The header with all five extraData items.
    pub header: Header,
    /// The on-chain hash.
    pub hash: B256,
    /// The transactions in order, with their senders. The list is shared, because a proposal travels through all validators, and so is
    /// each transaction, because it was in the pool before.
    pub transactions: Arc<Vec<Arc<Transaction>>>,
}

impl Block {
    /// The block's height.
    pub fn number(&self) -> u64 {
        self.header.number
    }

    /// The block's RLP with its whole extraData, as it is stored, sent and exported: header, transactions, no ommers, and no
    /// withdrawals, whose list is there where the header has their root.
    pub fn encode(&self) -> Vec<u8> {
        let (payload, transactions) = self.payload_lengths();
        let mut out = Vec::with_capacity(list_length(payload));
        alloy_rlp::Header { list: true, payload_length: payload }.encode(&mut out);
        self.header.encode(&mut out);
        alloy_rlp::Header { list: true, payload_length: transactions }.encode(&mut out);
        for transaction in self.transactions.iter() {
            transaction.network_encode(&mut out);
        }
        out.extend(std::iter::repeat_n(alloy_rlp::EMPTY_LIST_CODE, self.empty_lists()));
        out
    }

    /// Bytes of [`Self::encode`].
    pub fn encoded_length(&self) -> usize {
        list_length(self.payload_lengths().0)
    }

    /// Of the block and of its transactions.
    fn payload_lengths(&self) -> (usize, usize) {
        let transactions = self.transactions.iter().map(|transaction| transaction.network_len()).sum();
        (self.header.length() + list_length(transactions) + self.empty_lists(), transactions)
    }

    fn empty_lists(&self) -> usize {
        1 + usize::from(self.header.withdrawals_root.is_some())
    }

    /// Roughly what the block takes of memory, for caches.
    pub fn memory_bytes(&self) -> usize {
        let input: usize = self.transactions.iter().map(|transaction| transaction.input().len()).sum();
        BLOCK_BYTES + self.transactions.len() * TRANSACTION_BYTES + input
    }
}

fn list_length(payload: usize) -> usize {
    alloy_rlp::length_of_length(payload) + payload
}

/// What a transaction did: the consensus part of a receipt and what the RPC adds to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// EIP-2718 type of the transaction.
    pub tx_type: u8,
    /// False when the transaction reverted or halted.
    pub success: bool,
    /// Gas used in the block up to and including this transaction.
    pub cumulative_gas_used: u64,
    /// Gas used by this transaction alone.
    pub gas_used: u64,
    /// Logs in order of emission.
    pub logs: Vec<Log>,
    /// Address of the contract that the transaction created.
    pub contract_address: Option<Address>,
    /// The output of a reverted transaction, which Besu shows as `revertReason`.
    pub revert_reason: Option<Bytes>,
}

impl Receipt {
    /// Bloom over the logs. Not kept: of a transfer's receipt it would be the larger part.
    pub fn bloom(&self) -> Bloom {
        logs_bloom(&self.logs)
    }

    /// Roughly what the receipt takes of memory, for caches.
    pub fn memory_bytes(&self) -> usize {
        let logs: usize = self.logs.iter().map(|log| LOG_BYTES + log.data.data.len()).sum();
        size_of::<Self>() + logs
    }
}
