//! The rules of one chain: which fork is in force when, and the limits that the genesis file may change.

use alloy_primitives::{Address, U256};
use ibft::IbftConfig;
use revm::primitives::hardfork::SpecId;

/// EIP-3860's limit. Besu keeps it when a genesis raises the contract size limit.
pub const INIT_CODE_LIMIT: usize = 49_152;

/// The EVM versions that the chain can be in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fork {
    /// Everything before London: no base fee, no EIP-1559 transactions.
    Berlin,
    /// EIP-1559; 0x44 is DIFFICULTY.
    London,
    /// PUSH0, warm COINBASE, limited init code; 0x44 is PREVRANDAO.
    Shanghai,
    /// TLOAD and TSTORE, MCOPY, BLOBHASH and BLOBBASEFEE; SELFDESTRUCT only sends coin.
    Cancun,
}

impl Fork {
    /// The same fork in the interpreter's terms.
    pub fn spec_id(self) -> SpecId {
        match self {
            Self::Berlin => SpecId::BERLIN,
            Self::London => SpecId::LONDON,
            Self::Shanghai => SpecId::SHANGHAI,
            Self::Cancun => SpecId::CANCUN,
        }
    }
}

/// What execution needs to know about a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainSpec {
    /// EIP-155 chain id.
    pub chain_id: u64,
    /// First block with London's rules.
    pub london_block: u64,
    /// First timestamp with Shanghai's rules.
    pub shanghai_time: Option<u64>,
    /// First timestamp with Cancun's rules.
    pub cancun_time: Option<u64>,
    /// Every block from 1 on has a base fee of zero.
    pub zero_base_fee: bool,
    /// Largest code that a contract may have.
    pub contract_size_limit: usize,
    /// Wei credited to the beneficiary per block.
    pub block_reward: U256,
    /// Receives rewards and fees in place of the proposer, and is what COINBASE reads.
    pub mining_beneficiary: Option<Address>,
    /// The consensus' settings.
    pub ibft: IbftConfig,
}

impl ChainSpec {
    /// The fork in force at this height and time.
    pub fn fork_at(&self, number: u64, timestamp: u64) -> Fork {
        if number < self.london_block {
            Fork::Berlin
        } else if self.cancun_time.is_some_and(|time| timestamp >= time) {
            Fork::Cancun
        } else if self.shanghai_time.is_some_and(|time| timestamp >= time) {
            Fork::Shanghai
        } else {
            Fork::London
        }
    }
}
