//! IBFT 2.0 as Besu runs it: pure rules and a pure state machine.
//!
//! The crate owns what all nodes of a chain must agree on about headers: their encoding and hashes ([`extra_data`],
//! [`hash`]), when one may follow another ([`rules`]), who is a validator ([`votes`]) and whose turn it is
//! ([`proposer`], [`quorum`], [`timing`]); and it owns how validators come to an agreement ([`consensus`]).
//!
//! It does not own transactions, execution, storage, networking or a clock. Those belong to the driver, which feeds
//! a [`consensus::Validator`] with events and carries out its actions:
//!
//! ```text
//!            NewHead                        proposer: block timer, BuildProposal
//!               |                                        |
//!               v            Proposal accepted           v
//!        +-> round r  ------------------------------> proposed
//!        |   waiting        (CheckProposal, Prepare)     |  quorum - 1 prepares
//!        |      |                                        v
//!        |      |                                     prepared ----- Commit with seal
//!        |      |  round timer, or f + 1                 |  quorum of commits
//!        |      |  validators ask for more               v
//!        |      v                                     ImportBlock ---> NewHead, round 0 of the next height
//!        +-- RoundChange(r + 1), shows the prepared block
//!            a quorum of them lets the next proposer propose:
//!            the latest prepared block if any, else a fresh one
//! ```

pub mod config;
pub mod consensus;
pub mod extra_data;
pub mod hash;
pub mod proposer;
pub mod quorum;
pub mod rules;
pub mod seal;
pub mod timing;
pub mod votes;

pub use config::{BaseFee, IbftConfig};
