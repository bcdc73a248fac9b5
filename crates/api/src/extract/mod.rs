//! Requests read into values, or refused with the code that says which part is wrong.

pub(crate) mod body;
pub(crate) mod cursor;
pub(crate) mod members;
pub(crate) mod object;
pub(crate) mod path;
pub(crate) mod query;
