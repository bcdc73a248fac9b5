//! The faucet as its callers see it: HTTP in, HTTP out, on a real chain and on both databases.

mod claims;
mod contract;
mod edge;
mod refusals;
mod rig;
