//! The predeployed contracts on a running node, used only through its JSON-RPC.
//!
//! Every test has a node of its own that seals when it is asked to, so that tests decide what shares a block and
//! what time it is.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "all of this is test code, the functions without `#[test]` too"
)]

mod chain;
mod checkout;
mod clock;
mod conservation;
mod fees;
mod hostile;
mod outcome;
mod person;
mod registry;
mod treasury;
mod well_known;
