//! JSON-RPC 2.0 without a transport: bytes in, bytes out. Nothing on the way is copied into a JSON tree: the
//! envelope is borrowed from the request, and results are written straight into the answer.

mod answer;
mod dispatch;
mod params;
mod request;

pub(crate) use answer::Answer;
pub(crate) use dispatch::{Caller, Methods, answer_message};
pub(crate) use params::{Params, Positional};
use request::Request;
