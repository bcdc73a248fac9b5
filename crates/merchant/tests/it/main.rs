//! Crediting on both databases, over an index that the tests write themselves.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests are tests"
)]

mod crediting;
mod endings;
mod interrupted;
mod killed;
mod rig;
mod scenario;
mod silent;
