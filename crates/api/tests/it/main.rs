//! The API as its callers see it, on a real embedded chain.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests are tests"
)]

mod bodies;
mod contract;
mod edge;
mod faucet;
mod graphql;
mod lists;
mod portal_cancel;
mod portal_dashboard;
mod portal_invoices;
mod portal_key;
mod portal_orders;
mod portal_pay;
mod portal_people;
mod portal_purchases;
mod portal_races;
mod portal_safe;
mod portal_session;
mod portal_shop;
mod portal_webhooks;
mod reads;
mod receivers;
mod rig;
mod schema;
mod socket;
mod validators;
