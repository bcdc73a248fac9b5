//! The words every other crate uses: networks, amounts of the native coin, the devnet's well-known accounts.
//!
//! Pure: no I/O, no async, no clock.

pub mod amount;
pub mod application;
pub mod devnet;
pub mod failure;
pub mod network;

pub use amount::Wei;
pub use application::{ApplicationId, ApplicationState, Email};
pub use failure::{Failure, FailureKind, FieldFailure};
pub use network::Network;
