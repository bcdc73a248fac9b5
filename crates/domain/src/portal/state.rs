//! States of orders, invoices and webhooks, and what payments are for. The names are stored and shown.

use std::{fmt, str::FromStr};

/// The text is none of the words that can stand here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} `{word}`")]
pub struct UnknownWord {
    what: &'static str,
    word: String,
}

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident, $what:literal { $($(#[$item:meta])* $variant:ident = $word:literal,)+ })+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$item])* $variant,)+
        }

        impl $name {
            /// Every one.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Its word.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        impl FromStr for $name {
            type Err = UnknownWord;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(UnknownWord { what: $what, word: text.to_owned() }),
                }
            }
        }
    )+};
}

words! {
    /// What an order buys.
    OrderKind, "kind of order" {
        /// A developer key for the time of a plan.
        ApiKey = "api_key",
        /// The right to save a webhook URL.
        Webhook = "webhook",
    }

    /// Whether a developer key is good.
    KeyState, "state of a key" {
        /// Yes.
        Active = "active",
        /// Its plan is over.
        Expired = "expired",
        /// Its owner took it back.
        Revoked = "revoked",
    }

    /// Where an order stands.
    OrderState, "state of an order" {
        /// It can be paid. It holds its slot.
        AwaitingPayment = "awaiting_payment",
        /// It is paid, and what it bought can be claimed. It holds its slot.
        Paid = "paid",
        /// It is paid, but was late and its slot is gone: it can be claimed once the wallet has room again.
        PaidWaiting = "paid_waiting",
        /// What it bought exists. The end.
        Claimed = "claimed",
        /// Nobody paid in time. A payment that comes all the same makes it paid.
        Expired = "expired",
        /// The wallet did not want it any more. A payment that comes all the same makes it paid.
        Cancelled = "cancelled",
    }

    /// Where an invoice stands. All but the first are ends.
    InvoiceState, "state of an invoice" {
        /// It can be paid.
        Open = "open",
        /// It is paid.
        Paid = "paid",
        /// Its time is over on the chain, and no quote of it can be paid any more.
        Expired = "expired",
        /// The merchant took it back.
        Void = "void",
    }

    /// What a payment was for.
    PaymentPurpose, "purpose of a payment" {
        /// An invoice.
        Invoice = "invoice",
        /// A plan.
        ApiKey = "api_key",
        /// Saving a webhook URL.
        Webhook = "webhook",
        /// A fee to the portal with a reference that no order has.
        Unmatched = "unmatched",
    }

    /// What is odd about a payment.
    PaymentException, "exception of a payment" {
        /// Nothing.
        None = "none",
        /// Less than the price: it does not settle its order.
        Underpaid = "underpaid",
        /// More than the price. The order is settled.
        Overpaid = "overpaid",
        /// After the order had expired or was cancelled. The order is settled.
        PaidLate = "paid_late",
        /// The order had been paid before.
        Duplicate = "duplicate",
        /// Nobody knows what it was for.
        Unmatched = "unmatched",
    }

    /// Where the delivery of an event stands.
    DeliveryState, "state of a delivery" {
        /// It is tried, or waits to be tried again.
        Pending = "pending",
        /// The receiver took it. The end.
        Delivered = "delivered",
        /// It was tried as often as it is, and the receiver never took it. The end.
        Exhausted = "exhausted",
    }

    /// Whether a webhook is sent to.
    WebhookState, "state of a webhook" {
        /// Yes.
        Active = "active",
        /// No: it said that it is gone, or failed for days. Its events wait.
        Disabled = "disabled",
    }

    /// What the audit log knows of.
    AuditAction, "action" {
        /// A wallet signed in. The target is the session.
        SignedIn = "session.created",
        /// A wallet signed out. The target is the session.
        SignedOut = "session.ended",
        /// A key was claimed. The target is the key.
        KeyCreated = "key.created",
        /// A key was taken back. The target is the key.
        KeyRevoked = "key.revoked",
        /// An order was cancelled before it was paid. The target is the order.
        OrderCancelled = "order.cancelled",
        /// A webhook URL was saved. The target is its host.
        WebhookSaved = "webhook.saved",
        /// A webhook got a new secret. The target is its host.
        WebhookRotated = "webhook.rotated",
        /// A webhook that was disabled is sent to again. The target is its host.
        WebhookEnabled = "webhook.enabled",
        /// A webhook was disabled. The target is its host.
        WebhookDisabled = "webhook.disabled",
        /// An operator had an event sent once more. The target is the delivery that it was sent with before.
        EventRedelivered = "event.redelivered",
        /// An invoice was taken back. The target is the invoice.
        InvoiceVoided = "invoice.voided",
        /// The price of the coin was set. The target is the rate.
        RateSet = "rate.set",
    }
}

impl OrderState {
    /// Whether it takes one of the wallet's slots for keys, if it is for one.
    pub const fn holds_slot(self) -> bool {
        match self {
            Self::AwaitingPayment | Self::Paid => true,
            Self::PaidWaiting | Self::Claimed | Self::Expired | Self::Cancelled => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_back() {
        for state in OrderState::ALL {
            assert_eq!(state.name().parse(), Ok(*state));
        }
        for state in InvoiceState::ALL {
            assert_eq!(state.name().parse(), Ok(*state));
        }
        let error = "paidd".parse::<InvoiceState>().unwrap_err();
        assert_eq!(error.to_string(), "unknown state of an invoice `paidd`");
    }
}
