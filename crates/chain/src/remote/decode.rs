//! From a node's JSON to checked blocks, transactions and receipts.
//!
//! A node may be broken, cut off or lying. A header must hash to the block hash, and on an IBFT 2.0 chain transactions and
//! receipts must give the roots that the header commits to, and senders must be those who signed; so what passes here is
//! what the validators agreed on. Headers of other chains (a development node) are accepted with their plain hash alone.

use std::sync::Arc;

use alloy_consensus::{
    Eip658Value, Header, Receipt as ReceiptBody, ReceiptEnvelope, ReceiptWithBloom, TxEnvelope, TxType,
    proofs::{calculate_receipt_root, calculate_transaction_root},
    transaction::SignerRecoverable,
};
use alloy_eips::Encodable2718;
use alloy_primitives::{Address, B256, Bytes, Log, U64, keccak256};
use alloy_rpc_types_eth::Transaction as WireTransaction;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{Block, Head, Receipt, Transaction};

/// Why an answer cannot be believed.
#[derive(Debug, thiserror::Error)]
pub(super) enum DecodeError {
    #[error("not the JSON that was asked for")]
    Json(#[from] serde_json::Error),
    #[error("the header hashes to {computed}, not to {claimed}")]
    BlockHash { claimed: B256, computed: B256 },
    #[error("{found} came instead of {asked}")]
    Other { asked: String, found: String },
    #[error("the block is missing, although it is below the node's head")]
    MissingBlock,
    #[error("the transactions are not those of the header")]
    TransactionsRoot,
    #[error("transaction {index} does not have the hash it claims")]
    TransactionHash { index: usize },
    #[error("transaction {index} was not signed by its sender")]
    Sender { index: usize },
    #[error("{receipts} receipts for {transactions} transactions")]
    ReceiptCount { receipts: usize, transactions: usize },
    #[error("receipt {index} belongs to another transaction")]
    ReceiptOrder { index: usize },
    #[error("the receipts are not those of the header")]
    ReceiptsRoot,
    #[error("a log has more than four topics")]
    Topics,
}

/// The part of a block that the header's own type does not read.
#[derive(Deserialize)]
struct WireHash {
    hash: B256,
}

#[derive(Deserialize)]
struct WireBody {
    transactions: Vec<WireTransaction>,
}

/// Reads JSON that may be `null`.
pub(super) fn optional<T>(
    json: &RawValue,
    read: impl FnOnce(&RawValue) -> Result<T, DecodeError>,
) -> Result<Option<T>, DecodeError> {
    if json.get() == "null" { Ok(None) } else { read(json).map(Some) }
}

/// Reads a header, of a block or of a `newHeads` message, and checks its hash.
pub(super) fn head(json: &RawValue) -> Result<Head, DecodeError> {
    checked_header(json).map(|(head, _)| head)
}

/// The header, and whether it is one of IBFT 2.0.
fn checked_header(json: &RawValue) -> Result<(Head, bool), DecodeError> {
    let header: Header = serde_json::from_str(json.get())?;
    let WireHash { hash: claimed } = serde_json::from_str(json.get())?;
    let (computed, is_ibft) = match ibft::hash::block_hash(&header) {
        Ok(hash) => (hash, true),
        Err(_) => (header.hash_slow(), false),
    };
    if computed != claimed {
        return Err(DecodeError::BlockHash { claimed, computed });
    }
    Ok((Head { header, hash: claimed }, is_ibft))
}

/// Reads a block with whole transactions.
pub(super) fn block(json: &RawValue) -> Result<Block, DecodeError> {
    let (Head { header, hash }, is_ibft) = checked_header(json)?;
    let WireBody { transactions } = serde_json::from_str(json.get())?;
    let transactions: Vec<Transaction> = transactions.into_iter().map(|wire| wire.inner).collect();
    if is_ibft {
        if calculate_transaction_root(&transactions) != header.transactions_root {
            return Err(DecodeError::TransactionsRoot);
        }
        for (index, transaction) in transactions.iter().enumerate() {
            check_transaction(index, transaction)?;
        }
    }
    let transactions = transactions.into_iter().map(Arc::new).collect();
    Ok(Block { header, hash, transactions: Arc::new(transactions) })
}

fn check_transaction(index: usize, transaction: &Transaction) -> Result<(), DecodeError> {
    let envelope: &TxEnvelope = transaction.inner();
    if keccak256(envelope.encoded_2718()) != *transaction.tx_hash() {
        return Err(DecodeError::TransactionHash { index });
    }
    match envelope.recover_signer() {
        Ok(signer) if signer == transaction.signer() => Ok(()),
        Ok(_) | Err(_) => Err(DecodeError::Sender { index }),
    }
}

/// A transaction as `eth_getTransactionByHash` gives it.
#[derive(Debug)]
pub(super) struct LocatedTransaction {
    /// The transaction, checked against its own hash and signature.
    pub(super) transaction: Transaction,
    /// Hash of its block, unless it is pending.
    pub(super) block: Option<B256>,
}

/// Reads a transaction and where it is.
pub(super) fn transaction(json: &RawValue) -> Result<LocatedTransaction, DecodeError> {
    let wire: WireTransaction = serde_json::from_str(json.get())?;
    if wire.block_hash.is_none() {
        check_transaction(0, &wire.inner)?;
    }
    Ok(LocatedTransaction { transaction: wire.inner, block: wire.block_hash })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireReceipt {
    transaction_hash: B256,
    #[serde(default, rename = "type")]
    tx_type: U64,
    #[serde(default)]
    status: Option<U64>,
    cumulative_gas_used: U64,
    gas_used: U64,
    logs: Vec<WireLog>,
    #[serde(default)]
    contract_address: Option<Address>,
    /// Besu, when it is told to keep them.
    #[serde(default)]
    revert_reason: Option<Bytes>,
}

#[derive(Deserialize)]
struct WireLog {
    address: Address,
    topics: Vec<B256>,
    data: Bytes,
}

/// Reads all receipts of a block.
pub(super) fn receipts(json: &RawValue) -> Result<Vec<WireReceipt>, DecodeError> {
    Ok(serde_json::from_str(json.get())?)
}

/// Reads one receipt.
pub(super) fn receipt(json: &RawValue) -> Result<WireReceipt, DecodeError> {
    Ok(serde_json::from_str(json.get())?)
}

/// Checks receipts against the block that they belong to.
pub(super) fn check_receipts(block: &Block, wire: Vec<WireReceipt>) -> Result<Vec<Receipt>, DecodeError> {
    if wire.len() != block.transactions.len() {
        return Err(DecodeError::ReceiptCount {
            receipts: wire.len(),
            transactions: block.transactions.len(),
        });
    }
    let pairs = wire.into_iter().zip(block.transactions.iter()).enumerate();
    let receipts: Vec<Receipt> = pairs
        .map(|(index, (wire, transaction))| {
            if wire.transaction_hash != *transaction.tx_hash() {
                return Err(DecodeError::ReceiptOrder { index });
            }
            wire.into_receipt()
        })
        .collect::<Result<_, _>>()?;
    let is_ibft = ibft::extra_data::ExtraData::decode(&block.header.extra_data).is_ok();
    if is_ibft && receipts_root(&receipts) != block.header.receipts_root {
        return Err(DecodeError::ReceiptsRoot);
    }
    Ok(receipts)
}

impl WireReceipt {
    fn into_receipt(self) -> Result<Receipt, DecodeError> {
        let logs = self
            .logs
            .into_iter()
            .map(|log| Log::new(log.address, log.topics, log.data).ok_or(DecodeError::Topics));
        Ok(Receipt {
            tx_type: self.tx_type.saturating_to(),
            success: self.status.is_none_or(|status| !status.is_zero()),
            cumulative_gas_used: self.cumulative_gas_used.to(),
            gas_used: self.gas_used.to(),
            logs: logs.collect::<Result<_, _>>()?,
            contract_address: self.contract_address,
            revert_reason: self.revert_reason,
        })
    }
}

fn receipts_root(receipts: &[Receipt]) -> B256 {
    calculate_receipt_root(&receipts.iter().map(consensus_receipt).collect::<Vec<_>>())
}

fn consensus_receipt(receipt: &Receipt) -> ReceiptEnvelope {
    let body = ReceiptWithBloom {
        receipt: ReceiptBody {
            status: Eip658Value::Eip658(receipt.success),
            cumulative_gas_used: receipt.cumulative_gas_used,
            logs: receipt.logs.clone(),
        },
        logs_bloom: receipt.bloom(),
    };
    match TxType::try_from(receipt.tx_type) {
        Ok(TxType::Eip2930) => ReceiptEnvelope::Eip2930(body),
        Ok(TxType::Eip1559) => ReceiptEnvelope::Eip1559(body),
        Ok(TxType::Eip4844) => ReceiptEnvelope::Eip4844(body),
        Ok(TxType::Eip7702) => ReceiptEnvelope::Eip7702(body),
        Ok(TxType::Legacy) | Err(_) => ReceiptEnvelope::Legacy(body),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    /// JSON values as a node might send them, good, bad and odd.
    fn value() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            "0x[0-9a-f]{0,70}".prop_map(Value::from),
            ".{0,10}".prop_map(Value::from),
            Just(json!(B256::ZERO)),
            Just(json!([])),
            Just(json!({})),
        ]
    }

    /// Valid JSON of a block, a transaction and a receipt, to be damaged.
    fn samples() -> [Value; 3] {
        let mut header = json!(Header::default());
        header["hash"] = json!(Header::default().hash_slow());
        header["transactions"] = json!([]);
        let transaction = json!({
            "type": "0x0", "hash": B256::ZERO, "from": Address::ZERO, "to": null, "nonce": "0x0", "gas": "0x1",
            "gasPrice": "0x0", "value": "0x0", "input": "0x", "v": "0x1b", "r": "0x1", "s": "0x1",
            "blockHash": null, "blockNumber": null, "transactionIndex": null,
        });
        let receipt = json!({
            "transactionHash": B256::ZERO, "type": "0x0", "status": "0x1", "cumulativeGasUsed": "0x1",
            "gasUsed": "0x1", "contractAddress": null,
            "logs": [{ "address": Address::ZERO, "topics": [B256::ZERO], "data": "0x" }],
        });
        [header, transaction, receipt]
    }

    fn read_everything(json: &Value) {
        let json = serde_json::value::to_raw_value(json).expect("JSON");
        let _ = head(&json);
        let _ = optional(&json, block);
        let _ = transaction(&json);
        let _ = receipts(&json);
        let _ = receipt(&json).map(WireReceipt::into_receipt);
    }

    #[test]
    fn the_samples_are_what_nodes_send() {
        let [block_json, transaction_json, receipt_json] =
            samples().map(|sample| serde_json::value::to_raw_value(&sample).expect("JSON"));
        assert_eq!(block(&block_json).expect("a block").header, Header::default());
        assert!(matches!(transaction(&transaction_json), Err(DecodeError::TransactionHash { .. })));
        assert_eq!(receipt(&receipt_json).expect("a receipt").into_receipt().expect("logs").logs.len(), 1);
    }

    proptest! {
        #[test]
        fn damaged_json_is_an_error_and_never_a_panic(sample in 0..3usize, field in 0..24usize, value in value()) {
            let mut json = samples()[sample].clone();
            let fields = json.as_object_mut().expect("an object");
            let key = fields.keys().nth(field % fields.len()).expect("a field").clone();
            fields.insert(key.clone(), value);
            read_everything(&json);
            json.as_object_mut().expect("an object").remove(&key);
            read_everything(&json);
        }

        #[test]
        fn any_value_is_read_or_refused(values in proptest::collection::vec(value(), 0..30)) {
            values.iter().for_each(read_everything);
            read_everything(&Value::Array(values));
        }
    }
}
