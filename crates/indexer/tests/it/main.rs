//! The indexer behind a real chain, on both engines.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests are tests"
)]

mod halt;
mod resume;
mod rig;
mod rows;
mod stage;
mod writers;
