//! The pages as their visitors get them, on a real embedded chain.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests are tests"
)]

mod chain_pages;
mod flaky;
mod refusals;
mod rig;
mod shop;
