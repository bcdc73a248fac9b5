//! What a validator must remember over a restart, so that it never contradicts itself.

use std::sync::Arc;

use super::message::PreparedCertificate;

/// What a validator has said at the height it is working on.
///
/// The driver stores the last one it was handed ([`super::Action::Persist`]) *before* it carries out the actions
/// behind it, and gives it back to [`super::Validator::resume`]. One lock per validator is enough: a lock for a lower
/// height is worthless.
#[derive(Debug, Clone)]
pub struct Lock<B> {
    /// Number of the block being agreed on.
    pub height: u64,
    /// The last round the validator took part in.
    pub round: u32,
    /// Whether it proposed or prepared in that round. It must not do so a second time, so it resumes in the next.
    pub voted: bool,
    /// The last block it has seen prepared at this height, which it may have committed to.
    pub prepared: Option<Prepared<B>>,
}

/// A block with the proof that a quorum has prepared it.
#[derive(Debug, Clone)]
pub struct Prepared<B> {
    /// The proof.
    pub certificate: Arc<PreparedCertificate>,
    /// The block as it was proposed in the round of the proof.
    pub block: B,
}
