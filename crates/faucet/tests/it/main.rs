//! The faucet on a real embedded chain and on both databases, with a line to the chain that can be spoiled.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests are tests"
)]

mod changes;
mod crowd;
mod funds;
mod killed;
mod limits;
mod recovery;
mod rig;
mod senders;
