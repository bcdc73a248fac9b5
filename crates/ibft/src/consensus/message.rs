//! What validators say to each other. Every payload is signed by its author over a digest that covers all of it, so
//! that a certificate can be passed on by others without anything being added to or taken from it.

use std::sync::Arc;

use alloy_primitives::{Address, B256, keccak256};

use crate::seal::{Seal, SealScheme, ValidatorKey};

/// A round of a height: the number of the block being agreed on, and the attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct View {
    /// Number of the block.
    pub height: u64,
    /// The attempt, from 0.
    pub round: u32,
}

/// Something that is signed before it is sent.
pub trait Payload {
    /// The round it belongs to; for a round change the round asked for.
    fn view(&self) -> View;
    /// The digest that is signed.
    fn signing_hash(&self) -> B256;
}

/// A payload with the signature of its author. The author is a claim until [`Signed::is_authentic`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed<P> {
    /// What is said.
    pub payload: P,
    /// Who says it.
    pub author: Address,
    /// The author's signature over the payload's [`Payload::signing_hash`].
    pub signature: Seal,
}

impl<P: Payload> Signed<P> {
    /// Signs a payload.
    pub fn sign(payload: P, key: &impl ValidatorKey) -> Self {
        let signature = key.sign(payload.signing_hash());
        Self { payload, author: key.address(), signature }
    }

    /// Whether the named author has signed this payload.
    pub fn is_authentic(&self, scheme: &impl SealScheme) -> bool {
        scheme.recover(self.payload.signing_hash(), &self.signature) == Some(self.author)
    }
}

/// "I propose the block with this digest."
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposalPayload {
    /// The round.
    pub view: View,
    /// [`crate::hash::seal_hash`] of the block.
    pub digest: B256,
}

/// "I have checked the proposal and would commit to it."
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparePayload {
    /// The round.
    pub view: View,
    /// Digest of the proposal.
    pub digest: B256,
}

/// "A quorum would commit to the proposal, here is my seal."
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitPayload {
    /// The round.
    pub view: View,
    /// Digest of the proposal.
    pub digest: B256,
    /// The seal for the header: the author's signature of the digest.
    pub seal: Seal,
}

/// "Let us try again in this round."
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundChangePayload {
    /// The round asked for.
    pub view: View,
    /// Proof of the last proposal the author has prepared at this height, if any.
    pub prepared: Option<Arc<PreparedCertificate>>,
}

/// Proof that a quorum has prepared a proposal: the proposal and quorum - 1 prepares for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedCertificate {
    /// The proposal.
    pub proposal: Signed<ProposalPayload>,
    /// The prepares, of distinct validators other than the proposer.
    pub prepares: Vec<Signed<PreparePayload>>,
}

/// Proof that a quorum wants a round: their round changes.
pub type RoundChangeCertificate = Arc<[Signed<RoundChangePayload>]>;

/// A proposal with the block itself and, after round 0, the proof that the round is wanted.
#[derive(Debug, Clone)]
pub struct Proposal<B> {
    /// The signed part.
    pub signed: Signed<ProposalPayload>,
    /// The block, without seals.
    pub block: B,
    /// Absent in round 0 only.
    pub certificate: Option<RoundChangeCertificate>,
}

/// A round change with the block that its prepared certificate is about.
#[derive(Debug, Clone)]
pub struct RoundChange<B> {
    /// The signed part.
    pub signed: Signed<RoundChangePayload>,
    /// Present exactly when the payload has a prepared certificate.
    pub block: Option<B>,
}

/// Any message between validators.
#[derive(Debug, Clone)]
pub enum Message<B> {
    /// From the proposer of a round.
    Proposal(Proposal<B>),
    /// From every other validator that accepts the proposal.
    Prepare(Signed<PreparePayload>),
    /// From every validator that has seen the proposal prepared.
    Commit(Signed<CommitPayload>),
    /// From every validator whose round has timed out.
    RoundChange(RoundChange<B>),
}

