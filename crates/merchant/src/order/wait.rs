//! Waiting for a payment that is on its way.

use alloy_primitives::B256;
use chain::FoundTransaction;
use domain::portal::OrderState;
use store::portal::OrderRow;
use tokio::time::{Instant, timeout_at};

use super::{OrderError, Orders, PaymentHint};

/// What the chain says of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// In this block, and good.
    Mined(u64),
    /// It waits for a block, or the chain does not answer: it may come.
    Pending,
    /// It was undone.
    Failed,
    /// No node has it.
    Nowhere,
}

impl Orders {
    /// The order once it is paid; or as it is when there is nothing to wait for, or the time is over.
    pub(super) async fn wait_until_paid(
        &self,
        order: OrderRow,
        transaction: Option<B256>,
    ) -> Result<(OrderRow, PaymentHint), OrderError> {
        let mut progress = self.progress.subscribe();
        let deadline = Instant::now() + self.settings.claim_wait;
        loop {
            // Before the order is read: what is credited by then would show.
            let credited = progress.borrow_and_update().block;
            let order = self.find(order.wallet, order.id).await?;
            if is_settled(order.state) {
                return Ok((order, PaymentHint::None));
            }
            let hint = match transaction {
                None => PaymentHint::None,
                Some(hash) => match self.look_up(hash).await {
                    Seen::Failed => return Ok((order, PaymentHint::Failed)),
                    Seen::Nowhere => return Ok((order, PaymentHint::Unknown)),
                    Seen::Mined(block) if credited >= Some(block) => return Ok((order, PaymentHint::Other)),
                    Seen::Mined(_) | Seen::Pending => PaymentHint::Pending,
                },
            };
            match timeout_at(deadline, progress.changed()).await {
                Ok(Ok(())) => {}
                // Time is over, or there is nobody to wait for.
                Ok(Err(_)) | Err(_) => return Ok((order, hint)),
            }
        }
    }

    async fn look_up(&self, hash: B256) -> Seen {
        match self.chain.transaction(hash).await {
            Ok(None) => Seen::Nowhere,
            Ok(Some(FoundTransaction::Pending(_))) => Seen::Pending,
            Ok(Some(FoundTransaction::Mined { block, index })) => match self.chain.receipts(&block).await {
                Ok(receipts) => match receipts.get(index) {
                    Some(receipt) if !receipt.success => Seen::Failed,
                    Some(_) | None => Seen::Mined(block.header.number),
                },
                Err(_) => Seen::Pending,
            },
            Err(error) => {
                tracing::debug!(%error, "the transaction of a claim cannot be looked up");
                Seen::Pending
            }
        }
    }
}

/// Whether waiting is over.
fn is_settled(state: OrderState) -> bool {
    match state {
        OrderState::AwaitingPayment | OrderState::Expired | OrderState::Cancelled => false,
        OrderState::Paid | OrderState::PaidWaiting | OrderState::Claimed => true,
    }
}
