//! Fetching a block with everything in it, and taking it apart by position, so that its pieces are the node's own bytes.

use alloy_primitives::{Address, B256, U64};
use bytes::Bytes;
use chain::{Lane, RawCall, RawError, RawUpstream};
use jsonrpc::Answer;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{WarmBlock, WarmLog};

/// Longer answers are read on a thread for blocking work.
const LONG_ANSWER: usize = 64 * 1024;

/// Why a block could not be loaded.
#[derive(Debug, thiserror::Error)]
pub(super) enum LoadError {
    #[error("no node answered")]
    Node(#[from] RawError),
    #[error("the node refused")]
    Refused,
    #[error("the node's answer is not understood")]
    Json(#[from] serde_json::Error),
    #[error("the node answered with another block")]
    Other,
    #[error("the work was given up")]
    Cancelled(#[from] tokio::task::JoinError),
}

/// A block as it came, taken apart.
pub(super) struct Loaded {
    pub(super) block: WarmBlock,
    /// Hash of the block before it.
    pub(super) parent: B256,
    /// The block with the hashes of its transactions instead of the transactions.
    pub(super) short: Bytes,
    /// Each transaction as JSON, in order.
    pub(super) transactions: Vec<Bytes>,
    /// All receipts as one list, if the node has a method for that.
    pub(super) receipts: Option<Receipts>,
}

/// The receipts of a block.
pub(super) struct Receipts {
    pub(super) json: Bytes,
    /// Each receipt as JSON, in order.
    pub(super) each: Vec<Bytes>,
}

/// Fetches a block with its receipts and logs.
pub(super) async fn load(upstream: &dyn RawUpstream, number: u64) -> Result<Loaded, LoadError> {
    let ask = |method, params: String, lane| {
        upstream.call(RawCall { method, params: params.into(), lane, at: number })
    };
    let block = ask("eth_getBlockByNumber", format!("[\"{number:#x}\",true]"), Lane::Cheap);
    let receipts = ask("eth_getBlockReceipts", format!("[\"{number:#x}\"]"), Lane::Cheap);
    let (block, receipts) = tokio::join!(block, receipts);
    let Answer::Result(block) = block? else { return Err(LoadError::Refused) };
    let source = match receipts? {
        Answer::Result(receipts) if receipts.starts_with(b"[") => Source::Receipts(receipts),
        Answer::Result(_) => return Err(LoadError::Other),
        // Older nodes have no such method.
        Answer::Error(_) => {
            let range = format!("[{{\"fromBlock\":\"{number:#x}\",\"toBlock\":\"{number:#x}\"}}]");
            match ask("eth_getLogs", range, Lane::Heavy).await? {
                Answer::Result(logs) => Source::Logs(logs),
                Answer::Error(_) => return Err(LoadError::Refused),
            }
        }
    };
    if block.len() + source.len() < LONG_ANSWER {
        return take_apart(number, block, source);
    }
    tokio::task::spawn_blocking(move || take_apart(number, block, source)).await?
}

/// Where logs come from.
enum Source {
    Receipts(Bytes),
    Logs(Bytes),
}

impl Source {
    fn len(&self) -> usize {
        match self {
            Self::Receipts(json) | Self::Logs(json) => json.len(),
        }
    }
}

#[derive(Deserialize)]
struct BlockJson<'a> {
    number: U64,
    hash: B256,
    #[serde(rename = "parentHash", default)]
    parent: B256,
    #[serde(borrow)]
    transactions: &'a RawValue,
}

#[derive(Deserialize)]
struct TransactionJson<'a> {
    #[serde(borrow)]
    hash: &'a RawValue,
}

#[derive(Deserialize)]
struct ReceiptJson<'a> {
    #[serde(borrow)]
    logs: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct LogJson {
    address: Address,
    topics: Vec<B256>,
}

fn take_apart(number: u64, json: Bytes, source: Source) -> Result<Loaded, LoadError> {
    let block: BlockJson<'_> = serde_json::from_slice(&json)?;
    if block.number.to::<u64>() != number {
        return Err(LoadError::Other);
    }
    let listed = block.transactions.get();
    let each: Vec<&RawValue> = serde_json::from_str(listed)?;
    let mut hashes = Vec::with_capacity(each.len());
    for transaction in &each {
        let TransactionJson { hash } = serde_json::from_str(transaction.get())?;
        hashes.push(Bytes::copy_from_slice(hash.get().as_bytes()));
    }
    let short = with_hashes(&json, listed, &hashes);
    // Copies, so that one of them does not keep the whole block in memory.
    let transactions = each.iter().map(|raw| Bytes::copy_from_slice(raw.get().as_bytes())).collect();
    let (receipts, logs) = match source {
        Source::Receipts(json) => {
            let (receipts, logs) = read_receipts(json)?;
            (Some(receipts), logs)
        }
        Source::Logs(json) => {
            let raw: Vec<&RawValue> = serde_json::from_slice(&json)?;
            (None, read_logs(&json, &raw)?)
        }
    };
    let weight = json.len() + logs.iter().map(|log| log.json.len() + 192).sum::<usize>() + 256;
    let parent = block.parent;
    let block =
        WarmBlock { number, hash: block.hash, json: json.clone(), transactions: hashes, logs, weight };
    Ok(Loaded { block, parent, short, transactions, receipts })
}

fn read_receipts(json: Bytes) -> Result<(Receipts, Vec<WarmLog>), LoadError> {
    let listed: Vec<&RawValue> = serde_json::from_slice(&json)?;
    let mut logs = Vec::new();
    for receipt in &listed {
        let receipt: ReceiptJson<'_> = serde_json::from_str(receipt.get())?;
        logs.extend(read_logs(&json, &receipt.logs)?);
    }
    let each = listed.iter().map(|raw| Bytes::copy_from_slice(raw.get().as_bytes())).collect();
    Ok((Receipts { json: json.clone(), each }, logs))
}

fn read_logs(json: &Bytes, logs: &[&RawValue]) -> Result<Vec<WarmLog>, LoadError> {
    let read = |raw: &&RawValue| {
        let LogJson { address, topics } = serde_json::from_str(raw.get())?;
        Ok(WarmLog { address, topics, json: json.slice_ref(raw.get().as_bytes()) })
    };
    logs.iter().map(read).collect()
}

/// The block with its list of transactions, which is a part of it, replaced by their hashes.
fn with_hashes(block: &Bytes, listed: &str, hashes: &[Bytes]) -> Bytes {
    let start = listed.as_ptr() as usize - block.as_ptr() as usize;
    let (before, rest) = block.split_at_checked(start).unwrap_or_default();
    let (_, after) = rest.split_at_checked(listed.len()).unwrap_or_default();
    let mut short = Vec::with_capacity(before.len() + after.len() + hashes.len() * 69 + 2);
    short.extend_from_slice(before);
    short.push(b'[');
    for (index, hash) in hashes.iter().enumerate() {
        if index > 0 {
            short.push(b',');
        }
        short.extend_from_slice(hash);
    }
    short.push(b']');
    short.extend_from_slice(after);
    short.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "0x00000000000000000000000000000000000000000000000000000000000000aa";
    const ADDRESS: &str = "0x00000000000000000000000000000000000000bb";

    #[test]
    fn a_block_is_taken_apart_into_the_nodes_own_bytes() {
        let transaction = |hash: &str| format!(r#"{{ "hash":"{hash}","value":"0x1" }}"#);
        let (one, two) = (transaction("0x1"), transaction("0x2"));
        let block =
            format!(r#"{{"number":"0x7","hash":"{HASH}","transactions":[{one}, {two}],"uncles":[]}}"#);
        let log = format!(r#"{{"address":"{ADDRESS}","topics":["{HASH}"],"data":"0x"}}"#);
        let receipts = format!(r#"[{{"transactionHash":"0x1","logs":[{log}]}},{{"logs":[]}}]"#);
        let loaded = take_apart(7, block.clone().into(), Source::Receipts(receipts.clone().into()));
        let loaded = loaded.expect("a block");
        let short = format!(r#"{{"number":"0x7","hash":"{HASH}","transactions":["0x1","0x2"],"uncles":[]}}"#);
        assert_eq!(loaded.short, short);
        assert_eq!(loaded.block.json, block);
        assert_eq!(loaded.transactions, [one, two]);
        assert_eq!(loaded.block.transactions, ["\"0x1\"", "\"0x2\""]);
        assert_eq!(loaded.block.logs.len(), 1);
        assert_eq!(loaded.block.logs[0].json, log);
        let all = loaded.receipts.expect("receipts");
        assert_eq!((all.json, all.each.len()), (receipts.into(), 2));
        let other = take_apart(8, block.into(), Source::Logs("[]".into()));
        assert!(matches!(other, Err(LoadError::Other)));
    }
}
