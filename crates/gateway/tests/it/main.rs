//! The gateway from the outside: HTTP in, HTTP out, over a real embedded chain. Nodes that misbehave are a real node with
//! something in between.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests are tests"
)]

mod batches;
mod caching;
mod edge;
mod errors;
mod front;
mod keys;
mod logs;
mod nodes;
mod offered;
mod pinning;
mod recorder;
mod relay;
mod smuggling;
mod world;
