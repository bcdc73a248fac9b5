//! Cancelling an order that is not wanted any more.

use alloy_primitives::Address;
use domain::portal::{Actor, AuditAction, AuditId, OrderId};
use store::portal::{AuditRow, OrderCancellation};

use super::{Order, OrderError, Orders};

impl Orders {
    /// Cancels an order that awaits its payment, and frees its slot. One that was cancelled before stays as it is. A payment
    /// that comes all the same settles the order as a late one does: nothing that is paid is lost.
    pub async fn cancel(
        &self,
        wallet: Address,
        id: OrderId,
        origin: Option<String>,
    ) -> Result<Order, OrderError> {
        let now = self.now();
        let entry = AuditRow {
            id: AuditId::new(now, rand::random()),
            wallet: Some(wallet),
            actor: Actor::Wallet,
            action: AuditAction::OrderCancelled,
            target: id.to_string(),
            origin,
            at: now,
        };
        match self.db.cancel_order(wallet, id, &entry).await? {
            OrderCancellation::Cancelled(row) => Ok(self.with_request(row, None)),
            OrderCancellation::NotOpen => {
                let order = self.get(wallet, id).await?;
                Err(OrderError::NotOpen(Box::new(order)))
            }
            OrderCancellation::NotFound => Err(OrderError::NotFound),
        }
    }
}
