//! Why a message of another validator (or a proposal of our own driver) is refused.

use alloy_primitives::Address;

use crate::extra_data::ExtraDataError;
use crate::rules::RuleViolation;

/// The reason. Messages that are merely late are dropped without one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// The author is not in the validator set.
    #[error("author is not a validator")]
    NotValidator,
    /// The named author did not sign the message.
    #[error("signature is not the author's")]
    ForgedSignature,
    /// It is another validator's turn to propose.
    #[error("proposer is {expected:?}")]
    NotProposer {
        /// Whose turn it is.
        expected: Option<Address>,
    },
    /// A different proposal for the round was accepted before.
    #[error("a second proposal in round {round}")]
    SecondProposal {
        /// The round.
        round: u32,
    },
    /// The proposer prepares by proposing.
    #[error("the proposer sent a prepare")]
    PrepareFromProposer,
    /// The commit seal is not the author's signature of the digest.
    #[error("commit seal is not the author's")]
    ForgedSeal,
    /// The extra data of the block does not decode.
    #[error("extra data of the block is not valid")]
    ExtraData(#[from] ExtraDataError),
    /// The block breaks a header rule.
    #[error("block breaks the rule {}", .0.rule())]
    Rule(#[from] RuleViolation),
    /// The block is not the one whose digest was signed.
    #[error("block does not match the signed digest")]
    DigestMismatch,
    /// The round in the block's extra data is not the message's.
    #[error("block names round {found} instead of {expected}")]
    RoundMismatch {
        /// In the extra data.
        found: u32,
        /// In the message.
        expected: u32,
    },
    /// A proposal already carries seals.
    #[error("proposal carries seals")]
    SealedProposal,
    /// A fresh block was not built by its proposer.
    #[error("block was built by {coinbase} and not by its proposer")]
    ForeignBlock {
        /// Coinbase of the block.
        coinbase: Address,
    },
    /// A proposal of round 0 has a certificate, or one of a later round has none.
    #[error("round-change certificate is missing or out of place")]
    CertificatePresence,
    /// The round-change certificate has too few authors.
    #[error("{found} round changes instead of {needed}")]
    TooFewRoundChanges {
        /// Round changes in the certificate.
        found: usize,
        /// The quorum.
        needed: usize,
    },
    /// The prepared certificate has too few prepares.
    #[error("{found} prepares instead of {needed}")]
    TooFewPrepares {
        /// Prepares in the certificate.
        found: usize,
        /// The quorum without the proposer.
        needed: usize,
    },
    /// A certificate counts an author twice.
    #[error("certificate counts {author} twice")]
    RepeatedAuthor {
        /// The author.
        author: Address,
    },
    /// A part of a certificate belongs to another height, round or proposal.
    #[error("certificate of {author} does not fit its message")]
    ForeignCertificate {
        /// Author of the part.
        author: Address,
    },
    /// A certificate proves that another block must be proposed again.
    #[error("a prepared block must be proposed again")]
    PreparedBlockIgnored,
    /// A round change asks for the round that every height begins with.
    #[error("round change asks for round 0")]
    ChangeToRoundZero,
    /// A round change has a prepared certificate without its block, or a block without certificate.
    #[error("block of the prepared certificate is missing or out of place")]
    PreparedBlockPresence,
    /// The chain found the block invalid when executing it.
    #[error("block does not execute to what its header says")]
    InvalidBlock,
}
