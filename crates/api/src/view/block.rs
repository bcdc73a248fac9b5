//! A block, in full and in a list.

use alloy_consensus::Header;
use alloy_primitives::{Address, U256};
use async_graphql::{Enum, SimpleObject};
use chain::{Agreement, Block, Head};
use ibft::votes::VoteKind;
use serde::Serialize;
use utoipa::ToSchema;

use super::{AddressText, HashText, HexText, Long, TimeText, WeiText, transaction::TransactionView};

/// A block without its transactions.
#[derive(Debug, Clone, Serialize, ToSchema, SimpleObject)]
#[serde(rename_all = "camelCase")]
#[graphql(name = "BlockHeader")]
pub(crate) struct BlockHeaderView {
    /// Height.
    #[schema(example = 1024)]
    number: Long,
    /// On-chain hash.
    hash: HashText,
    /// Hash of the block before.
    parent_hash: HashText,
    /// When it was proposed.
    timestamp: TimeText,
    /// Who proposed it; nobody proposed block 0.
    proposer: Option<AddressText>,
    /// The proposer's display name, if it is in the validator registry.
    #[schema(example = "Jakarta One")]
    proposer_moniker: Option<String>,
    /// The round in which it was agreed on: 0 unless a proposer missed its turn.
    #[schema(example = 0)]
    round: u32,
    /// The validators whose agreement it took.
    validators: Vec<AddressText>,
    /// The validators whose seals our node saw. A missing one is no sign of absence: a quorum is enough.
    committers: Vec<AddressText>,
    /// The proposer's vote on a validator.
    vote: Option<VoteView>,
    /// Gas used by its transactions.
    gas_used: Long,
    /// Gas its transactions could have used.
    #[schema(example = 30000000)]
    gas_limit: Long,
    /// Wei per unit of gas that is burned; null before London.
    base_fee_per_gas: Option<WeiText>,
    /// Bytes of its RLP encoding.
    #[schema(example = 812)]
    size: Long,
    /// Number of its transactions.
    #[schema(example = 1)]
    transaction_count: u32,
    /// Root of the state after it.
    state_root: HashText,
    /// Root of its transactions.
    transactions_root: HashText,
    /// Root of its receipts.
    receipts_root: HashText,
    /// IBFT 2.0 extra data: vanity, validators, vote, round and seals in RLP.
    extra_data: HexText,
}

/// A vote on a validator.
#[derive(Debug, Clone, Serialize, ToSchema, SimpleObject)]
#[serde(rename_all = "camelCase")]
#[graphql(name = "Vote")]
pub(crate) struct VoteView {
    /// The validator voted on.
    recipient: AddressText,
    /// Whether it is to be added or dropped.
    kind: VoteKindView,
}

/// What a vote asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema, Enum)]
#[serde(rename_all = "lowercase")]
#[graphql(name = "VoteKind")]
pub(crate) enum VoteKindView {
    /// To add a validator.
    Add,
    /// To drop a validator.
    Drop,
}

impl From<VoteKind> for VoteKindView {
    fn from(kind: VoteKind) -> Self {
        match kind {
            VoteKind::Add => Self::Add,
            VoteKind::Drop => Self::Drop,
        }
    }
}

/// A block with the hashes of its transactions.
#[derive(Debug, Clone, Serialize, ToSchema, SimpleObject)]
#[serde(rename_all = "camelCase")]
#[graphql(name = "Block")]
pub(crate) struct BlockView {
    #[serde(flatten)]
    #[graphql(flatten)]
    header: BlockHeaderView,
    /// Hashes of its transactions, in order.
    transactions: Vec<HashText>,
}

/// A block with its transactions.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExpandedBlockView {
    #[serde(flatten)]
    header: BlockHeaderView,
    /// Its transactions, in order.
    transactions: Vec<TransactionView>,
}

/// A block, as much of it as was asked for.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum AnyBlockView {
    /// With the hashes of its transactions.
    Short(BlockView),
    /// With its transactions.
    Expanded(ExpandedBlockView),
}

