//! Genesis files, and the contracts of a built genesis as they behave under revm.

mod build;
mod chain;
mod checkout;
mod conservation;
mod fees;
mod file;
mod registry;
mod treasury;
