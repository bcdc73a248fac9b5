//! The header of block 0.

use alloy_consensus::Header;
use alloy_consensus::constants::EMPTY_WITHDRAWALS;
use alloy_primitives::B256;
use alloy_trie::root::state_root_ref_unhashed;

use super::config::{Fork, Genesis};

/// Base fee of block 0 when the file names none: Besu takes 1 gwei, also with `zeroBaseFee`.
pub const DEFAULT_BASE_FEE: u64 = 1_000_000_000;

impl Genesis {
    /// Root of the state that `alloc` describes.
    pub fn state_root(&self) -> B256 {
        state_root_ref_unhashed(&self.alloc)
    }

    /// The header of block 0 over a state with this root.
    ///
    /// Its hash is `hash_slow`: block 0 alone is hashed with its extraData as it is. Under Shanghai it carries an
    /// empty withdrawals root, which no later IBFT 2.0 header does.
    pub fn header(&self, state_root: B256) -> Header {
        Header {
            beneficiary: self.coinbase,
            state_root,
            difficulty: self.difficulty,
            gas_limit: self.gas_limit,
            timestamp: self.timestamp,
            extra_data: self.extra_data.clone(),
            mix_hash: self.mix_hash,
            nonce: self.nonce,
            base_fee_per_gas: Some(self.base_fee_per_gas.unwrap_or(DEFAULT_BASE_FEE)),
            withdrawals_root: match self.config.fork {
                Fork::London => None,
                Fork::Shanghai => Some(EMPTY_WITHDRAWALS),
            },
            ..Header::default()
        }
    }
}