impl BlockHeaderView {
    pub(crate) fn new(block: &Block, moniker: Option<String>) -> Self {
        let header = &block.header;
        let agreement = Agreement::of(header);
        let addresses = |list: Vec<Address>| list.into_iter().map(AddressText).collect();
        Self {
            number: Long(header.number),
            hash: HashText(block.hash),
            parent_hash: HashText(header.parent_hash),
            timestamp: TimeText::from_unix(header.timestamp),
            proposer: proposer(header).map(AddressText),
            proposer_moniker: moniker,
            round: agreement.as_ref().map_or(0, |agreement| agreement.round),
            committers: addresses(agreement.as_ref().map(Agreement::committers).unwrap_or_default()),
            vote: agreement
                .as_ref()
                .and_then(|agreement| agreement.vote)
                .map(|vote| VoteView { recipient: AddressText(vote.recipient), kind: vote.kind.into() }),
            validators: addresses(agreement.map(|agreement| agreement.validators).unwrap_or_default()),
            gas_used: Long(header.gas_used),
            gas_limit: Long(header.gas_limit),
            base_fee_per_gas: header.base_fee_per_gas.map(|fee| WeiText(U256::from(fee))),
            size: Long(block.encoded_length() as u64),
            transaction_count: u32::try_from(block.transactions.len()).unwrap_or(u32::MAX),
            state_root: HashText(header.state_root),
            transactions_root: HashText(header.transactions_root),
            receipts_root: HashText(header.receipts_root),
            extra_data: HexText(header.extra_data.clone()),
        }
    }
}

/// Who proposed the block with this header.
pub(crate) fn proposer(header: &Header) -> Option<Address> {
    (header.number > 0).then_some(header.beneficiary)
}

impl BlockView {
    pub(crate) fn new(block: &Block, moniker: Option<String>) -> Self {
        Self {
            header: BlockHeaderView::new(block, moniker),
            transactions: block.transactions.iter().map(|tx| HashText(*tx.tx_hash())).collect(),
        }
    }
}

impl ExpandedBlockView {
    pub(crate) fn new(block: &Block, moniker: Option<String>, transactions: Vec<TransactionView>) -> Self {
        Self { header: BlockHeaderView::new(block, moniker), transactions }
    }
}

/// A block in a list.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BlockSummary {
    /// Height.
    #[schema(example = 1024)]
    pub(crate) number: Long,
    /// On-chain hash.
    pub(crate) hash: HashText,
    /// When it was proposed.
    pub(crate) timestamp: TimeText,
    /// Who proposed it; nobody proposed block 0.
    pub(crate) proposer: Option<AddressText>,
    /// The proposer's display name, if it is in the validator registry.
    #[schema(example = "Jakarta One")]
    pub(crate) proposer_moniker: Option<String>,
    /// The round in which it was agreed on.
    #[schema(example = 0)]
    pub(crate) round: u32,
    /// Number of its transactions.
    #[schema(example = 1)]
    pub(crate) transaction_count: u32,
    /// Gas used by its transactions.
    pub(crate) gas_used: Long,
    /// Gas its transactions could have used.
    #[schema(example = 30000000)]
    pub(crate) gas_limit: Long,
}

impl BlockSummary {
    pub(crate) fn new(block: &Block, moniker: Option<String>) -> Self {
        let header = &block.header;
        Self {
            number: Long(header.number),
            hash: HashText(block.hash),
            timestamp: TimeText::from_unix(header.timestamp),
            proposer: proposer(header).map(AddressText),
            proposer_moniker: moniker,
            round: Agreement::of(header).map_or(0, |agreement| agreement.round),
            transaction_count: u32::try_from(block.transactions.len()).unwrap_or(u32::MAX),
            gas_used: Long(header.gas_used),
            gas_limit: Long(header.gas_limit),
        }
    }
}

/// Blocks, newest first.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BlocksView {
    /// The blocks of this page.
    pub(crate) blocks: Vec<BlockSummary>,
    /// Where the next page begins; null on the last.
    #[schema(example = "YjoxMDIz")]
    pub(crate) next_cursor: Option<String>,
}

/// Number of validators that agree on the block after this head.
pub(crate) fn validator_count(head: &Head) -> u32 {
    let count = Agreement::of(&head.header).map_or(0, |agreement| agreement.validators.len());
    u32::try_from(count).unwrap_or(u32::MAX)
}
