//! HTTP/1.1 as bytes, read as they arrive: `request` for servers, `response` for clients, `framing` for where bodies end.
//!
//! By hand above `httparse`, for the two ends of the hottest path: hyper hands requests and answers from one task to another and
//! collects headers in maps, for streams of bodies that JSON-RPC does not have. Nothing here waits, and nothing is lenient: what can be
//! read in two ways is refused, because somebody before or behind us may read it the other way.

mod framing;
mod headers;
mod request;
mod response;

pub use framing::{BadFraming, Chunks};
pub use headers::Headers;
pub use request::{BadRequest, Body, Request, Room};
pub use response::{BadResponse, Framing, Head, take_head};
