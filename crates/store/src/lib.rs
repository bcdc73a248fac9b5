//! SQL and nothing else: SQLite and PostgreSQL behind one set of functions.
//!
//! [`Db`] is a handle to either engine. Every statement is one text for both: `$N` parameters, the types TEXT, BIGINT,
//! SMALLINT, BOOLEAN and BYTEA, no functions of the database's own clock, ids made by the program. A change of several
//! rows is one transaction that begins with a write on the row all its rivals write too, and a change of state is a
//! compare-and-set or a unique insert: what is right on SQLite alone, where writers queue, is wrong on PostgreSQL.
//!
//! The crate does not decide anything: rules of the product are in `domain` and in the crates above.

#[macro_use]
mod engine;

mod application;
mod application_contact;
mod application_mail;
mod bulk;
mod convert;
mod db;
mod error;
mod faucet;
mod faucet_allowlist;
mod gateway_key;
pub mod index;
pub mod keeper;
mod key_usage;
mod lease;
mod migration;
pub mod portal;
mod private_file;
mod probe;
mod reward;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod transfer;

pub use application::{
    AcceptedApplication, ApplicationChange, ApplicationIntake, ApplicationRow, ApplicationStep,
};
pub use application_contact::{ApplicationQuota, MailConsent};
pub use application_mail::DueMail;
pub use db::{Db, Engine, PoolState};
pub use error::{OpenError, StoreError, failure_counts};
pub use faucet::{
    ClaimRow, ClaimTerms, FaucetLoad, NewClaim, PaymentRow, Reservation, SenderLease, Settlement, SignedClaim,
};
pub use faucet_allowlist::AllowedWallet;
pub use gateway_key::{KeyRotation, KeyRow};
pub use key_usage::{KeyUsage, KeyUsageRow};
pub use lease::Lease;
pub use reward::{RewardPayment, RewardRun, RewardTransaction};
pub use transfer::{BackupError, TransferError, Transferred};
