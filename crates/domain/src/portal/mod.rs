//! The words of the developer and merchant portal: ids, plans, scopes, states, rates, events.

mod audit;
mod event;
mod id;
mod invoice;
mod key_id;
mod plan;
mod rate;
mod scope;
mod state;

pub use audit::{Actor, UnknownActor, origin_of};
pub use event::{EventType, UnknownEventType};
pub use id::{AuditId, ChallengeId, DeliveryId, EventId, IdError, InvoiceId, OrderId, PaymentId, SessionId};
pub use invoice::{
    AmountIdr, AmountIdrError, CustomerLabel, DEFAULT_INVOICE_MINUTES, ExternalId, INVOICE_MINUTES,
    InvoiceLifetime, InvoiceNote, InvoiceToken, LifetimeError, TextError, TokenError,
};
pub use key_id::{DeveloperKeyId, NotADeveloperKeyId};
pub use plan::{FeeSplit, Plan, UnknownPlan, WEBHOOK_FEE_COIN};
pub use rate::{AMOUNT_IDR, Rate, RateError};
pub use scope::{Scope, Scopes, UnknownScope};
pub use state::{
    AuditAction, DeliveryState, InvoiceState, KeyState, OrderKind, OrderState, PaymentException,
    PaymentPurpose, UnknownWord, WebhookState,
};

/// Keys that a wallet may have active, those included that it has ordered and not yet claimed.
pub const MOST_ACTIVE_KEYS: u64 = 5;
