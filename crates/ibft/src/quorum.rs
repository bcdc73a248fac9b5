//! How many validators must agree.

/// Validators needed to prepare, commit or change a round: two thirds, rounded up.
pub const fn quorum(validators: usize) -> usize {
    validators.saturating_mul(2).div_ceil(3)
}

/// Faulty validators the protocol withstands.
pub const fn tolerated_faults(validators: usize) -> usize {
    validators.saturating_sub(1) / 3
}

/// Votes needed to change the validator set: more than half.
pub const fn vote_threshold(validators: usize) -> usize {
    validators / 2 + 1
}
