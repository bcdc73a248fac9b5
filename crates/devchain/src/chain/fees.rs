//! What a transaction should offer, drawn from recent blocks as Besu does.

use alloy_consensus::Transaction as _;
use alloy_primitives::B256;
use parking_lot::Mutex;

use super::Chain;
use crate::store::StoreError;

/// Blocks that suggestions are drawn from, as in Besu.
const SUGGESTION_BLOCKS: u64 = 100;
/// Besu never suggests more than this for a legacy transaction.
const MAX_SUGGESTED_WEI: u128 = 500_000_000_000;

/// What a transaction should offer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FeeSuggestion {
    /// Price of a legacy transaction.
    pub(crate) gas_price: u128,
    /// Tip of a dynamic-fee transaction.
    pub(crate) priority_fee: u128,
}

/// The suggestion at the newest head; it changes once a block.
#[derive(Default)]
pub(crate) struct FeeSuggestions(Mutex<Option<(B256, FeeSuggestion)>>);

impl FeeSuggestions {
    /// The suggestion, if it was found since the last block.
    pub(crate) fn known(&self, chain: &Chain) -> Option<FeeSuggestion> {
        let head = chain.head().block.hash;
        self.0.lock().filter(|(hash, _)| *hash == head).map(|(_, known)| known)
    }

    /// The suggestion, read from many blocks unless it is known.
    pub(crate) fn find(&self, chain: &Chain) -> Result<FeeSuggestion, StoreError> {
        if let Some(known) = self.known(chain) {
            return Ok(known);
        }
        let head = chain.head();
        let number = head.block.number();
        let (mut prices, mut tips) = (Vec::new(), Vec::new());
        for number in number.saturating_sub(SUGGESTION_BLOCKS - 1)..=number {
            let Some(block) = chain.store().block(number)? else {
                continue;
            };
            for transaction in block.transactions.iter() {
                match transaction.gas_price() {
                    Some(price) => prices.push(price),
                    None => tips.extend(transaction.max_priority_fee_per_gas()),
                }
            }
        }
        let base_fee = chain.pending_header().base_fee_per_gas.unwrap_or(0).into();
        let price = median(prices).map_or(base_fee, |price| price.min(MAX_SUGGESTED_WEI).max(base_fee));
        let found = FeeSuggestion {
            gas_price: price.max(chain.min_gas_price()),
            priority_fee: median(tips).unwrap_or(0).max(chain.min_tip(base_fee)),
        };
        *self.0.lock() = Some((head.block.hash, found));
        Ok(found)
    }
}

impl Chain {
    /// Least price of gas that the pool takes, in wei.
    pub(crate) fn min_gas_price(&self) -> u128 {
        self.pool.limits().min_gas_price
    }

    /// Least tip that the pool takes at this base fee, in wei.
    pub(crate) fn min_tip(&self, base_fee: u128) -> u128 {
        self.min_gas_price().saturating_sub(base_fee)
    }
}

fn median(mut values: Vec<u128>) -> Option<u128> {
    let middle = values.len() / 2;
    if values.is_empty() {
        return None;
    }
    Some(*values.select_nth_unstable(middle).1)
}