/// The kind of a message. Numbers are those of Besu's sub-protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum MessageKind {
    /// [`Message::Proposal`]
    Proposal = 0,
    /// [`Message::Prepare`]
    Prepare = 1,
    /// [`Message::Commit`]
    Commit = 2,
    /// [`Message::RoundChange`]
    RoundChange = 3,
}

impl<B> Message<B> {
    /// The kind.
    pub const fn kind(&self) -> MessageKind {
        match self {
            Self::Proposal(_) => MessageKind::Proposal,
            Self::Prepare(_) => MessageKind::Prepare,
            Self::Commit(_) => MessageKind::Commit,
            Self::RoundChange(_) => MessageKind::RoundChange,
        }
    }

    /// The round it belongs to.
    pub fn view(&self) -> View {
        match self {
            Self::Proposal(proposal) => proposal.signed.payload.view,
            Self::Prepare(prepare) => prepare.payload.view,
            Self::Commit(commit) => commit.payload.view,
            Self::RoundChange(change) => change.signed.payload.view,
        }
    }

    /// The author it names.
    pub fn author(&self) -> Address {
        match self {
            Self::Proposal(proposal) => proposal.signed.author,
            Self::Prepare(prepare) => prepare.author,
            Self::Commit(commit) => commit.author,
            Self::RoundChange(change) => change.signed.author,
        }
    }

    /// Whether the named author has signed it.
    pub fn is_authentic(&self, scheme: &impl SealScheme) -> bool {
        match self {
            Self::Proposal(proposal) => proposal.signed.is_authentic(scheme),
            Self::Prepare(prepare) => prepare.is_authentic(scheme),
            Self::Commit(commit) => commit.is_authentic(scheme),
            Self::RoundChange(change) => change.signed.is_authentic(scheme),
        }
    }
}

/// The bytes under a signature: kind, view, then parts of fixed width, so that no two payloads share them.
struct Digestible(Vec<u8>);

impl Digestible {
    fn new(kind: MessageKind, view: View) -> Self {
        let mut bytes = Vec::with_capacity(128);
        bytes.push(kind as u8);
        bytes.extend_from_slice(&view.height.to_be_bytes());
        bytes.extend_from_slice(&view.round.to_be_bytes());
        Self(bytes)
    }

    fn with(mut self, part: &[u8]) -> Self {
        self.0.extend_from_slice(part);
        self
    }

    fn with_signed<P: Payload>(self, signed: &Signed<P>) -> Self {
        self.with(signed.payload.signing_hash().as_slice()).with(&signed.signature.to_bytes())
    }

    fn hash(self) -> B256 {
        keccak256(self.0)
    }
}

impl Payload for ProposalPayload {
    fn view(&self) -> View {
        self.view
    }

    fn signing_hash(&self) -> B256 {
        Digestible::new(MessageKind::Proposal, self.view).with(self.digest.as_slice()).hash()
    }
}

impl Payload for PreparePayload {
    fn view(&self) -> View {
        self.view
    }

    fn signing_hash(&self) -> B256 {
        Digestible::new(MessageKind::Prepare, self.view).with(self.digest.as_slice()).hash()
    }
}

impl Payload for CommitPayload {
    fn view(&self) -> View {
        self.view
    }

    fn signing_hash(&self) -> B256 {
        let bytes = Digestible::new(MessageKind::Commit, self.view).with(self.digest.as_slice());
        bytes.with(&self.seal.to_bytes()).hash()
    }
}

impl Payload for RoundChangePayload {
    fn view(&self) -> View {
        self.view
    }

    fn signing_hash(&self) -> B256 {
        let bytes = Digestible::new(MessageKind::RoundChange, self.view);
        match &self.prepared {
            None => bytes.hash(),
            Some(prepared) => {
                let bytes = bytes.with_signed(&prepared.proposal);
                prepared.prepares.iter().fold(bytes, Digestible::with_signed).hash()
            }
        }
    }
}
