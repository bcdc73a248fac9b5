//! Transactions and rules that the pool's tests share.

mod admission;
mod order;
mod random;

use std::sync::Arc;

use alloy_consensus::{Signed, TxEip1559, TxEnvelope, TxLegacy};
use alloy_primitives::{Address, Signature, U256, keccak256};

use super::{Added, Pool, PoolError, PoolLimits, PoolRules, SenderState};
use crate::{block::Transaction, exec::Fork};

pub(super) const ALICE: Address = Address::repeat_byte(0xa1);
pub(super) const BOB: Address = Address::repeat_byte(0xb0);
pub(super) const CAROL: Address = Address::repeat_byte(0xca);

pub(super) fn rules() -> PoolRules {
    PoolRules {
        chain_id: 1337,
        number: 1,
        block_gas_limit: 30_000_000,
        fork: Fork::London,
        base_fee: 0,
        allow_unprotected: false,
    }
}

pub(super) fn limits() -> PoolLimits {
    PoolLimits { price_bump_percent: 0, ..PoolLimits::default() }
}

pub(super) fn pool() -> Pool {
    Pool::new(limits())
}

pub(super) fn account(nonce: u64) -> SenderState {
    SenderState { nonce, balance: U256::from(1_000_000_000_000_000_000_u64), has_code: false }
}

pub(super) fn plain(nonce: u64, gas_price: u128) -> TxLegacy {
    TxLegacy {
        chain_id: Some(1337),
        nonce,
        gas_price,
        gas_limit: 21_000,
        to: CAROL.into(),
        ..TxLegacy::default()
    }
}

pub(super) fn legacy(from: Address, tx: TxLegacy) -> Arc<Transaction> {
    let hash = keccak256([from.as_slice(), &alloy_rlp::encode(&tx)].concat());
    let signed = Signed::new_unchecked(tx, Signature::test_signature(), hash);
    Arc::new(Transaction::new_unchecked(TxEnvelope::Legacy(signed), from))
}

pub(super) fn dynamic(from: Address, nonce: u64, max_fee: u128, tip: u128) -> Arc<Transaction> {
    let tx = TxEip1559 {
        chain_id: 1337,
        nonce,
        gas_limit: 21_000,
        max_fee_per_gas: max_fee,
        max_priority_fee_per_gas: tip,
        to: CAROL.into(),
        ..TxEip1559::default()
    };
    let hash = keccak256([from.as_slice(), &alloy_rlp::encode(&tx)].concat());
    let signed = Signed::new_unchecked(tx, Signature::test_signature(), hash);
    Arc::new(Transaction::new_unchecked(TxEnvelope::Eip1559(signed), from))
}

/// A transaction with a legacy price.
pub(super) fn priced(from: Address, nonce: u64, gas_price: u128) -> Arc<Transaction> {
    legacy(from, plain(nonce, gas_price))
}

/// Adds a transaction of an account with nonce 0.
pub(super) fn add(pool: &Pool, tx: &Arc<Transaction>) -> Result<Added, PoolError> {
    pool.add(tx.clone(), account(0), &rules())
}
