//! The methods through HTTP, on a chain of its own.
