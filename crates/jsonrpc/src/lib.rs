//! The JSON-RPC envelope: foreign requests in, our requests and answers out.
//!
//! A message from a stranger is read once, borrowed, into [`Request`]s: which id, which method, which bytes are the
//! parameters. Nothing of its envelope is ever sent on. What goes to a node is written by [`write_request`] from a method
//! name of ours and the parameters' bytes; what comes back is cut out of the node's answer by [`read_answer`] and given
//! the stranger's id by [`write_result`]. No method, transport or chain is known here.

mod answer;
mod depth;
mod error;
mod message;
mod params;
mod request;
mod write;

#[cfg(test)]
mod properties;

pub use answer::{Answer, AnswerError, read_answer, read_answers};
pub use error::ErrorObject;
pub use message::{Message, Unreadable, read_message};
pub use params::{Elements, Params};
pub use request::{BadRequest, Fault, Request};
pub use write::{write_batch, write_end, write_error, write_error_start, write_request, write_result};

/// Deepest nesting of parameters. The deepest that any Ethereum method takes is below ten.
pub const MAX_DEPTH: usize = 32;
/// Longest id that is echoed, quotes included.
pub const MAX_ID_BYTES: usize = 256;
/// Longest method name that is looked at; the longest of any node is below fifty.
pub const MAX_METHOD_BYTES: usize = 64;
