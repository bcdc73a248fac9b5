//! What a transaction must satisfy before the pool looks at it, independent of what else is in the pool.

use alloy_consensus::{Transaction as _, Typed2718};
use alloy_primitives::U256;

use super::{PoolError, PoolLimits, limits::FUNDED_GAS_PRICE};
use crate::{
    block::Transaction,
    exec::{Fork, INIT_CODE_LIMIT, RejectReason, intrinsic_gas},
};

/// The sender's account at the head of the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SenderState {
    /// Next nonce.
    pub nonce: u64,
    /// Balance in wei.
    pub balance: U256,
    /// The account is a contract.
    pub has_code: bool,
}

/// The chain's rules for the next block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolRules {
    /// EIP-155 chain id.
    pub chain_id: u64,
    /// Height of the next block.
    pub number: u64,
    /// Gas limit of the next block.
    pub block_gas_limit: u64,
    /// Fork of the next block.
    pub fork: Fork,
    /// Base fee of the next block. Transactions below it are kept until it falls.
    pub base_fee: u64,
    /// Take legacy transactions that any chain would accept.
    pub allow_unprotected: bool,
}

impl PoolRules {
    pub(super) fn check(
        &self,
        tx: &Transaction,
        sender: &SenderState,
        limits: &PoolLimits,
    ) -> Result<(), PoolError> {
        self.check_form(tx)?;
        if let Some(limit) = limits.max_gas_price.filter(|limit| tx.max_fee_per_gas() > *limit) {
            return Err(PoolError::FeeCapExceeded { limit });
        }
        self.check_gas(tx)?;
        let (gas_limit, cap) = (tx.gas_limit(), limits.max_transaction_gas);
        if gas_limit > cap {
            return Err(PoolError::GasAboveCap { gas_limit, cap });
        }
        let minimum = limits.min_gas_price;
        if tx.effective_gas_price(Some(self.base_fee)) < minimum {
            return Err(PoolError::PriceBelowMinimum { minimum });
        }
        check_sender(tx, sender)?;
        Ok(())
    }

    fn check_form(&self, tx: &Transaction) -> Result<(), RejectReason> {
        let supported = match tx.ty() {
            0 | 1 => true,
            2 => self.fork >= Fork::London,
            _ => false,
        };
        if !supported {
            return Err(RejectReason::UnsupportedType);
        }
        match tx.chain_id() {
            Some(id) if id != self.chain_id => return Err(RejectReason::WrongChainId),
            None if !self.allow_unprotected => return Err(RejectReason::MissingChainId),
            Some(_) | None => {}
        }
        if tx.max_priority_fee_per_gas().is_some_and(|tip| tip > tx.max_fee_per_gas()) {
            return Err(RejectReason::PriorityAboveMaxFee);
        }
        if tx.nonce() == u64::MAX {
            return Err(RejectReason::NonceOverflow);
        }
        Ok(())
    }

    fn check_gas(&self, tx: &Transaction) -> Result<(), RejectReason> {
        if self.fork >= Fork::Shanghai && tx.to().is_none() && tx.input().len() > INIT_CODE_LIMIT {
            return Err(RejectReason::InitCodeTooLarge);
        }
        let (required, gas_limit) = (intrinsic_gas(tx, self.fork), tx.gas_limit());
        if required > gas_limit {
            return Err(RejectReason::IntrinsicGas { required, gas_limit });
        }
        if gas_limit > self.block_gas_limit {
            return Err(RejectReason::GasLimitExceedsBlock { gas_limit, available: self.block_gas_limit });
        }
        Ok(())
    }
}

/// Whether the sender could pay for the transaction if gas had a price, which it need not have.
pub(super) fn is_funded(tx: &Transaction, sender: &SenderState) -> bool {
    let price = tx.max_fee_per_gas().max(FUNDED_GAS_PRICE);
    cost_at(tx, price).is_some_and(|cost| cost <= sender.balance)
}

fn cost_at(tx: &Transaction, price: u128) -> Option<U256> {
    U256::from(tx.gas_limit()).checked_mul(U256::from(price))?.checked_add(tx.value())
}

/// In Besu's order: funds, nonce, code.
fn check_sender(tx: &Transaction, sender: &SenderState) -> Result<(), RejectReason> {
    let cost = cost_at(tx, tx.max_fee_per_gas()).ok_or(RejectReason::CostOverflow)?;
    if cost > sender.balance {
        return Err(RejectReason::InsufficientFunds { cost, balance: sender.balance });
    }
    if tx.nonce() < sender.nonce {
        return Err(RejectReason::NonceTooLow { tx: tx.nonce(), state: sender.nonce });
    }
    if sender.has_code {
        return Err(RejectReason::SenderHasCode);
    }
    Ok(())
}
