//! The developer and merchant portal: wallets and everything that belongs to them.

mod convert;
mod event;

pub use event::EventRow;
