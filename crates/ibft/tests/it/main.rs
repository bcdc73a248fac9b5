//! The rules of the crate against published and computed vectors, and one by one.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests are tests"
)]

mod codec;
mod fixture;
mod protocol;
mod rotation;
mod rules;
mod vectors;
mod votes;
