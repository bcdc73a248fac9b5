//! The keeper on a real embedded chain with its index, on both databases.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests are tests"
)]

mod balances;
mod double_sign;
mod downtime;
mod gaps;
mod jail;
mod killed;
mod rig;
mod votes;
