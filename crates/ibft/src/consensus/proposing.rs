//! Making proposals and judging those of others.

use alloy_primitives::{Address, B256};

use crate::extra_data::ExtraData;
use crate::hash::seal_hash_with;
use crate::rules::check_proposal;
use crate::seal::ValidatorKey;
use crate::timing::proposal_timestamp;

use super::certificate::check_round_changes;
use super::height::Stage;
use super::message::{
    Message, PreparedCertificate, Proposal, ProposalPayload, RoundChangeCertificate, Signed,
};
use super::rejection::Rejection;
use super::turn::Turn;
use super::{Action, ProposedBlock};

impl<K: ValidatorKey, B: ProposedBlock> Turn<'_, K, B> {
    /// The block period has passed in round 0; later rounds do not wait for it.
    pub(super) fn block_is_due(&mut self) {
        let is_waiting = matches!(self.height.round.stage, Stage::Waiting);
        if is_waiting && self.is_proposer() {
            self.ask_for_block(None);
        }
    }

    /// Has the driver build a fresh block for the current round.
    pub(super) fn ask_for_block(&mut self, certificate: Option<RoundChangeCertificate>) {
        let round = self.height.round.number;
        self.height.round.stage = Stage::Building { certificate };
        self.actions.push(Action::BuildProposal {
            height: self.height.number,
            round,
            timestamp: proposal_timestamp(round, self.now_ms, self.height.parent.timestamp, self.config),
        });
    }

    /// The driver has built the block.
    pub(super) fn block_is_built(&mut self, block: B) {
        let Stage::Building { certificate } = &self.height.round.stage else {
            return;
        };
        let certificate = certificate.clone();
        let me = self.key.address();
        let checked = self
            .check_block(&block, self.height.round.number)
            .and_then(|extra| check_builder(&block, me).map(|()| extra));
        match checked {
            Ok(extra) => {
                let digest = seal_hash_with(block.header(), &extra);
                self.propose(block, digest, certificate);
            }
            Err(reason) => self.actions.push(Action::Report { author: me, reason }),
        }
    }

    /// Proposes a block in the current round; that is this validator's prepare, too.
    pub(super) fn propose(&mut self, block: B, digest: B256, certificate: Option<RoundChangeCertificate>) {
        let payload = ProposalPayload { view: self.height.view(), digest };
        let proposal = Proposal { signed: Signed::sign(payload, self.key), block, certificate };
        self.height.round.stage = Stage::Accepted(proposal.clone());
        self.persist();
        self.broadcast(Message::Proposal(proposal));
        self.count_votes();
    }

    /// Judges a proposal of the current or a later round. A valid one of a later round takes this validator there: its
    /// certificate proves that a quorum is ahead.
    pub(super) fn receive_proposal(&mut self, proposal: Proposal<B>) -> Result<(), Rejection> {
        let round = proposal.signed.payload.view.round;
        let digest = proposal.signed.payload.digest;
        if round == self.height.round.number
            && let Some(settled) = self.height.round.stage.digest()
        {
            return if settled == digest { Ok(()) } else { Err(Rejection::SecondProposal { round }) };
        }
        self.check_proposal(&proposal)?;
        if round > self.height.round.number {
            self.enter_round(round);
        }
        self.height.round.has_quorum = true;
        let block = proposal.block.clone();
        self.height.round.stage = Stage::Checking(proposal);
        self.actions.push(Action::CheckProposal { digest, block });
        Ok(())
    }

    /// The driver has executed the block of a proposal.
    pub(super) fn block_is_checked(&mut self, digest: B256, valid: bool) {
        let Stage::Checking(proposal) = &self.height.round.stage else {
            return;
        };
        if proposal.signed.payload.digest != digest {
            return;
        }
        if valid {
            self.accept(proposal.clone());
        } else {
            let author = proposal.signed.author;
            self.height.round.stage = Stage::Refused { digest };
            self.actions.push(Action::Report { author, reason: Rejection::InvalidBlock });
        }
    }

    fn check_proposal(&self, proposal: &Proposal<B>) -> Result<(), Rejection> {
        let ProposalPayload { view, digest } = proposal.signed.payload;
        let author = proposal.signed.author;
        let expected = self.height.proposer(view.round);
        if expected != Some(author) {
            return Err(Rejection::NotProposer { expected });
        }
        let extra = self.check_block(&proposal.block, view.round)?;
        if seal_hash_with(proposal.block.header(), &extra) != digest {
            return Err(Rejection::DigestMismatch);
        }
        let prepared = match (view.round, &proposal.certificate) {
            (0, None) => None,
            (0, Some(_)) | (_, None) => return Err(Rejection::CertificatePresence),
            (_, Some(certificate)) => check_round_changes(certificate, view, self.height, self.key)?,
        };
        match prepared {
            Some(prepared) => check_repeated(&proposal.block, extra, prepared),
            None => check_builder(&proposal.block, author),
        }
    }

    /// Checks what every proposed block must fulfil, before its certificate and its execution.
    fn check_block(&self, block: &B, round: u32) -> Result<ExtraData, Rejection> {
        let header = block.header();
        let extra = ExtraData::decode(&header.extra_data)?;
        check_proposal(header, &self.height.context(self.config, self.now_ms))?;
        if extra.round != round {
            return Err(Rejection::RoundMismatch { found: extra.round, expected: round });
        }
        if !extra.seals.is_empty() {
            return Err(Rejection::SealedProposal);
        }
        Ok(extra)
    }
}

/// A fresh block is built by its proposer, so that the rotation goes on from there.
fn check_builder<B: ProposedBlock>(block: &B, proposer: Address) -> Result<(), Rejection> {
    let coinbase = block.header().beneficiary;
    if coinbase == proposer { Ok(()) } else { Err(Rejection::ForeignBlock { coinbase }) }
}

/// A prepared block is proposed again with nothing but the round changed.
fn check_repeated<B: ProposedBlock>(
    block: &B,
    extra: ExtraData,
    prepared: &PreparedCertificate,
) -> Result<(), Rejection> {
    let ProposalPayload { view, digest } = prepared.proposal.payload;
    let original = ExtraData { round: view.round, ..extra };
    if seal_hash_with(block.header(), &original) == digest {
        Ok(())
    } else {
        Err(Rejection::PreparedBlockIgnored)
    }
}
