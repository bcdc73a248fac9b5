//! The validator program.
