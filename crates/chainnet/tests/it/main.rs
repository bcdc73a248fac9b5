//! The integration suite: the product as its users meet it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests are tests"
)]

mod app;
mod architecture;
mod bad_input;
mod config;
mod contracts;
mod crash;
mod damage;
mod dependencies;
mod differential;
mod docs;
mod load;
mod network;
mod packaging;
mod prices;
mod rig;
mod start;
mod transfer;
mod validators;
