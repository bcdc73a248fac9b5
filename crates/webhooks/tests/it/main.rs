//! Webhooks on both databases, with receivers on this machine that answer, hang, redirect and break.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests are tests"
)]

mod answers;
mod crash;
mod endpoints;
mod guarded;
mod isolation;
mod receiver;
mod retries;
mod rig;
mod service;
mod speed;
