//! From a block and its receipts to what the index keeps of them. Pure.

mod event;
mod turn;

use alloy_consensus::{Transaction as _, transaction::TxHashRef};
use alloy_primitives::{Address, U256};
use chain::{Agreement, Block, Receipt, Transaction};
use domain::Wei;
use ibft::votes::VoteKind;
use store::index::{NewBlock, NewTransaction, NewVote};

use crate::{Contracts, trouble::Trouble};

/// What the index keeps of a block. `parent_coinbase` is the proposer of the block before.
pub(crate) fn prepare(
    block: &Block,
    receipts: &[Receipt],
    parent_coinbase: Address,
    contracts: &Contracts,
) -> Result<NewBlock, Trouble> {
    let (number, transactions) = (block.number(), block.transactions.len());
    if receipts.len() != transactions {
        return Err(Trouble::Receipts { number, transactions, receipts: receipts.len() });
    }
    let header = &block.header;
    // A chain of another consensus has blocks and transactions all the same.
    let agreement = Agreement::of(header);
    let agreement = agreement.as_ref();
    let validators = agreement.map(|agreement| agreement.validators.clone()).unwrap_or_default();
    let round = agreement.map_or(0, |agreement| agreement.round);
    let mut sealers = agreement.map(Agreement::committers).unwrap_or_default();
    // Who is not in the set has no say; the set's order is the stored one.
    sealers.retain(|sealer| validators.contains(sealer));
    sealers.sort_unstable();
    sealers.dedup();
    let turns = match number {
        0 => Vec::new(),
        _ => turn::turns(parent_coinbase, header.beneficiary, &validators, round),
    };
    let vote = agreement.and_then(|agreement| agreement.vote);
    Ok(NewBlock {
        number,
        hash: block.hash,
        parent_hash: header.parent_hash,
        timestamp: header.timestamp,
        proposer: header.beneficiary,
        round,
        gas_used: header.gas_used,
        gas_limit: header.gas_limit,
        size: block.encoded_length() as u64,
        validators,
        sealers,
        turns,
        vote: vote.map(|vote| NewVote { recipient: vote.recipient, adds: vote.kind == VoteKind::Add }),
        transactions: block
            .transactions
            .iter()
            .zip(receipts)
            .map(|(transaction, receipt)| prepare_transaction(transaction, receipt, header.base_fee_per_gas))
            .collect(),
        events: event::events(receipts, contracts),
    })
}

fn prepare_transaction(
    transaction: &Transaction,
    receipt: &Receipt,
    base_fee: Option<u64>,
) -> NewTransaction {
    let price = U256::from(transaction.effective_gas_price(base_fee));
    NewTransaction {
        hash: *transaction.tx_hash(),
        from: transaction.signer(),
        to: transaction.to(),
        contract_address: receipt.contract_address,
        value: Wei(transaction.value()),
        success: receipt.success,
        gas_used: receipt.gas_used,
        fee: Wei(price.saturating_mul(U256::from(receipt.gas_used))),
        selector: transaction.to().and_then(|_| transaction.input().first_chunk().copied()),
        nonce: transaction.nonce(),
    }
}
