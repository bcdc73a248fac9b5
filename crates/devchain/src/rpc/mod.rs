//! JSON-RPC over HTTP and WebSocket, as Besu answers it.
//!
//! `server` is the transport, `jsonrpc` the protocol, `methods` the table of methods, `wire` what records look
//! like outside, `subscriptions` what is pushed. Besu's behaviour is followed to its error codes; where a
//! development chain should be more lenient, the method says so.

pub mod config;
pub mod error;
mod jsonrpc;
mod server;
mod subscriptions;
mod wire;
