//! The rows.

use chain::Lane::{self, Cheap, Heavy, Small, Write};

use super::{Class, FilterCall, Found, Local, Method, SessionCall};

const fn row(name: &'static str, class: Class, lane: Lane, units: u32) -> Method {
    Method { name, class, lane, units }
}

const fn state(block: usize) -> Class {
    Class::State { block }
}

const fn block(block: usize) -> Class {
    Class::Block { block }
}

/// Every method that is offered.
pub(crate) static METHODS: &[Method] = &[
    row("eth_accounts", Class::Local(Local::Accounts), Cheap, 1),
    row("eth_blobBaseFee", Class::Head, Cheap, 1),
    row("eth_blockNumber", Class::Local(Local::BlockNumber), Cheap, 1),
    row("eth_call", state(1), Cheap, 2),
    row("eth_chainId", Class::Local(Local::ChainId), Cheap, 1),
    row("eth_createAccessList", state(1), Heavy, 5),
    row("eth_estimateGas", state(1), Heavy, 5),
    row("eth_feeHistory", state(1), Heavy, 5),
    row("eth_gasPrice", Class::Head, Cheap, 1),
    row("eth_getBalance", state(1), Small, 1),
    row("eth_getBlockByHash", Class::Hash(Found::Block), Cheap, 1),
    row("eth_getBlockByNumber", block(0), Cheap, 1),
    row("eth_getBlockReceipts", block(0), Heavy, 5),
    row("eth_getBlockTransactionCountByHash", Class::Hash(Found::Part), Cheap, 1),
    row("eth_getBlockTransactionCountByNumber", block(0), Cheap, 1),
    row("eth_getCode", state(1), Small, 1),
    row("eth_getFilterChanges", Class::Filter(FilterCall::Changes), Cheap, 2),
    row("eth_getFilterLogs", Class::Filter(FilterCall::Logs), Heavy, 10),
    row("eth_getLogs", Class::Logs, Heavy, 10),
    row("eth_getMinerDataByBlockHash", Class::Hash(Found::Part), Cheap, 1),
    row("eth_getMinerDataByBlockNumber", block(0), Cheap, 1),
    row("eth_getProof", state(2), Heavy, 5),
    row("eth_getStorageAt", state(2), Small, 1),
    row("eth_getTransactionByBlockHashAndIndex", Class::Hash(Found::Receipt), Cheap, 1),
    row("eth_getTransactionByBlockNumberAndIndex", block(0), Cheap, 1),
    row("eth_getTransactionByHash", Class::Hash(Found::Transaction), Small, 1),
    row("eth_getTransactionCount", state(1), Small, 1),
    row("eth_getTransactionReceipt", Class::Hash(Found::Receipt), Small, 1),
    row("eth_getUncleByBlockHashAndIndex", Class::Hash(Found::Part), Cheap, 1),
    row("eth_getUncleByBlockNumberAndIndex", block(0), Cheap, 1),
    row("eth_getUncleCountByBlockHash", Class::Hash(Found::Part), Cheap, 1),
    row("eth_getUncleCountByBlockNumber", block(0), Cheap, 1),
    row("eth_maxPriorityFeePerGas", Class::Head, Cheap, 1),
    row("eth_newBlockFilter", Class::Filter(FilterCall::NewBlocks), Cheap, 2),
    row("eth_newFilter", Class::Filter(FilterCall::NewLogs), Cheap, 2),
    row("eth_newPendingTransactionFilter", Class::Filter(FilterCall::NewPending), Cheap, 2),
    row("eth_protocolVersion", Class::Head, Cheap, 1),
    row("eth_sendRawTransaction", Class::Send, Write, 5),
    row("eth_subscribe", Class::Session(SessionCall::Subscribe), Cheap, 5),
    row("eth_syncing", Class::Local(Local::Syncing), Cheap, 1),
    row("eth_uninstallFilter", Class::Filter(FilterCall::Uninstall), Cheap, 1),
    row("eth_unsubscribe", Class::Session(SessionCall::Unsubscribe), Cheap, 1),
    row("ibft_getSignerMetrics", Class::Head, Heavy, 10),
    row("ibft_getValidatorsByBlockHash", Class::Hash(Found::Part), Cheap, 1),
    row("ibft_getValidatorsByBlockNumber", block(0), Cheap, 1),
    row("net_listening", Class::Local(Local::Listening), Cheap, 1),
    row("net_peerCount", Class::Head, Cheap, 1),
    row("net_version", Class::Local(Local::NetVersion), Cheap, 1),
    row("web3_clientVersion", Class::Local(Local::Version), Cheap, 1),
    row("web3_sha3", Class::Pure, Cheap, 1),
];
