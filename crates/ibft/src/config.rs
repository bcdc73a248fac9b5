//! The consensus settings of a chain, from the `config.ibft2` section of its genesis.

/// How the base fee of blocks from 1 on is determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaseFee {
    /// `zeroBaseFee: true`: always zero.
    Zero,
    /// The ordinary EIP-1559 rule.
    Eip1559,
}

/// The settings. Defaults are Besu's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IbftConfig {
    /// Least seconds between the timestamps of parent and child (`blockperiodseconds`).
    pub block_period_secs: u64,
    /// Votes are forgotten and validators restated in each block whose number is a multiple (`epochlength`).
    pub epoch_length: u64,
    /// Length of round 0; should be at least twice the block period (`requesttimeoutseconds`).
    pub request_timeout_secs: u64,
    /// How many blocks ahead of the next one messages are kept (`futuremessagesmaxdistance`).
    pub future_messages_max_distance: u64,
    /// How many messages for blocks ahead are kept (`futuremessageslimit`).
    pub future_messages_limit: usize,
    /// The base-fee rule.
    pub base_fee: BaseFee,
}

impl Default for IbftConfig {
    fn default() -> Self {
        Self {
            block_period_secs: 1,
            epoch_length: 30_000,
            request_timeout_secs: 1,
            future_messages_max_distance: 10,
            future_messages_limit: 1000,
            base_fee: BaseFee::Eip1559,
        }
    }
}

impl IbftConfig {
    /// Whether the validators are restated and the votes forgotten in this block.
    pub const fn is_epoch_block(&self, number: u64) -> bool {
        number.is_multiple_of(self.epoch_length)
    }
}
