//! Crediting: every payment that the chain has logged, applied once.

mod progress;
mod read;
mod rules;
mod settings;
mod worker;

pub(crate) use read::{payment, read_events};

pub use progress::{CreditProgress, Credited};
pub use settings::{CreditHalt, CreditSettings, CreditStatus};
pub use worker::Crediting;
