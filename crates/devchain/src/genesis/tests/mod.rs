//! Genesis files, and that a built genesis holds working contracts. How the contracts behave is tested through a
//! node, in the integration suite of `chainnet`.

mod build;
mod chain;
mod file;
