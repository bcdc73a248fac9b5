//! What answers look like: one set of records for REST and GraphQL, made from the chain's own types.

pub(crate) mod account;
pub(crate) mod account_transaction;
pub(crate) mod application;
pub(crate) mod block;
pub(crate) mod chain;
pub(crate) mod fees;
pub(crate) mod network;
pub(crate) mod program;
pub(crate) mod ranking;
pub(crate) mod search;
pub(crate) mod text;
pub(crate) mod transaction;
pub(crate) mod validator;
pub(crate) mod validator_detail;

pub(crate) use text::{AddressText, CoinText, HashText, HexText, Long, TimeText, WeiText};
