//! Reading the chain through nodes that misbehave: what they answer is scripted, the way there is real HTTP and WebSocket.
//!
//! That the clients agree with a real chain is tested where the embedded chain is at hand, in `devchain`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests are tests"
)]

mod answers;
mod bundles;
mod cached;
mod failover;
mod fake;
mod feed;
mod ledger;
mod pools;
mod raw;
mod send;
mod wire;
