//! What follows from payments. Pure: what is there comes in, what is to be written goes out.

use std::collections::HashSet;

use alloy_primitives::Address;
use domain::{
    Wei,
    portal::{
        DeliveryId, EventId, EventType, InvoiceId, InvoiceState, MOST_ACTIVE_KEYS, OrderKind, OrderState,
        PaymentException, PaymentId, PaymentPurpose,
    },
};
use store::portal::{
    ChainPayment, Credits, EventRow, Ledger, NewDelivery, OrderRow, PaidInvoice, PaidOrder, PaymentRow,
    PaymentTarget, QuotedInvoice,
};

use crate::event::{self, Subject};

/// Decides what follows from payments, in the chain's order.
pub(super) fn decide(payments: &[ChainPayment], ledger: Ledger) -> Credits {
    let mut desk = Desk { ledger, credits: Credits::default(), settled: HashSet::new() };
    for payment in payments {
        if desk.ledger.known.insert((payment.tx_hash, payment.log_index)) {
            desk.take(payment);
        }
    }
    let Desk { ledger, mut credits, .. } = desk;
    credits.wallets = ledger.wallets;
    credits
}

struct Desk {
    ledger: Ledger,
    credits: Credits,
    /// Invoices that were settled here: another quote of one may be paid, too.
    settled: HashSet<InvoiceId>,
}

impl Desk {
    fn take(&mut self, payment: &ChainPayment) {
        match payment.target {
            // A quote that is not ours: anybody may use the contract.
            PaymentTarget::Quote(id) => {
                if let Some(quoted) = self.ledger.quotes.get(&id).cloned() {
                    self.take_for_invoice(payment, &quoted);
                }
            }
            PaymentTarget::Fee(reference) => match self.ledger.orders.get(&reference).cloned() {
                Some(order) => self.take_for_order(payment, order),
                None => {
                    let (purpose, exception) = (PaymentPurpose::Unmatched, PaymentException::Unmatched);
                    self.credits.payments.push(row(payment, payment.payer, purpose, exception));
                }
            },
        }
    }

    fn take_for_invoice(&mut self, payment: &ChainPayment, quoted: &QuotedInvoice) {
        let exception = match quoted.state {
            _ if self.settled.contains(&quoted.invoice_id) => PaymentException::Duplicate,
            InvoiceState::Open => PaymentException::None,
            InvoiceState::Paid => PaymentException::Duplicate,
            // Cannot be while quotes end before their invoices; the money has moved all the same.
            InvoiceState::Expired | InvoiceState::Void => PaymentException::PaidLate,
        };
        let PaymentTarget::Quote(quote_id) = payment.target else { return };
        let row = PaymentRow {
            invoice_id: Some(quoted.invoice_id),
            quote_id: Some(quote_id),
            ..row(payment, quoted.wallet, PaymentPurpose::Invoice, exception)
        };
        let is_settled = exception == PaymentException::None;
        if is_settled {
            self.settle(payment, quoted);
        }
        if is_completed(exception) {
            self.tell(EventType::PaymentCompleted, &row, Subject::Invoice { quoted, is_settled });
        }
        if is_settled {
            self.tell(EventType::InvoicePaid, &row, Subject::Invoice { quoted, is_settled });
        }
        self.credits.payments.push(row);
    }

    fn settle(&mut self, payment: &ChainPayment, quoted: &QuotedInvoice) {
        self.settled.insert(quoted.invoice_id);
        self.credits.invoices.push(PaidInvoice {
            id: quoted.invoice_id,
            wallet: quoted.wallet,
            paid_at: payment.block_time,
            amount_idr: quoted.amount_idr,
            amount: payment.amount,
        });
        if let Some(wallet) = self.ledger.wallets.get_mut(&quoted.wallet) {
            wallet.open_count = wallet.open_count.saturating_sub(1);
            wallet.paid_count += 1;
            wallet.revenue_idr = wallet.revenue_idr.saturating_add(quoted.amount_idr);
            wallet.revenue = Wei(wallet.revenue.0.saturating_add(payment.amount.0));
        }
    }

