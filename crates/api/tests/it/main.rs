//! The API as its callers see it, on a real embedded chain.

mod contract;
mod edge;
mod flaky;
mod graphql;
mod lists;
mod reads;
mod rig;
mod socket;
mod validators;
