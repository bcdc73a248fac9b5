//! Blocks, transactions and receipts: the ones of the access layer, so that nothing is converted on the way out.

pub use ::chain::block::{Block, Receipt, Transaction};
