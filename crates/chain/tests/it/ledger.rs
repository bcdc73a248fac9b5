//! A made-up IBFT 2.0 chain: consistent headers, transactions and receipts, without execution.

use std::sync::Arc;

use alloy_consensus::{
    Eip658Value, Header, Receipt as ReceiptBody, ReceiptEnvelope, ReceiptWithBloom, SignableTransaction,
    TxEnvelope, TxLegacy,
    constants::EMPTY_OMMER_ROOT_HASH,
    proofs::{calculate_receipt_root, calculate_transaction_root},
    transaction::{Recovered, SignerRecoverable},
};
use alloy_primitives::{Address, B256, Bytes, Log, TxKind, U256, address};
use chainnet_chain::{Block, Head, Receipt, Transaction};
use ibft::{
    extra_data::ExtraData,
    seal::{Secp256k1Key, ValidatorKey},
};
use serde_json::{Value, json};

pub(crate) const CHAIN_ID: u64 = 8845;
pub(crate) const CONTRACT: Address = address!("00000000000000000000000000000000000000c0");

/// Blocks with their receipts.
#[derive(Clone)]
pub(crate) struct Ledger(pub(crate) Vec<(Arc<Block>, Arc<Vec<Receipt>>)>);

impl Ledger {
    /// A chain up to this height; block `n` has `n % 3` transactions.
    pub(crate) fn up_to(height: u64) -> Self {
        Self::forked(height, 0)
    }

    /// Another chain of the same length: `fork` goes into every header above genesis.
    pub(crate) fn forked(height: u64, fork: u64) -> Self {
        let mut blocks: Vec<(Arc<Block>, Arc<Vec<Receipt>>)> = Vec::new();
        for number in 0..=height {
            let parent = blocks.last().map_or(B256::ZERO, |(block, _)| block.hash);
            let (block, receipts) = made_up(number, parent, fork);
            blocks.push((Arc::new(block), Arc::new(receipts)));
        }
        Self(blocks)
    }

    pub(crate) fn block(&self, number: u64) -> Arc<Block> {
        Arc::clone(&self.0[number as usize].0)
    }

    pub(crate) fn receipts(&self, number: u64) -> Arc<Vec<Receipt>> {
        Arc::clone(&self.0[number as usize].1)
    }

    pub(crate) fn head(&self, number: u64) -> Arc<Head> {
        let block = self.block(number);
        Arc::new(Head { header: block.header.clone(), hash: block.hash })
    }
}

fn made_up(number: u64, parent_hash: B256, fork: u64) -> (Block, Vec<Receipt>) {
    let transactions: Vec<_> = (0..number % 3).map(|index| transaction(number * 3 + index)).collect();
    let receipts: Vec<_> = (0..number % 3).map(receipt).collect();
    let consensus: Vec<_> = receipts.iter().map(consensus_receipt).collect();
    let extra = ExtraData {
        vanity: B256::ZERO,
        validators: vec![key().address()],
        vote: None,
        round: 0,
        seals: Vec::new(),
    };
    let header = Header {
        number,
        parent_hash,
        ommers_hash: EMPTY_OMMER_ROOT_HASH,
        timestamp: 1_767_225_600 + 2 * number,
        gas_used: if number == 0 { 0 } else { fork },
        gas_limit: 30_000_000,
        difficulty: U256::from(1),
        base_fee_per_gas: Some(0),
        transactions_root: calculate_transaction_root(&transactions),
        receipts_root: calculate_receipt_root(&consensus),
        extra_data: extra.encode(),
        ..Header::default()
    };
    let hash = ibft::hash::block_hash(&header).expect("IBFT extraData");
    let transactions = transactions.into_iter().map(Arc::new).collect();
    (Block { header, hash, transactions: Arc::new(transactions) }, receipts)
}

fn key() -> Secp256k1Key {
    Secp256k1Key::new(B256::repeat_byte(7)).expect("a key")
}

pub(crate) fn transaction(nonce: u64) -> Transaction {
    let tx = TxLegacy {
        chain_id: Some(CHAIN_ID),
        nonce,
        gas_limit: 21_000,
        to: TxKind::Call(CONTRACT),
        input: Bytes::from_static(b"hello"),
        ..TxLegacy::default()
    };
    let seal = key().sign(tx.signature_hash());
    let envelope = TxEnvelope::from(tx.into_signed(*seal.signature()));
    let signer = envelope.recover_signer().expect("a signer");
    Recovered::new_unchecked(envelope, signer)
}

fn receipt(index: u64) -> Receipt {
    let log = Log::new(CONTRACT, vec![B256::repeat_byte(1)], Bytes::from_static(&[1, 2, 3])).expect("a log");
    let success = index == 0;
    Receipt {
        tx_type: 0,
        success,
        cumulative_gas_used: 30_000 * (index + 1),
        gas_used: 30_000,
        logs: if success { vec![log] } else { Vec::new() },
        contract_address: None,
        revert_reason: (!success).then(|| Bytes::from_static(&[0xab])),
    }
}

fn consensus_receipt(receipt: &Receipt) -> ReceiptEnvelope {
    ReceiptEnvelope::Legacy(ReceiptWithBloom {
        receipt: ReceiptBody {
            status: Eip658Value::Eip658(receipt.success),
            cumulative_gas_used: receipt.cumulative_gas_used,
            logs: receipt.logs.clone(),
        },
        logs_bloom: receipt.bloom(),
    })
}

/// A header as nodes print it.
pub(crate) fn header_json(block: &Block) -> Value {
    let mut json = serde_json::to_value(&block.header).expect("a header is JSON");
    json["hash"] = json!(block.hash);
    json
}

/// A block with whole transactions as nodes print it.
pub(crate) fn block_json(block: &Block) -> Value {
    let mut json = header_json(block);
    let transactions = (0..).zip(block.transactions.iter()).map(|(index, tx)| {
        let mut json = transaction_json(tx);
        json["blockHash"] = json!(block.hash);
        json["blockNumber"] = json!(format!("{:#x}", block.number()));
        json["transactionIndex"] = json!(format!("{index:#x}"));
        json
    });
    json["transactions"] = transactions.collect();
    json
}

/// A pending transaction as nodes print it.
pub(crate) fn transaction_json(transaction: &Transaction) -> Value {
    let mut json = serde_json::to_value(transaction.inner()).expect("a transaction is JSON");
    json["from"] = json!(transaction.signer());
    json
}

/// Receipts as Besu prints them.
pub(crate) fn receipts_json(block: &Block, receipts: &[Receipt]) -> Vec<Value> {
    let pairs = block.transactions.iter().zip(receipts);
    pairs
        .map(|(transaction, receipt)| {
            let logs = receipt.logs.iter().map(
                |log| json!({ "address": log.address, "topics": log.topics(), "data": log.data.data, "removed": false }),
            );
            let mut json = json!({
                "transactionHash": transaction.tx_hash(),
                "type": "0x0",
                "status": if receipt.success { "0x1" } else { "0x0" },
                "cumulativeGasUsed": format!("{:#x}", receipt.cumulative_gas_used),
                "gasUsed": format!("{:#x}", receipt.gas_used),
                "logs": logs.collect::<Vec<_>>(),
                "contractAddress": null,
            });
            if let Some(reason) = &receipt.revert_reason {
                json["revertReason"] = json!(reason);
            }
            json
        })
        .collect()
}
