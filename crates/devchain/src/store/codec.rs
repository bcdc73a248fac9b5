//! How records are written: RLP, with what cannot be derived from a record stored beside it.

use std::sync::Arc;

use alloy_consensus::{Header, TxEnvelope};
use alloy_primitives::{Address, B256, Bytes, Log};
use alloy_rlp::{Decodable, Encodable, RlpDecodable, RlpEncodable};

use super::{StoreError, TxLocation};
use crate::block::{Block, Receipt, Transaction};

/// The on-chain hash, then the header: the hash cannot be had from the header without knowing consensus.
pub(super) fn encode_header(block: &Block) -> Vec<u8> {
    let mut record = Vec::with_capacity(B256::len_bytes() + block.header.length());
    record.extend_from_slice(block.hash.as_slice());
    block.header.encode(&mut record);
    record
}

pub(super) fn decode_header(number: u64, record: &[u8]) -> Result<(B256, Header), StoreError> {
    let corrupt = || StoreError::CorruptRecord { kind: "header", number };
    let (hash, mut header) = record.split_first_chunk().ok_or_else(corrupt)?;
    Ok((B256::from(*hash), Header::decode(&mut header).map_err(|_| corrupt())?))
}

pub(super) fn decode_header_hash(number: u64, record: &[u8]) -> Result<B256, StoreError> {
    let (hash, _) = record.split_first_chunk().ok_or(StoreError::CorruptRecord { kind: "header", number })?;
    Ok(B256::from(*hash))
}

/// Sender and transaction in turn, so that reading a block recovers no signatures.
pub(super) fn encode_body(transactions: &[Arc<Transaction>]) -> Vec<u8> {
    let payload_length = transactions.iter().map(|tx| tx.signer_ref().length() + tx.inner().length()).sum();
    let header = alloy_rlp::Header { list: true, payload_length };
    let mut record = Vec::with_capacity(header.length_with_payload());
    header.encode(&mut record);
    for transaction in transactions {
        transaction.signer_ref().encode(&mut record);
        transaction.inner().encode(&mut record);
    }
    record
}

pub(super) fn decode_body(number: u64, mut record: &[u8]) -> Result<Vec<Arc<Transaction>>, StoreError> {
    let corrupt = |_| StoreError::CorruptRecord { kind: "body", number };
    let mut payload = alloy_rlp::Header::decode_bytes(&mut record, true).map_err(corrupt)?;
    let mut transactions = Vec::new();
    while !payload.is_empty() {
        let sender = Address::decode(&mut payload).map_err(corrupt)?;
        let transaction = TxEnvelope::decode(&mut payload).map_err(corrupt)?;
        transactions.push(Arc::new(Transaction::new_unchecked(transaction, sender)));
    }
    Ok(transactions)
}

/// A receipt without its bloom, which follows from the logs. An absent item is an empty list.
#[derive(RlpEncodable, RlpDecodable)]
struct ReceiptRecord {
    tx_type: u8,
    success: bool,
    cumulative_gas_used: u64,
    gas_used: u64,
    logs: Vec<Log>,
    contract_address: Vec<Address>,
    revert_reason: Vec<Bytes>,
}

impl From<&Receipt> for ReceiptRecord {
    fn from(receipt: &Receipt) -> Self {
        Self {
            tx_type: receipt.tx_type,
            success: receipt.success,
            cumulative_gas_used: receipt.cumulative_gas_used,
            gas_used: receipt.gas_used,
            logs: receipt.logs.clone(),
            contract_address: receipt.contract_address.into_iter().collect(),
            revert_reason: receipt.revert_reason.iter().cloned().collect(),
        }
    }
}

impl From<ReceiptRecord> for Receipt {
    fn from(record: ReceiptRecord) -> Self {
        Self {
            tx_type: record.tx_type,
            success: record.success,
            cumulative_gas_used: record.cumulative_gas_used,
            gas_used: record.gas_used,
            logs: record.logs,
            contract_address: record.contract_address.into_iter().next(),
            revert_reason: record.revert_reason.into_iter().next(),
        }
    }
}

pub(super) fn encode_receipts(receipts: &[Receipt]) -> Vec<u8> {
    let records: Vec<_> = receipts.iter().map(ReceiptRecord::from).collect();
    alloy_rlp::encode(records)
}

pub(super) fn decode_receipts(number: u64, mut record: &[u8]) -> Result<Vec<Receipt>, StoreError> {
    let records = Vec::<ReceiptRecord>::decode(&mut record);
    let records = records.map_err(|_| StoreError::CorruptRecord { kind: "receipts", number })?;
    Ok(records.into_iter().map(Receipt::from).collect())
}

pub(super) fn encode_location(location: TxLocation) -> [u8; 12] {
    let mut record = [0; 12];
    let (block, index) = record.split_at_mut(8);
    block.copy_from_slice(&location.block.to_be_bytes());
    index.copy_from_slice(&location.index.to_be_bytes());
    record
}

pub(super) fn decode_location(record: &[u8]) -> Result<TxLocation, StoreError> {
    let corrupt = StoreError::CorruptIndex { index: "transaction locations" };
    let Some((block, index)) = record.split_first_chunk() else {
        return Err(corrupt);
    };
    let index = index.try_into().map_err(|_| corrupt)?;
    Ok(TxLocation { block: u64::from_be_bytes(*block), index: u32::from_be_bytes(index) })
}

pub(super) fn decode_number(index: &'static str, record: &[u8]) -> Result<u64, StoreError> {
    let number = record.try_into().map_err(|_| StoreError::CorruptIndex { index })?;
    Ok(u64::from_be_bytes(number))
}

pub(super) fn encode_head((number, hash): (u64, B256)) -> Vec<u8> {
    [number.to_be_bytes().as_slice(), hash.as_slice()].concat()
}

pub(super) fn decode_head(record: &[u8]) -> Result<(u64, B256), StoreError> {
    let corrupt = || StoreError::CorruptIndex { index: "head" };
    let (number, hash) = record.split_first_chunk().ok_or_else(corrupt)?;
    let hash = B256::try_from(hash).map_err(|_| corrupt())?;
    Ok((u64::from_be_bytes(*number), hash))
}
