//! Logs: what a caller looks for, and where it is looked up.

mod filter;
mod query;

pub(crate) use filter::{Blocks, Bound, LogFilter, LogQuery};
