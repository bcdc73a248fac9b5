//! The chainnet binary.
fn main() {}
