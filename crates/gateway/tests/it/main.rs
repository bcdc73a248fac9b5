//! The gateway from the outside: HTTP and WebSocket in and out, over a real embedded chain. Nodes that misbehave are a real node with
//! something in between.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests are tests"
)]

mod batches;
mod buffers;
mod caching;
mod dev;
mod edge;
mod errors;
mod feed;
mod filters;
mod filters_shared;
mod front;
mod keys;
mod logs;
mod nodes;
mod offered;
mod peer;
mod pinning;
mod recorder;
mod relay;
mod send;
mod smuggling;
mod socket;
mod socket_access;
mod socket_crowd;
mod world;
