//! The embedded chain from the inside: blocks in, state out, without a server in front.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests are tests"
)]

mod access;
mod client;
mod production;
mod rig;
mod selection;
mod transfer;
