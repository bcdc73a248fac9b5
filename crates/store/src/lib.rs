//! SQL and nothing else.
