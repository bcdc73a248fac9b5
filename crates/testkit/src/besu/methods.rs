//! The methods that Besu knows, by group: one it knows and has switched off is told apart from one it never heard of.

/// A group of methods, as `--rpc-http-api` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// `eth_*`
    Eth,
    /// `net_*`
    Net,
    /// `web3_*`
    Web3,
    /// `ibft_*`
    Ibft,
    /// `admin_*`
    Admin,
    /// `debug_*`
    Debug,
    /// `txpool_*`
    Txpool,
    /// `perm_*`
    Perm,
    /// `miner_*`
    Miner,
    /// `trace_*`
    Trace,
    /// `rpc_*`: always on.
    Rpc,
}

/// Every group with its prefix and the methods behind it.
const KNOWN: &[(Group, &str, &str)] = &[
    (
        Group::Eth,
        "eth",
        "accounts blockNumber call chainId coinbase createAccessList estimateGas feeHistory gasPrice \
         maxPriorityFeePerGas blobBaseFee getBalance getBlockByHash getBlockByNumber getBlockReceipts \
         getBlockTransactionCountByHash getBlockTransactionCountByNumber getCode getFilterChanges getFilterLogs getLogs \
         getMinerDataByBlockHash getMinerDataByBlockNumber getProof getStorageAt getTransactionByBlockHashAndIndex \
         getTransactionByBlockNumberAndIndex getTransactionByHash getTransactionCount getTransactionReceipt \
         getUncleByBlockHashAndIndex getUncleByBlockNumberAndIndex getUncleCountByBlockHash getUncleCountByBlockNumber \
         getWork hashrate mining newBlockFilter newFilter newPendingTransactionFilter protocolVersion \
         sendRawTransaction sendTransaction submitHashrate submitWork syncing uninstallFilter subscribe unsubscribe",
    ),
    (Group::Net, "net", "version listening peerCount enode services"),
    (Group::Web3, "web3", "clientVersion sha3"),
    (
        Group::Ibft,
        "ibft",
        "getValidatorsByBlockNumber getValidatorsByBlockHash proposeValidatorVote discardValidatorVote \
         getPendingVotes getSignerMetrics",
    ),
    (
        Group::Admin,
        "admin",
        "addPeer removePeer nodeInfo peers changeLogLevel generateLogBloomCache logsRepairCache logsRemoveCache",
    ),
    (
        Group::Debug,
        "debug",
        "accountAt accountRange metrics resyncWorldState setHead replayBlock storageRangeAt traceBlock \
         traceBlockByHash traceBlockByNumber standardTraceBlockToFile standardTraceBadBlockToFile traceTransaction \
         traceCall batchSendRawTransaction getBadBlocks getRawHeader getRawBlock getRawReceipts getRawTransaction",
    ),
    (Group::Txpool, "txpool", "besuStatistics besuTransactions besuPendingTransactions"),
    (
        Group::Perm,
        "perm",
        "addNodesToAllowlist removeNodesFromAllowlist getNodesAllowlist addAccountsToAllowlist \
         removeAccountsFromAllowlist getAccountsAllowlist reloadPermissionsFromFile",
    ),
    (
        Group::Miner,
        "miner",
        "start stop setCoinbase setEtherbase changeTargetGasLimit getMinPriorityFee setMinPriorityFee getMinGasPrice \
         setMinGasPrice getExtraData setExtraData",
    ),
    (
        Group::Trace,
        "trace",
        "block call callMany get filter rawTransaction replayBlockTransactions transaction",
    ),
    (Group::Rpc, "rpc", "modules"),
];

/// The group of a method that Besu knows.
pub(super) fn group(method: &str) -> Option<Group> {
    let (prefix, name) = method.split_once('_')?;
    let (group, _, names) = KNOWN.iter().find(|(_, known, _)| *known == prefix)?;
    names.split_whitespace().any(|known| known == name).then_some(*group)
}

/// The prefix of a group.
pub(super) fn prefix(group: Group) -> &'static str {
    KNOWN.iter().find(|(known, _, _)| *known == group).map_or("rpc", |(_, prefix, _)| prefix)
}

/// Where a method's block parameter stands, and how many parameters it must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Needs {
    pub(super) block: Option<usize>,
    pub(super) count: usize,
}

/// What a method needs. Besu gives no block by default, but to `eth_estimateGas` and `eth_createAccessList`.
pub(super) fn needs(method: &str) -> Needs {
    let (block, count) = match method {
        "eth_getBalance" | "eth_getCode" | "eth_getTransactionCount" | "eth_call" | "eth_feeHistory" => {
            (Some(1), 2)
        }
        "eth_getStorageAt" | "eth_getProof" => (Some(2), 3),
        "eth_getBlockByNumber"
        | "eth_getTransactionByBlockNumberAndIndex"
        | "eth_getUncleByBlockNumberAndIndex" => (Some(0), 2),
        "eth_getBlockReceipts"
        | "eth_getBlockTransactionCountByNumber"
        | "eth_getUncleCountByBlockNumber"
        | "eth_getMinerDataByBlockNumber"
        | "ibft_getValidatorsByBlockNumber" => (Some(0), 1),
        "eth_estimateGas" | "eth_createAccessList" => (Some(1), 1),
        "eth_getBlockByHash" => (None, 2),
        _ => (None, 0),
    };
    Needs { block, count }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_of_other_nodes_are_unknown_and_besus_own_are_not() {
        assert_eq!(group("eth_getLogs"), Some(Group::Eth));
        assert_eq!(group("debug_traceCall"), Some(Group::Debug));
        assert_eq!(group("txpool_besuTransactions"), Some(Group::Txpool));
        for foreign in
            ["txpool_content", "evm_mine", "chainnet_stopValidator", "personal_sign", "eth", "eth_Call"]
        {
            assert_eq!(group(foreign), None, "{foreign}");
        }
        assert_eq!(prefix(Group::Ibft), "ibft");
    }
}
