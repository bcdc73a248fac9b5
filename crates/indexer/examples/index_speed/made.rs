//! A long chain, made fast: its blocks are sealed by five validators, but nothing is executed and nothing is signed
//! by senders. The index reads it as it would read any other.

use std::{path::Path, sync::Arc};

use alloy_consensus::{Header, Signed, TxEip1559, TxEnvelope, constants::EMPTY_OMMER_ROOT_HASH};
use alloy_primitives::{Address, B256, Signature, TxKind, U256, keccak256};
use chain::{Block, Receipt, Transaction};
use devchain::{
    chain::Chain,
    genesis::{Genesis, GenesisSpec, GenesisValidator},
    store::BlockCommit,
};
use domain::devnet::{self, DevRole};
use ibft::{
    extra_data::ExtraData,
    hash::{block_hash, seal_hash},
    proposer::proposer,
    quorum::quorum,
    rules::{DIFFICULTY, MIX_HASH},
    seal::{InvalidKey, Secp256k1Key, ValidatorKey},
};

use crate::Outcome;

/// Accounts among which coin moves.
const ACCOUNTS: u64 = 5_000;

fn keys() -> Result<Vec<Secp256k1Key>, InvalidKey> {
    let keys =
        (0..devnet::VALIDATORS).map(|index| Secp256k1Key::new(devnet::role_key(DevRole::Validator(index))));
    let mut keys: Vec<_> = keys.collect::<Result<_, _>>()?;
    keys.sort_by_key(ValidatorKey::address);
    Ok(keys)
}

pub(crate) fn genesis() -> Outcome<Genesis> {
    let validators = keys()?.into_iter().map(|key| GenesisValidator {
        operator: key.address(),
        consensus: key.address(),
        moniker: "Validator".to_owned(),
        website: String::new(),
        commission_bps: 0,
    });
    let spec = GenesisSpec {
        timestamp: 1_767_225_600,
        validators: validators.collect(),
        treasury_owners: devnet::ACCOUNTS.iter().take(5).map(|account| account.address).collect(),
        admin: devnet::ACCOUNTS[0].address,
        slasher: devnet::ACCOUNTS[1].address,
        ..GenesisSpec::default()
    };
    Ok(spec.build()?)
}

/// Writes a chain of so many blocks of so many transfers into a folder.
pub(crate) fn make(dir: &Path, blocks: u64, transactions: u64) -> Outcome<()> {
    let chain = Chain::open(dir, &genesis()?)?;
    let keys = keys()?;
    let mut parent = Arc::clone(&chain.head().block);
    for _ in 0..blocks {
        let block = next_block(&parent, &keys, transactions)?;
        let receipts: Vec<_> = (1..=transactions).map(receipt).collect();
        let (nodes, replaced, code) = (&[], &[], &Default::default());
        chain.store().commit(&BlockCommit { block: &block, receipts: &receipts, nodes, replaced, code })?;
        parent = Arc::new(block);
    }
    Ok(())
}

fn next_block(parent: &Block, keys: &[Secp256k1Key], transactions: u64) -> Outcome<Block> {
    let validators: Vec<_> = keys.iter().map(ValidatorKey::address).collect();
    let number = parent.number() + 1;
    let coinbase = proposer(parent.header.beneficiary, &validators, 0).unwrap_or_default();
    let mut extra = ExtraData { vanity: B256::ZERO, validators, vote: None, round: 0, seals: Vec::new() };
    let mut header = Header {
        parent_hash: parent.hash,
        ommers_hash: EMPTY_OMMER_ROOT_HASH,
        beneficiary: coinbase,
        state_root: parent.header.state_root,
        difficulty: DIFFICULTY,
        number,
        gas_limit: parent.header.gas_limit,
        gas_used: transactions * 21_000,
        timestamp: parent.header.timestamp + 2,
        mix_hash: MIX_HASH,
        base_fee_per_gas: Some(0),
        extra_data: extra.encode(),
        ..Header::default()
    };
    let digest = seal_hash(&header)?;
    extra.seals = keys.iter().take(quorum(keys.len())).map(|key| key.sign(digest)).collect();
    header.extra_data = extra.encode();
    let hash = block_hash(&header)?;
    let transactions = (0..transactions).map(|index| Arc::new(transfer(number, index))).collect();
    Ok(Block { header, hash, transactions: Arc::new(transactions) })
}

/// A transfer between two accounts of the many, the same two on every run.
fn transfer(block: u64, index: u64) -> Transaction {
    let chance = U256::from_be_bytes(keccak256([block.to_be_bytes(), index.to_be_bytes()].concat()).0);
    let account = |drawn: U256| {
        let number = drawn % U256::from(ACCOUNTS);
        Address::from_word(keccak256(number.to_be_bytes::<32>()))
    };
    let transaction = TxEip1559 {
        chain_id: 8845,
        nonce: block,
        gas_limit: 21_000,
        to: TxKind::Call(account(chance)),
        value: U256::from(1_000_000_000_000_000_000u64),
        ..TxEip1559::default()
    };
    let signature = Signature::new(chance, U256::from(1), false);
    let envelope = TxEnvelope::Eip1559(Signed::new_unhashed(transaction, signature));
    Transaction::new_unchecked(envelope, account(chance >> 64))
}

fn receipt(position: u64) -> Receipt {
    Receipt {
        tx_type: 2,
        success: true,
        cumulative_gas_used: 21_000 * position,
        gas_used: 21_000,
        logs: Vec::new(),
        contract_address: None,
        revert_reason: None,
    }
}
