//! The words every other crate uses: networks, amounts of the native coin, the devnet's well-known accounts.
//!
//! Pure: no I/O, no async, no clock.

pub mod access;
pub mod address;
pub mod amount;
pub mod application;
pub mod claim;
pub mod deployment;
pub mod devnet;
pub mod failure;
pub mod gas;
pub mod network;
pub mod portal;
pub mod web_url;

pub use access::{KeyId, Permission, Permissions, Team};
pub use address::parse_address;
pub use amount::Wei;
pub use application::{ApplicationId, ApplicationState, Email};
pub use claim::ClaimState;
pub use deployment::Deployment;
pub use failure::{Failure, FailureKind, FieldFailure};
pub use network::Network;
pub use web_url::WebUrl;
