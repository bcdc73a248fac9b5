//! What gas costs at least, and how much of it one transaction may ask for.

use crate::Network;

/// A billion wei.
pub const GWEI: u64 = 1_000_000_000;

/// Most gas of one transaction, unless the operator says otherwise: EIP-7825's cap of 2^24, which tools keep to since Ethereum has
/// it. The largest contract there is (24,576 bytes) takes 7 million to create, and the slowest work that gas can buy ends within
/// half a second.
pub const DEFAULT_TRANSACTION_GAS_CAP: u64 = 16_777_216;

impl Network {
    /// Least price of gas, in wei, unless the operator says otherwise. Where everybody is let in, work costs something.
    pub const fn default_min_gas_price(self) -> u64 {
        match self {
            Self::Devnet => 0,
            Self::Testnet | Self::Mainnet => GWEI,
        }
    }
}