    fn take_for_order(&mut self, payment: &ChainPayment, mut order: OrderRow) {
        let is_open = match order.state {
            OrderState::AwaitingPayment | OrderState::Expired | OrderState::Cancelled => true,
            OrderState::Paid | OrderState::PaidWaiting | OrderState::Claimed => false,
        };
        let exception = if !is_open {
            PaymentException::Duplicate
        } else if payment.amount < order.amount {
            PaymentException::Underpaid
        } else if payment.block_time > order.expires_at || order.state == OrderState::Cancelled {
            PaymentException::PaidLate
        } else if payment.amount > order.amount {
            PaymentException::Overpaid
        } else {
            PaymentException::None
        };
        let purpose = match order.purchase.kind() {
            OrderKind::ApiKey => PaymentPurpose::ApiKey,
            OrderKind::Webhook => PaymentPurpose::Webhook,
        };
        let row = PaymentRow { order_id: Some(order.id), ..row(payment, order.wallet, purpose, exception) };
        if is_completed(exception) {
            order.state = self.state_when_paid(&order);
            order.paid_at = Some(payment.block_time);
            self.credits.orders.push(PaidOrder { id: order.id, state: order.state });
            self.tell(EventType::PaymentCompleted, &row, Subject::Order(&order));
            self.ledger.orders.insert(order.reference, order);
        }
        self.credits.payments.push(row);
    }

    /// An order that has given up its slot needs another one.
    fn state_when_paid(&mut self, order: &OrderRow) -> OrderState {
        match (order.purchase.kind(), order.state) {
            (OrderKind::ApiKey, OrderState::Expired | OrderState::Cancelled) => {
                let slots = self.ledger.slots.entry(order.wallet).or_default();
                if *slots >= MOST_ACTIVE_KEYS {
                    return OrderState::PaidWaiting;
                }
                *slots += 1;
                OrderState::Paid
            }
            (OrderKind::ApiKey | OrderKind::Webhook, _) => OrderState::Paid,
        }
    }

    fn tell(&mut self, kind: EventType, payment: &PaymentRow, subject: Subject<'_>) {
        let Some(wallet) = self.ledger.wallets.get_mut(&payment.wallet) else { return };
        wallet.sequence += 1;
        let number = match kind {
            EventType::PaymentCompleted => 0,
            EventType::InvoicePaid | EventType::WebhookTest => 1,
        };
        let place = place(payment, number);
        let id = EventId::new(payment.block_time, place);
        let body = event::body(id, kind, wallet.sequence, payment, subject);
        self.credits.events.push(EventRow {
            id,
            wallet: payment.wallet,
            sequence: wallet.sequence,
            kind,
            body,
            created_at: payment.block_time,
        });
        if self.ledger.webhooks.contains(&payment.wallet) {
            self.credits.deliveries.push(NewDelivery {
                id: DeliveryId::new(payment.block_time, place),
                event_id: id,
                wallet: payment.wallet,
                sequence: wallet.sequence,
            });
        }
    }
}

/// Whether a payment has done what it was for.
fn is_completed(exception: PaymentException) -> bool {
    match exception {
        PaymentException::None | PaymentException::Overpaid | PaymentException::PaidLate => true,
        PaymentException::Underpaid | PaymentException::Duplicate | PaymentException::Unmatched => false,
    }
}

fn row(
    payment: &ChainPayment,
    wallet: Address,
    purpose: PaymentPurpose,
    exception: PaymentException,
) -> PaymentRow {
    let mut row = PaymentRow {
        id: PaymentId::from_bytes([0; 16]),
        tx_hash: payment.tx_hash,
        log_index: payment.log_index,
        wallet,
        purpose,
        exception,
        invoice_id: None,
        order_id: None,
        quote_id: None,
        payer: payment.payer,
        amount: payment.amount,
        block_number: payment.block_number,
        block_time: payment.block_time,
    };
    row.id = PaymentId::new(payment.block_time, place(&row, 0));
    row
}

/// In place of a random number in an id: what is made of the same payment has the same id, whoever makes it and however
/// often, and ids follow the order of the chain. The index in the block comes first, then which of several, then the hash.
fn place(payment: &PaymentRow, which: u8) -> u128 {
    let (start, _) = payment.tx_hash.split_first_chunk::<8>().unwrap_or((&[0; 8], &[]));
    let index = u128::from(payment.log_index) << 108;
    index | (u128::from(which) << 107) | (u128::from(u64::from_be_bytes(*start)) << 43)
}

#[cfg(test)]
mod tests;
