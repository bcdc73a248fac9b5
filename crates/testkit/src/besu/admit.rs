//! What Besu refuses, or passes over, before anything is executed.

use alloy_consensus::{Transaction as _, TxEnvelope};
use alloy_eips::Decodable2718;
use alloy_primitives::hex;
use serde_json::{Value, json};

use super::{
    BesuSettings,
    methods::{self, Group},
};

/// Through which port a request came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Http,
    Socket,
}

/// An error as Besu writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) code: i64,
    pub(super) message: &'static str,
}

impl Fault {
    pub(super) const PARSE: Self = Self { code: -32700, message: "Parse error" };
    pub(super) const REQUEST: Self = Self { code: -32600, message: "Invalid Request" };
    pub(super) const UNKNOWN_METHOD: Self = Self { code: -32601, message: "Method not found" };
    pub(super) const DISABLED: Self = Self { code: -32604, message: "Method not enabled" };
    pub(super) const UNKNOWN_BLOCK: Self = Self { code: -39001, message: "Unknown block" };
    pub(super) const NO_BLOCK: Self = Self { code: -32000, message: "Block not found" };
    pub(super) const RANGE: Self =
        Self { code: -32005, message: "Requested range exceeds maximum RPC range limit" };
    pub(super) const BATCH: Self =
        Self { code: -32005, message: "Number of requests exceeds max batch size" };
    pub(super) const PRICE: Self =
        Self { code: -32009, message: "Gas price below configured minimum gas price" };
    pub(super) const INTERNAL: Self = Self { code: -32603, message: "Internal error" };

    pub(super) fn json(&self) -> Value {
        json!({ "code": self.code, "message": self.message })
    }
}

/// A wrong parameter: named by newer versions only.
fn wrong(settings: &BesuSettings, message: &'static str) -> Fault {
    Fault { code: -32602, message: if settings.names_parameters { message } else { "Invalid params" } }
}

/// Lets a request in, with what Besu does not look at taken away, or refuses it.
pub(super) fn admit(
    settings: &BesuSettings,
    way: Way,
    method: &str,
    params: &mut Vec<Value>,
) -> Result<(), Fault> {
    offered(settings, way, method)?;
    let needs = methods::needs(method);
    if params.len() < needs.count {
        let message = if needs.block == Some(needs.count - 1) {
            "Invalid block, unable to parse RLP"
        } else {
            "Invalid number of params"
        };
        return Err(wrong(settings, message));
    }
    if let Some(block) = needs.block.and_then(|position| params.get_mut(position)) {
        // Besu answers a fee history of the head for these.
        if method == "eth_feeHistory" {
            if is_settled(block) {
                *block = json!("latest");
            }
        } else if is_settled(block) {
            return Err(Fault::UNKNOWN_BLOCK);
        }
    }
    if matches!(method, "eth_getLogs" | "eth_newFilter") {
        let filter = params.first();
        if ["fromBlock", "toBlock"].iter().any(|end| filter.is_some_and(|filter| is_settled(&filter[*end]))) {
            return Err(wrong(settings, "Invalid block number params"));
        }
    }
    match method {
        "eth_sendRawTransaction" => well_paid(settings, params.first())?,
        "eth_call" | "eth_estimateGas" => params.truncate(if settings.has_state_overrides { 3 } else { 2 }),
        _ => {}
    }
    Ok(())
}

/// `--min-gas-price`, with `--tx-pool-no-local-priority` as our networks have it, on a chain without a base fee.
fn well_paid(settings: &BesuSettings, raw: Option<&Value>) -> Result<(), Fault> {
    let raw = raw.and_then(Value::as_str).and_then(|raw| hex::decode(raw).ok());
    let transaction = raw.and_then(|raw| TxEnvelope::decode_2718_exact(&raw).ok());
    let price = transaction.map(|transaction| transaction.effective_gas_price(Some(0)));
    if price.is_some_and(|price| price < u128::from(settings.min_gas_price)) {
        return Err(Fault::PRICE);
    }
    Ok(())
}

fn offered(settings: &BesuSettings, way: Way, method: &str) -> Result<(), Fault> {
    let group = methods::group(method).ok_or(Fault::UNKNOWN_METHOD)?;
    if method == "eth_maxPriorityFeePerGas" && !settings.has_priority_fee {
        return Err(Fault::UNKNOWN_METHOD);
    }
    let groups = match way {
        Way::Http => &settings.http_groups,
        Way::Socket => &settings.socket_groups,
    };
    let is_pushed = matches!(method, "eth_subscribe" | "eth_unsubscribe");
    if group != Group::Rpc && !groups.contains(&group) || is_pushed && way == Way::Http {
        return Err(Fault::DISABLED);
    }
    Ok(())
}

/// `safe` and `finalized` are set by a consensus client, which IBFT 2.0 does not have.
fn is_settled(block: &Value) -> bool {
    matches!(block.as_str(), Some("safe" | "finalized"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(settings: &BesuSettings, way: Way, method: &str, params: Value) -> i64 {
        let mut params = params.as_array().cloned().unwrap_or_default();
        admit(settings, way, method, &mut params).err().map_or(0, |fault| fault.code)
    }

    #[test]
    fn what_besu_refuses_is_refused_with_its_code() {
        let (old, new) = (BesuSettings::v24_5_4(), BesuSettings::v24_12_2());
        let cases = [
            ("eth_call", json!([{}]), -32602),
            ("eth_call", json!([{}, "latest"]), 0),
            ("eth_getBalance", json!(["0x00"]), -32602),
            ("eth_getStorageAt", json!(["0x00", "0x0"]), -32602),
            ("eth_getBlockByNumber", json!(["latest"]), -32602),
            ("eth_estimateGas", json!([{}]), 0),
            ("eth_getBlockByNumber", json!(["finalized", false]), -39001),
            ("eth_getBalance", json!(["0x00", "safe"]), -39001),
            ("ibft_getValidatorsByBlockNumber", json!(["safe"]), -39001),
            ("eth_getLogs", json!([{ "toBlock": "finalized" }]), -32602),
            ("eth_feeHistory", json!(["0x1", "finalized"]), 0),
            ("eth_subscribe", json!(["newHeads"]), -32604),
            ("debug_traceTransaction", json!([]), -32604),
            ("txpool_besuTransactions", json!([]), -32604),
            ("admin_peers", json!([]), -32604),
            ("evm_mine", json!([]), -32601),
            ("chainnet_stopValidator", json!([]), -32601),
            ("rpc_modules", json!([]), 0),
        ];
        for (method, params, expected) in cases {
            for settings in [&old, &new] {
                assert_eq!(code(settings, Way::Http, method, params.clone()), expected, "{method} {params}");
            }
        }
        assert_eq!(code(&old, Way::Http, "eth_maxPriorityFeePerGas", json!([])), -32601);
        assert_eq!(code(&new, Way::Http, "eth_maxPriorityFeePerGas", json!([])), 0);
        assert_eq!(code(&new, Way::Socket, "eth_subscribe", json!(["newHeads"])), 0);
        assert_eq!(code(&new, Way::Socket, "ibft_getPendingVotes", json!([])), -32604);
    }

    #[test]
    fn overrides_are_passed_over_before_they_existed() {
        let overridden = || vec![json!({}), json!("latest"), json!({ "0x00": {} })];
        for (settings, left) in [(BesuSettings::v24_5_4(), 2), (BesuSettings::v24_12_2(), 3)] {
            let mut params = overridden();
            assert_eq!(admit(&settings, Way::Http, "eth_call", &mut params), Ok(()));
            assert_eq!(params.len(), left);
        }
    }
}
