//! What answers look like: one set of records for REST and GraphQL, made from the chain's own types.

pub(crate) mod account;
pub(crate) mod block;
pub(crate) mod chain;
pub(crate) mod network;
pub(crate) mod text;
pub(crate) mod transaction;

pub(crate) use text::{AddressText, CoinText, HashText, HexText, Long, TimeText, WeiText};
