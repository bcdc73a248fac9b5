//! What the portal answers with.

pub(crate) mod dashboard;
pub(crate) mod invoice;
pub(crate) mod pay;
pub(crate) mod payment;
pub(crate) mod quote;
pub(crate) mod rate;
