//! From raw bytes to a pooled transaction.

use std::sync::Arc;

use alloy_consensus::{Header, TxEnvelope, constants::KECCAK_EMPTY, transaction::SignerRecoverable};
use alloy_eips::Decodable2718;
use alloy_primitives::{B256, U256};
use ibft::rules::next_base_fee;

use super::{Chain, ChainEvent, SubmitError};
use crate::pool::{PoolRules, SenderState};

impl Chain {
    /// Checks a signed transaction and puts it into the pool; answers its hash.
    pub fn submit(&self, raw: &[u8]) -> Result<B256, SubmitError> {
        let envelope = TxEnvelope::decode_2718_exact(raw).map_err(|_| SubmitError::Undecodable)?;
        let transaction = envelope.try_into_recovered().map_err(|_| SubmitError::InvalidSignature)?;
        let head = self.head();
        let account = head.state.account(transaction.signer())?;
        let sender = account.map_or_else(no_account, |account| SenderState {
            nonce: account.nonce,
            balance: account.balance,
            has_code: account.code_hash != KECCAK_EMPTY,
        });
        let hash = *transaction.tx_hash();
        let transaction = Arc::new(transaction);
        self.pool.add(transaction.clone(), sender, &self.pool_rules(&head.block.header))?;
        if self.events.receiver_count() > 0 {
            self.publish(ChainEvent::Pending(transaction));
        }
        Ok(hash)
    }

    /// What the block after `parent` will accept.
    fn pool_rules(&self, parent: &Header) -> PoolRules {
        PoolRules {
            chain_id: self.spec.chain_id,
            number: parent.number + 1,
            block_gas_limit: parent.gas_limit,
            fork: self.spec.fork_at(parent.number + 1, parent.timestamp + self.spec.ibft.block_period_secs),
            base_fee: next_base_fee(parent, &self.spec.ibft).unwrap_or_default(),
            allow_unprotected: false,
        }
    }
}

fn no_account() -> SenderState {
    SenderState { nonce: 0, balance: U256::ZERO, has_code: false }
}
