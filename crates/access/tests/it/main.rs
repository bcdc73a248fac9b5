//! Keys and limits as the gateway meets them: real databases, real Redis.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests are tests"
)]

mod keyring;
mod keys;
mod placeholder;
mod rig;
mod shared;
