//! Looking through blocks for the transactions of open claims.

use std::collections::HashMap;

use alloy_primitives::B256;
use chain::{Block, ChainError};
use store::{ClaimRow, Settlement};

use super::{Memory, Round, Sender, Trouble};

/// Blocks that are looked through in one round, so that a long absence does not keep new claims waiting.
const SLICE: u64 = 64;

impl Sender {
    /// Settles the claims that new blocks say something of; answers the last block that was looked at.
    pub(super) async fn follow(&self, memory: &mut Memory, round: &mut Round) -> Result<u64, Trouble> {
        let head = round.head.number();
        let mut awaited = awaited(&round.open);
        let oldest = round.open.iter().filter_map(|claim| Some(claim.payment.as_ref()?.signed_block)).min();
        let mut scanned = match (memory.scanned, oldest) {
            // Nothing is under way, so there is nothing to be found.
            (_, None) => head,
            // The chain went back (`evm_revert`): what comes in place of the lost blocks is new.
            (Some(scanned), Some(_)) => scanned.min(head),
            (None, Some(oldest)) => oldest.min(head),
        };
        let last = head.min(scanned.saturating_add(SLICE));
        while scanned < last {
            let Some(block) = self.shared.chain.block(scanned + 1).await? else { break };
            let settled = self.settlements(&block, &awaited).await?;
            if !settled.is_empty() {
                self.shared.db.settle_claims(&settled, self.now()).await?;
                report(&settled);
                awaited.retain(|hash, _| settled.iter().all(|settlement| settlement.hash != *hash));
                round.open.retain(|claim| settled.iter().all(|settlement| settlement.id != claim.id));
            }
            scanned += 1;
            memory.scanned = Some(scanned);
        }
        memory.scanned = Some(scanned);
        Ok(scanned)
    }

    async fn settlements(
        &self,
        block: &Block,
        awaited: &HashMap<B256, u64>,
    ) -> Result<Vec<Settlement>, ChainError> {
        let found: Vec<(usize, B256, u64)> = block
            .transactions
            .iter()
            .enumerate()
            .filter_map(|(index, tx)| Some((index, *tx.tx_hash(), *awaited.get(tx.tx_hash())?)))
            .collect();
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let receipts = self.shared.chain.receipts(block).await?;
        let settled = found.into_iter().filter_map(|(index, hash, id)| {
            let is_paid = receipts.get(index)?.success;
            Some(Settlement { id, hash, block_number: block.number(), is_paid })
        });
        Ok(settled.collect())
    }
}

/// Open claims by their transactions.
fn awaited(open: &[ClaimRow]) -> HashMap<B256, u64> {
    open.iter().filter_map(|claim| Some((claim.payment.as_ref()?.hash, claim.id))).collect()
}

fn report(settled: &[Settlement]) {
    for settlement in settled {
        let (claim, hash, block) = (settlement.id, settlement.hash, settlement.block_number);
        if settlement.is_paid {
            tracing::debug!(claim, %hash, block, "a claim is paid");
        } else {
            tracing::warn!(claim, %hash, block, "the transaction of a claim was undone; its slot is free again");
        }
    }
}
