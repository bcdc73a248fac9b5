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
    /// empty withdrawals root, under Cancun also the fields of blobs, which no later IBFT 2.0 header of Besu 24.x does.
    pub fn header(&self, state_root: B256) -> Header {
        let blob = (self.config.fork >= Fork::Cancun).then_some(self.blob);
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
            withdrawals_root: (self.config.fork >= Fork::Shanghai).then_some(EMPTY_WITHDRAWALS),
            blob_gas_used: blob.map(|blob| blob.gas_used),
            excess_blob_gas: blob.map(|blob| blob.excess_gas),
            parent_beacon_block_root: blob.map(|blob| blob.parent_beacon_block_root),
            ..Header::default()
        }
    }
}
