//! What Besu's answers look like, made from our own node's.

use alloy_primitives::{Bytes, U64, U256};
use serde_json::{Value, json};

use super::{BesuSettings, admit::Fault, methods};

/// Code of every reverted call, and of much else.
const REVERTED: i64 = -32000;
/// Selector of `Error(string)`, the only reason that Besu puts into words.
const ERROR_STRING: [u8; 4] = [0x08, 0xc3, 0x79, 0xa0];

/// Turns a result of our node into Besu's.
pub(super) fn result(settings: &BesuSettings, method: &str, result: &mut Value) {
    match method {
        "web3_clientVersion" => *result = json!(settings.client_version),
        "rpc_modules" => {
            let on =
                settings.http_groups.iter().map(|group| (methods::prefix(*group).to_owned(), json!("1.0")));
            *result = Value::Object(on.collect());
        }
        "eth_gasPrice" => at_least(result, settings.min_gas_price),
        "eth_feeHistory" => blob_fees(result),
        "eth_getBlockByNumber" | "eth_getBlockByHash" => block(settings, result),
        "eth_getTransactionReceipt" => receipt(settings, result),
        "eth_getBlockReceipts" => each(result, |one| receipt(settings, one)),
        "eth_getTransactionByHash"
        | "eth_getTransactionByBlockHashAndIndex"
        | "eth_getTransactionByBlockNumberAndIndex" => transaction(settings, result),
        _ => {}
    }
}

/// Turns an error of our node into Besu's.
pub(super) fn error(settings: &BesuSettings, error: &mut Value) {
    let code = error["code"].as_i64().unwrap_or_default();
    // A hash that is on no chain; what our node has no blocks for otherwise was refused before.
    if code == Fault::UNKNOWN_BLOCK.code {
        *error = Fault::NO_BLOCK.json();
    }
    if code == -32602 && !settings.names_parameters {
        error["message"] = json!("Invalid params");
    }
    if code == REVERTED
        && let Some(data) = error["data"].as_str()
    {
        let reason = data.parse::<Bytes>().ok().and_then(|data| reason(&data));
        error["message"] = match reason {
            Some(reason) => json!(format!("Execution reverted: {reason}")),
            None => json!("Execution reverted"),
        };
    }
}

/// The text of `Error(string)`.
fn reason(data: &[u8]) -> Option<String> {
    let arguments = data.strip_prefix(&ERROR_STRING)?;
    let word =
        |at: usize| Some(U256::try_from_be_slice(arguments.get(at..at + 32)?)?.saturating_to::<usize>());
    let start = word(0)?;
    let length = word(start)?;
    let text = arguments.get(start.checked_add(32)?..start.checked_add(32)?.checked_add(length)?)?;
    String::from_utf8(text.to_vec()).ok()
}

/// A block, whatever its transactions are.
pub(super) fn block(settings: &BesuSettings, block: &mut Value) {
    let Some(members) = block.as_object_mut() else { return };
    // Blocks of IBFT 2.0 have none, from whatever fork on.
    members.remove("withdrawals");
    if let Some(transactions) = members.get_mut("transactions") {
        each(transactions, |one| transaction(settings, one));
    }
}

/// A transaction; one that is only a hash is left alone.
pub(super) fn transaction(settings: &BesuSettings, transaction: &mut Value) {
    let Some(members) = transaction.as_object_mut() else { return };
    if members.get("type").and_then(Value::as_str) == Some("0x0") {
        members.remove("yParity");
    } else if !settings.has_typed_v {
        members.remove("v");
    }
}

fn receipt(settings: &BesuSettings, receipt: &mut Value) {
    let Some(members) = receipt.as_object_mut() else { return };
    if !settings.keeps_revert_reasons {
        members.remove("revertReason");
    }
}

fn each(list: &mut Value, change: impl FnMut(&mut Value)) {
    list.as_array_mut().into_iter().flatten().for_each(change);
}

fn at_least(quantity: &mut Value, least: u64) {
    let given = serde_json::from_value::<U64>(quantity.clone()).unwrap_or_default();
    *quantity = json!(given.max(U64::from(least)));
}

/// Besu tells of blobs on every chain.
fn blob_fees(history: &mut Value) {
    let blocks = history["gasUsedRatio"].as_array().map_or(0, Vec::len);
    history["baseFeePerBlobGas"] = json!(vec!["0x0"; blocks + 1]);
    history["blobGasUsedRatio"] = json!(vec![0.0; blocks]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_error_strings_are_put_into_words() {
        let settings = BesuSettings::v24_12_2();
        let told = |data: &str| {
            let mut told = json!({ "code": -32000, "message": "Execution reverted: x", "data": data });
            error(&settings, &mut told);
            told["message"].as_str().map(str::to_owned)
        };
        let text = format!("0x08c379a0{:064x}{:064x}6e6f{:060}", 32, 2, 0);
        assert_eq!(told(&text).as_deref(), Some("Execution reverted: no"));
        let panic = format!("0x4e487b71{:064x}", 1);
        assert_eq!(told(&panic).as_deref(), Some("Execution reverted"));
        assert_eq!(told("0x08c379a0ffff").as_deref(), Some("Execution reverted"));
        assert_eq!(told("0x").as_deref(), Some("Execution reverted"));
    }

    #[test]
    fn transactions_and_receipts_are_as_the_version_writes_them() {
        let (old, new) = (BesuSettings::v24_5_4(), BesuSettings::v24_12_2());
        let made = |settings: &BesuSettings, kind: &str| {
            let mut made = json!({ "type": kind, "v": "0x1", "yParity": "0x1" });
            transaction(settings, &mut made);
            (made.get("v").is_some(), made.get("yParity").is_some())
        };
        assert_eq!((made(&old, "0x0"), made(&old, "0x2")), ((true, false), (false, true)));
        assert_eq!((made(&new, "0x0"), made(&new, "0x2")), ((true, false), (true, true)));
        for (settings, kept) in [(&old, false), (&new, true)] {
            let mut receipts = json!([{ "revertReason": "0x" }]);
            result(settings, "eth_getBlockReceipts", &mut receipts);
            assert_eq!(receipts[0].get("revertReason").is_some(), kept);
        }
        let mut history = json!({ "gasUsedRatio": [0.5, 0.0] });
        result(&old, "eth_feeHistory", &mut history);
        assert_eq!(history["baseFeePerBlobGas"], json!(["0x0", "0x0", "0x0"]));
    }
}
