//! The pages as their visitors get them, on a real embedded chain.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests are tests"
)]

mod application_pages;
mod chain_pages;
mod faucet_page;
mod member;
mod pay_pages;
mod portal_pages;
mod refusals;
mod rig;
mod shop;
mod validator_pages;
