//! The rules of the crate against published and computed vectors, and one by one.

mod codec;
mod fixture;
mod protocol;
mod rotation;
mod rules;
mod vectors;
mod votes;
