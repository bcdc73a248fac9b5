//! The validator program on real databases, a real chain and a mail server made for the test.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

mod applications;
mod board;
mod chain_steps;
mod mail;
mod mail_server;
mod program;
mod rig;
