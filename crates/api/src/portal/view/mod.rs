//! What the portal answers with.

pub(crate) mod dashboard;
pub(crate) mod delivery;
pub(crate) mod invoice;
pub(crate) mod key;
pub(crate) mod order;
pub(crate) mod pay;
pub(crate) mod payment;
pub(crate) mod quote;
pub(crate) mod rate;
pub(crate) mod summary;
mod transaction;
pub(crate) mod webhook;
