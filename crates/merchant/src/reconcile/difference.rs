//! What a comparison of chain and database finds.

use alloy_primitives::{B256, U256};

/// Differences that are told one by one; all are counted.
const MOST_TOLD: usize = 100;

/// What a comparison has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reconciliation {
    /// The last block that was compared.
    pub up_to: u64,
    /// Payments on the chain that are ours.
    pub payments: u64,
    /// Quotes that the contract was asked about.
    pub quotes: usize,
    /// Fees of the portal as they are recorded.
    pub fees: FeeTotals,
    /// How many differences there are.
    pub difference_count: u64,
    /// The first of them.
    pub differences: Vec<Difference>,
}

impl Reconciliation {
    pub(super) fn note(&mut self, difference: Difference) {
        self.difference_count += 1;
        if self.differences.len() < MOST_TOLD {
            self.differences.push(difference);
        }
    }
}

/// Fees summed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeeTotals {
    /// How many.
    pub payments: u64,
    /// How much, in wei.
    pub paid: U256,
}

/// Something that is not the same on the chain and in the database. Payments are named by transaction and log index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Difference {
    /// The chain has a payment that is not recorded.
    #[error("payment {} log {} is not recorded", .0.0, .0.1)]
    NotRecorded((B256, u32)),
    /// A payment is recorded with another amount or payer.
    #[error("payment {} log {} is recorded otherwise", .0.0, .0.1)]
    RecordedOtherwise((B256, u32)),
    /// A payment is recorded that the chain does not have.
    #[error("payment {} log {} is not on the chain", .0.0, .0.1)]
    NotOnChain((B256, u32)),
    /// An invoice is paid by a quote that the contract calls unpaid.
    #[error("quote {0} is paid here and not on the chain")]
    PaidHereOnly(B256),
    /// A quote of an invoice that is not paid is paid on the chain.
    #[error("quote {0} is paid on the chain and not here")]
    PaidThereOnly(B256),
    /// The sums of fees are not the same.
    #[error(
        "the chain has {} fees of {} wei, recorded are {} of {} wei",
        .on_chain.payments, .on_chain.paid, .recorded.payments, .recorded.paid
    )]
    Totals {
        /// As the contract counts.
        on_chain: FeeTotals,
        /// As they are recorded.
        recorded: FeeTotals,
    },
}
